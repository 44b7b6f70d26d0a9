"""Files of other tools are told by their content, and what is none of them says what it is."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from agentscope_tui.errors import UserError
from agentscope_tui.store.imports import open_trajectories
from fakes import foreign_files as foreign
from fakes import foreign_samples as samples

ASKED, ANSWERED = "What is here?", "One file."


@pytest.mark.parametrize("name", samples.FILES)
def test_each_format_is_known_by_its_content_and_shows_the_same_conversation(
    tmp_path: Path, name: str
) -> None:
    path = foreign.write(tmp_path / "some.thing", samples.FILES[name]())
    trajectories = open_trajectories(path)
    assert trajectories.format == name
    assert len(trajectories) == 1
    assert trajectories.summary(0).prompt == ASKED
    opened = foreign.shown(trajectories)
    transcript = opened.shown()
    assert ("user", ASKED) in transcript
    assert any(kind == "tool" and "a.txt" in text for kind, text in transcript)
    assert opened.state.outcome == "completed"
    assert opened.problems() == []
    assert opened.state.turn == 1


@pytest.mark.parametrize("name", sorted(set(samples.FILES) - {"mini-swe-agent-1.1"}))
def test_each_format_tells_two_calls_and_the_requests_they_were(tmp_path: Path, name: str) -> None:
    opened = foreign.open_file(tmp_path / "file", samples.FILES[name]())
    texts = [entry.text for entry in opened.state.entries if entry.kind == "assistant"]
    assert [text.partition("\n")[0] for text in texts] == ["Looking.", ANSWERED]
    first, second = (opened.state.request_messages(call) for call in (1, 2))
    assert second[: len(first)] == first
    roles = [message["role"] for message in second[len(first) :]]
    assert roles in (["assistant", "tool"], ["assistant", "user"])
    assert "a.txt" in str(second[-1]["content"])


@pytest.mark.parametrize("method", [0, 8, 93])
def test_the_parts_of_an_eval_file_may_be_packed_in_three_ways(tmp_path: Path, method: int) -> None:
    path = foreign.write(tmp_path / "log", foreign.archive(samples.inspect_parts(), method))
    trajectories = open_trajectories(path)
    assert trajectories.format == "Inspect log 2"
    assert foreign.shown(trajectories).state.reward == 1.0


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "it is empty"),
        (b"  \n", "it is empty"),
        (b"hello there\nyou", "text that begins with 'hello there'"),
        (b"\x7fELF\0\0", "binary data"),
        (b"{}", "an empty JSON object"),
        (b'{"some": 1, "thing": 2}', "a JSON object with 'some', 'thing'"),
        (b"[]", "an empty JSON array"),
        (b"[1, 2]", "a JSON array that begins with the JSON value '1'"),
        (b'{"a": 1}\n{"a": 2}\n', "JSON lines, and in the first is a JSON object with 'a'"),
        (b'{"a": \n', "no valid JSON: Expecting value at line 2, column 1"),
        (b'{"messages": []}', "a JSON object with 'messages'"),
    ],
)
def test_what_is_no_trajectory_says_what_it_is_and_which_are_known(
    tmp_path: Path, data: bytes, told: str
) -> None:
    path = foreign.write(tmp_path / "x.traj", data)
    with pytest.raises(UserError) as raised:
        open_trajectories(path)
    assert told in str(raised.value)
    assert "SWE-agent" in str(raised.value)


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (foreign.archive({"a.txt": 1}), "no log of Inspect"),
        (foreign.archive(samples.inspect_parts())[:-30], "damaged archive"),
        (foreign.archive({"header.json": samples.INSPECT_HEADER}), "without samples"),
        (samples.INSPECT_HEADER, "without samples"),
    ],
)
def test_a_log_that_cannot_be_opened_says_why(tmp_path: Path, data: Any, told: str) -> None:
    path = foreign.write(tmp_path / "x.eval", data)
    with pytest.raises(UserError, match=told):
        open_trajectories(path)


def test_a_missing_file_and_a_folder_are_said(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"cannot read .*No such file"):
        open_trajectories(tmp_path / "none")
    with pytest.raises(UserError, match="Is a directory"):
        open_trajectories(tmp_path)


def test_one_of_many_rows_is_read_alone_and_a_broken_one_spoils_no_other(tmp_path: Path) -> None:
    rows = [foreign.lines({**samples.rollout(), "example_id": number}) for number in range(300)]
    rows[150] = '{"example_id": 150, "prompt": [\n'
    path = foreign.write(tmp_path / "results", "\n".join(rows))
    trajectories = open_trajectories(path)
    assert len(trajectories) == 300
    assert trajectories.summary(299).reward == 0.5
    started = foreign.shown(trajectories, 299).events[0]
    assert started.kind == "session_started"
    assert started.row == 299
    assert trajectories.summary(150).problem.startswith("line 301: no valid JSON")
    broken = foreign.shown(trajectories, 150)
    assert broken.problems() == [broken.state.entries[-1].text]
    assert broken.state.status == "failed"


def test_a_file_whose_first_line_is_broken_opens(tmp_path: Path) -> None:
    path = foreign.write(tmp_path / "chat", foreign.lines('{"messages": [', samples.chat(), samples.chat()))
    trajectories = open_trajectories(path)
    assert len(trajectories) == 3
    assert "line 1" in trajectories.summary(0).problem
    assert foreign.shown(trajectories, 1).state.call == 2


@pytest.mark.parametrize("name", samples.FILES)
def test_a_file_may_begin_with_a_byte_order_mark_and_end_its_lines_as_windows_does(
    tmp_path: Path, name: str
) -> None:
    data = samples.FILES[name]()
    text = foreign.write(tmp_path / "file", data).read_bytes().replace(b"\n", b"\r\n")
    opened = foreign.open_file(tmp_path / "file", b"\xef\xbb\xbf" + text)
    assert ("user", ASKED) in opened.shown()


def test_a_session_has_the_same_id_whenever_it_is_opened(tmp_path: Path) -> None:
    path = foreign.write(tmp_path / "a", foreign.lines(samples.chat(), samples.chat()))
    other = foreign.write(tmp_path / "b", samples.chat())
    first, again = open_trajectories(path), open_trajectories(path)
    assert first.session(1).session_id == again.session(1).session_id
    assert first.session(1).meta["imported"] == {
        "format": "OpenAI chat",
        "path": str(path),
        "number": 2,
        "of": 2,
    }
    ids = {first.session_id(0), first.session_id(1), open_trajectories(other).session_id(0)}
    assert len(ids) == 3


def test_a_file_without_times_has_a_second_for_each_step_from_its_own_time_on(tmp_path: Path) -> None:
    path = foreign.write(tmp_path / "chat", samples.chat())
    os.utime(path, (1_750_000_000, 1_750_000_000))
    opened = foreign.shown(open_trajectories(path))
    spread = opened.events[-1].at.timestamp() - 1_750_000_000
    assert opened.events[0].at.timestamp() == 1_750_000_000
    assert spread == 4
    assert {event.duration for event in opened.events if event.kind == "assistant_message"} == {0.0}


def test_what_looks_like_a_key_is_masked(tmp_path: Path) -> None:
    chat = samples.chat()
    chat["messages"][1]["content"] = "my key is sk-proj-" + "a1B2" * 12
    opened = foreign.open_file(tmp_path / "chat", chat)
    assert "a1B2" not in str(opened.events)
    assert "my key is sk-" in str(opened.shown())
