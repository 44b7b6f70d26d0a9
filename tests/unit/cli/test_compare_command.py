"""`agentscope compare`: what it prints, as text and as JSON, and its exit codes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from agentscope_tui.cli import main
from agentscope_tui.events import SessionEnded
from agentscope_tui.store.past import PastSession
from fakes.small_sessions import Did, past_session, recording_of

LOOK = Did("I look", "bash", '{"command": "ls"}', "notes.txt")
DONE = Did("The sum is 4.")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The state folder, and a config folder without settings."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("AGENTSCOPE_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def record(home: Path, past: PastSession) -> None:
    folder = home / "sessions" / past.session_id
    folder.mkdir(parents=True)
    last = past.events[-1]
    stamp = {"seq": last.seq + 1, "at": last.at, "session_id": last.session_id}
    end = SessionEnded(status="ended", reason="quit").model_copy(update=stamp)
    whole = replace(past, events=[*past.events, end])
    (folder / "events.jsonl").write_text(recording_of(whole))


@pytest.fixture
def two(home: Path) -> None:
    """A session and a fork of it."""
    record(home, past_session(LOOK, DONE, session_id="2026-one", reward=1.0))
    wrong = replace(DONE, text="The sum is 5.")
    record(
        home, past_session(LOOK, wrong, session_id="2026-two", reward=0.0, parent="2026-one", parent_call=2)
    )


@pytest.mark.usefixtures("two")
def test_two_sessions_that_differ(capsys: pytest.CaptureFixture[str]):
    assert main(["compare", "2026-o", "2026-two"]) == 1
    lines = capsys.readouterr().out.split("\n")
    assert lines[1].split()[:4] == ["-", "2026-one", "1", "done"]
    assert lines[2].split()[:4] == ["+", "2026-two", "0", "done"]
    assert lines[3].split()[0] == "-1"
    assert lines[4:] == [
        "  the right one goes on from call #2",
        "  first difference: call #2 · 1 of 2 calls differ",
        "= before the first call",
        "= call #1 · bash done",
        "",
        "≠ call #2 · The sum is 4. | The sum is 5.",
        "    assistant",
        "  -   The sum is 4.",
        "  +   The sum is 5.",
        "    reward · exact",
        "  -   1",
        "  +   0",
        "",
    ]


@pytest.mark.usefixtures("two")
def test_all_lines_are_printed_on_demand(capsys: pytest.CaptureFixture[str]):
    assert main(["compare", "2026-one", "2026-two", "--all"]) == 1
    assert "      notes.txt" in capsys.readouterr().out


@pytest.mark.usefixtures("two")
def test_a_session_does_not_differ_from_itself(capsys: pytest.CaptureFixture[str]):
    assert main(["compare", "2026-two", "2026-two"]) == 0
    assert "no difference" in capsys.readouterr().out


@pytest.mark.usefixtures("two")
def test_as_json(capsys: pytest.CaptureFixture[str]):
    assert main(["compare", "2026-one", "2026-two", "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["first_difference"] == {"left": 2, "right": 2}
    assert (told["left"]["reward"], told["right"]["reward"], told["difference"]["reward"]) == (1.0, 0.0, -1.0)
    assert [call["difference"] for call in told["calls"]] == ["same", "same", "changed"]
    part = told["calls"][2]["parts"][0]
    assert (part["left"]["text"], part["right"]["text"]) == ("The sum is 4.", "The sum is 5.")


@pytest.mark.usefixtures("two")
@pytest.mark.parametrize("names", [["2026-one", "nobody"], ["2026", "2026-one"], ["2026-one"]])
def test_a_session_that_is_not_there_is_wrong_usage(names: list[str], capsys: pytest.CaptureFixture[str]):
    assert main(["compare", *names]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("agentscope")


def test_what_a_terminal_would_obey_is_printed_as_text(home: Path, capsys: pytest.CaptureFixture[str]):
    hostile = "\x1b]0;x\x07\u202e\tend"
    record(home, past_session(DONE, session_id="one", model=hostile))
    record(home, past_session(Did(hostile, hostile, hostile, hostile), session_id="two", change=hostile))
    assert main(["compare", "one", "two", "--all"]) == 1
    out = capsys.readouterr().out
    assert "␛]0;x␇⟨U+202E⟩" in out
    assert all(character.isprintable() or character == "\n" for character in out)


def test_a_file_of_another_tool_is_compared(home: Path, capsys: pytest.CaptureFixture[str]):
    chat = {"messages": [{"role": "user", "content": "do the task"}, {"role": "assistant", "content": "4"}]}
    (home / "chat.jsonl").write_text(json.dumps(chat) + "\n")
    (home / "two.jsonl").write_text(f"{json.dumps(chat)}\n" * 2)
    record(home, past_session(Did("5"), session_id="one"))
    assert main(["compare", "chat.jsonl", "one"]) == 1
    out = capsys.readouterr().out
    assert "  -   4\n  +   5\n" in out
    assert main(["compare", "two.jsonl", "one"]) == 2
    assert "has 2 sessions in it" in capsys.readouterr().err
