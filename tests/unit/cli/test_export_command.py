"""`agentscope export`: what it finds, where it writes, and what it says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import agentscope_tui.events as ev
from agentscope_tui.cli import main
from agentscope_tui.event_lines import event_from_json
from fakes.past_sessions import past
from fakes.recordings import recording
from hostile import raw_characters

SESSION = [
    ev.SessionStarted(version="1", model="fake"),
    ev.UserMessageSent(msg_id="m", text="go", turn=1),
    ev.StateChanged(status="running", turn=1),
    ev.LlmRequestSent(call=1, turn=1, req_id="r", messages=[{"role": "user", "content": "go"}]),
    ev.AssistantMessage(call=1, text="done"),
    ev.Graded(grader="exact", turn=1, reward=1.0),
    ev.SessionEnded(status="ended"),
]
OLD, NEW = "20260101-120000-row0-aaaa", "20260101-120000-row1-bbbb"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("AGENTSCOPE_HOME", str(tmp_path / "state"))
    for name in (OLD, NEW):
        recording(tmp_path / "state" / "sessions" / name, past(*SESSION, session_id=name))
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def test_into_a_pipe_goes_the_text_itself(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", "last", "--openai"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["messages"][-1] == {"role": "assistant", "content": "done"}
    assert err == ""
    assert list(project.iterdir()) == []


def test_on_a_terminal_a_file_is_written_and_named(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert main(["export", "last", "--format", "atif"]) == 0
    assert [path.name for path in project.iterdir()] == [f"{NEW}.atif.json"]
    assert capsys.readouterr().err == f"agentscope: wrote {NEW}.atif.json\n"


def test_several_sessions_are_lines_of_one_file_or_files_of_a_folder(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", OLD, NEW, "--openai", "-o", "all.jsonl"]) == 0
    assert len((project / "all.jsonl").read_text().splitlines()) == 2
    assert main(["export", OLD, NEW, "--markdown", "-o", "pages"]) == 0
    assert sorted(path.name for path in (project / "pages").iterdir()) == [f"{OLD}.md", f"{NEW}.md"]
    assert "wrote all.jsonl (2 of 2 sessions)" in capsys.readouterr().err


def test_a_folder_is_all_sessions_in_it_but_not_what_agents_made(project: Path) -> None:
    sessions = project.parent / "state" / "sessions"
    (sessions / OLD / "files" / "deep").mkdir()
    (sessions / OLD / "files" / "deep" / "events.jsonl").write_text("not ours\n")
    for folder in (sessions, sessions.parent):
        assert main(["export", str(folder), "--openai", "-o", "all.jsonl"]) == 0
        assert len((project / "all.jsonl").read_text().splitlines()) == 2


@pytest.mark.parametrize("format", ["atif", "html"])
def test_what_was_exported_is_exported_again(project: Path, format: str) -> None:
    assert main(["export", OLD, "--format", format, "-o", "first/"]) == 0
    (first,) = (project / "first").iterdir()
    assert main(["export", str(first), "--format", format, "-o", "second/"]) == 0
    (second,) = (project / "second").iterdir()
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize(
    ("name", "begins"),
    [
        ("run.html", "<!doctype html>"),
        ("a.md", "# "),
        ("b.jsonl", '{"messages"'),
        ("c.cast", '{"version": 2'),
    ],
)
def test_the_name_of_the_file_may_say_the_format(project: Path, name: str, begins: str) -> None:
    assert main(["export", "last", "-o", name]) == 0
    assert (project / name).read_text().startswith(begins)


def test_what_is_left_out_is_said_and_no_empty_file_is_left(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "train.jsonl").write_text("precious\n")
    assert main(["export", "last", "--openai", "--min-reward", "2", "-o", "train.jsonl"]) == 1
    err = capsys.readouterr().err
    assert "has reward 1: left out" in err
    assert "nothing to export: train.jsonl was not written" in err
    assert [path.name for path in project.iterdir()] == ["train.jsonl"]
    assert (project / "train.jsonl").read_text() == "precious\n"


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["last"], 2, "which format? name one (--atif, --openai"),
        (["last", "-o", "run.txt"], 2, "which format? name one (--atif, --openai"),
        ([OLD, NEW, "--html", "-o", "-"], 2, "2 sessions as html are 2 files: name a folder with -o"),
        (["nobody", "--html"], 1, "there is no session 'nobody'"),
        (["last", "--asciicast", "--width", "3"], 2, "a terminal has 20 to 1000 columns"),
        (["last", "--asciicast", "--idle", "0"], 2, "a pause takes more than 0 seconds"),
        (["last", "--html", "-o", "no/such/folder/x.html"], 1, "cannot write no/such/folder/x.html"),
        ([".", "--html"], 1, "there is no session in ."),
    ],
)
def test_what_cannot_be_done_is_said(
    project: Path, capsys: pytest.CaptureFixture[str], words: list[str], code: int, said: str
) -> None:
    assert main(["export", *words]) == code
    assert said in capsys.readouterr().err


def test_help_names_every_format(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", "--help"]) == 0
    out = capsys.readouterr().out
    for format in ("--atif", "--openai", "--markdown", "--html", "--asciicast"):
        assert format in out


def test_the_recording_is_only_read(project: Path) -> None:
    events = project.parent / "state" / "sessions" / NEW / "events.jsonl"
    before = events.read_bytes()
    assert main(["export", "last", "--html", "-o", "x.html"]) == 0
    assert events.read_bytes() == before
    assert event_from_json(before.splitlines()[0]).kind == "session_started"


@pytest.mark.parametrize("format", ["atif", "openai", "markdown", "html"])
def test_a_terminal_is_shown_nothing_that_it_would_obey(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, format: str
) -> None:
    said = ev.AssistantMessage(call=1, text="\x9b31m\u202e\x1b[2J")
    hostile = [said if event.kind == said.kind else event for event in SESSION]
    recording(project / "hostile", past(*hostile))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert main(["export", "hostile", "--format", format, "-o", "-"]) == 0
    out = capsys.readouterr().out
    assert raw_characters(out.replace("\n", "").replace("\t", "")) == []
    assert "31m" in out


def test_into_a_pipe_goes_utf_8_whatever_the_locale(project: Path) -> None:
    said = ev.AssistantMessage(call=1, text="日本語")
    recording(project / "wide", past(*[said if event.kind == said.kind else event for event in SESSION]))
    command = [sys.executable, "-m", "agentscope_tui", "export", "wide", "--openai"]
    environ = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    ran = subprocess.run(command, env=environ, capture_output=True, timeout=60)
    assert "日本語" in ran.stdout.decode(), ran.stderr


def test_a_reader_that_leaves_ends_it_quietly(project: Path) -> None:
    long = ev.AssistantMessage(call=1, text="x" * 1_000_000)
    recording(project / "long", past(*[long if event.kind == long.kind else event for event in SESSION]))
    command = [sys.executable, "-m", "agentscope_tui", "export", "long", "--markdown"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.read(10)
    process.stdout.close()
    with process:
        assert process.stderr is not None
        assert process.stderr.read() == b""


@pytest.mark.parametrize("format", ["atif", "openai", "markdown", "html", "asciicast"])
def test_a_key_that_is_known_now_is_masked(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, format: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "canary-of-a-variable-333")
    said = ev.AssistantMessage(call=1, text="it is canary-of-a-variable-333")
    recording(project / "told", past(*[said if event.kind == said.kind else event for event in SESSION]))
    assert main(["export", "told", "--format", format]) == 0
    assert "it is ***" in capsys.readouterr().out
