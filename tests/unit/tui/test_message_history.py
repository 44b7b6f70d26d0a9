"""The messages sent before: kept over runs, private, and never in the way when they cannot be kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentscope_tui.tui.message_history import KEPT, MessageHistory


def test_messages_are_remembered_in_a_private_file(tmp_path: Path):
    file = tmp_path / "messages.jsonl"
    history = MessageHistory(file)
    for text in ("one", "two\nlines", "two\nlines", "ü\u2028\ud800"):
        history.add(text)
    assert MessageHistory(file).messages == ["one", "two\nlines", "ü\u2028\ud800"]
    assert file.stat().st_mode & 0o077 == 0


def test_only_the_newest_are_read(tmp_path: Path):
    file = tmp_path / "messages.jsonl"
    file.write_text("".join(f'"m{number}"\n' for number in range(KEPT + 5)))
    messages = MessageHistory(file).messages
    assert (len(messages), messages[0], messages[-1]) == (KEPT, "m5", f"m{KEPT + 4}")


@pytest.mark.parametrize("content", [b"{", b"\xff\xfe", b'"good"\n3\n[]\n'])
def test_a_damaged_file_is_no_obstacle(tmp_path: Path, content: bytes):
    file = tmp_path / "messages.jsonl"
    file.write_bytes(content)
    history = MessageHistory(file)
    history.add("new")
    assert history.messages[-1] == "new"


def test_without_a_file_this_runs_messages_are_known(tmp_path: Path):
    history = MessageHistory(tmp_path / "missing" / "messages.jsonl")
    history.add("one")
    assert history.messages == ["one"]
