"""`agentscope grade`: recordings graded again, with real sessions and graders; what it prints and writes."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from agentscope_tui.batch.results import read_results
from agentscope_tui.batch.run_folder import read_run
from agentscope_tui.cli import main
from agentscope_tui.store.lock import FolderLock
from fakes.graded_rows import GradedRows

MADE = {"name": "bash", "arguments": {"command": "echo hi > made.txt"}}
ANSWER = {"name": "submit", "arguments": {"answer": "4"}}
GRADERS = """
import pathlib
def looks(answer, row, transcript, workdir):
    folder = pathlib.Path(workdir)
    text = (folder / "made.txt").read_text().strip()
    (folder / "made.txt").write_text("changed by the grader")
    seen = "[user]\\n2 + 2?" in transcript and "→ submit" in transcript
    return {"reward": 0.5, "reason": f"{answer} {text} {row['ground_truth']} {seen}", "metrics": {"n": 1}}
"""


@pytest.fixture
def rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GradedRows:
    rows = GradedRows(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("AGENTSCOPE_HOME", str(rows.state))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(GRADERS)
    rows.rows = [
        {"user_prompt": "2 + 2?", "ground_truth": "4"},
        {"user_prompt": "2 + 2?", "ground_truth": "5"},
    ]
    rows.agent = [{"text": "I write.", "tool_calls": [MADE]}, {"text": "4", "tool_calls": [ANSWER]}]
    return rows


def run(rows: GradedRows, *words: str) -> Path:
    """A run of the rows, in the folder `run`."""
    rows.config()
    model = f"scripted:{rows.folder / 'agent.yaml'}"
    words = ("--model", model, "--out", "run", "--no-sandbox", *words)
    assert main(["run", str(rows.dataset()), *words]) in (0, 1)
    return rows.folder / "run"


def graded(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> Any:
    capsys.readouterr()
    assert main(["grade", *words, "--json", "--no-sandbox"]) == code
    return json.loads(capsys.readouterr().out)


def tree(folder: Path) -> dict[str, bytes]:
    """Every file of a folder."""
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_run_is_graded_again_and_stays_as_it_is(rows: GradedRows, capsys) -> None:
    folder = run(rows, "--grader", "exact")
    before = tree(folder)
    found = graded(capsys, "run", "--grader", "good=mine:looks", "--grader", "file=command:test -f made.txt")
    assert [(one["row"], one["before"], one["after"], one["changed"]) for one in found["sessions"]] == [
        (0, 1.0, 0.75, True),
        (1, 0.0, 0.75, True),
    ]
    assert [one["metrics"] for one in found["sessions"]] == [{"good": 0.5, "good.n": 1.0, "file": 1.0}] * 2
    assert "good 0.5 (4 hi 5 True)" in found["sessions"][1]["reason"]
    assert (found["graded"], found["changed"], found["mean_before"], found["mean_after"]) == (2, 2, 0.5, 0.75)
    assert tree(folder) == before
    assert [path for path in rows.state.iterdir() if path.name.startswith(".scoring")] == []


def test_the_table(rows: GradedRows, capsys) -> None:
    run(rows, "--grader", "exact")
    capsys.readouterr()
    assert main(["grade", "run", "--grader", "contains"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["row", "before", "after", "changed", "session", "why"]
    assert lines[1].split()[:4] == ["0", "1", "1", "="]
    assert lines[2].split()[:4] == ["1", "0", "0", "="]
    assert lines[3] == "2 graded · 0 changed · mean reward 0.5 → 0.5"


def test_written_rewards_are_the_newest_results(rows: GradedRows, capsys) -> None:
    folder = run(rows, "--grader", "exact")
    old = (folder / "results.jsonl").read_bytes()
    graded(capsys, "run", "--grader", "mine:looks", "--write")
    assert (folder / "results.jsonl").read_bytes().startswith(old)
    results = read_results(folder)
    assert [(one.reward, one.metrics, one.state) for one in results.values()] == [
        (0.5, {"n": 1.0}, "done")
    ] * 2
    assert all(one.calls == 2 and one.session for one in results.values())
    info = read_run(folder)
    assert info is not None
    assert [(one["grader"], one["judge"]) for one in info.regraded] == [("mine:looks", None)]
    assert info.settings["grading.grader"] == "exact"
    found = graded(capsys, "run", "--grader", "exact")
    assert [one["before"] for one in found["sessions"]] == [0.5, 0.5]
    # It is the same run as ever: it can go on.
    assert main(["run", "rows.jsonl", "--resume", "--out", "run", *_same(rows)]) == 0


def _same(rows: GradedRows) -> list[str]:
    return ["--model", f"scripted:{rows.folder / 'agent.yaml'}", "--no-sandbox", "--grader", "exact"]


def test_a_grader_that_failed_and_now_works_makes_the_row_done(rows: GradedRows, capsys) -> None:
    folder = run(rows, "--grader", "mine:missing")
    assert {one.state for one in read_results(folder).values()} == {"failed"}
    graded(capsys, "run", "--grader", "mine:missing", "--write", code=1)
    assert {one.state for one in read_results(folder).values()} == {"failed"}
    graded(capsys, "run", "--grader", "exact", "--write")
    assert [(one.state, one.error) for one in read_results(folder).values()] == [("done", "")] * 2


def test_a_session_is_graded_as_it_was_where_no_grader_is_named(rows: GradedRows, capsys) -> None:
    rows.config()
    model = f"scripted:{rows.folder / 'agent.yaml'}"
    words = ["--row", "0", "--model", model, "--no-sandbox", "--grader", "exact"]
    assert main(["run", str(rows.dataset()), *words]) == 0
    (rows.folder / "rows.jsonl").unlink()
    found = graded(capsys, "last")
    assert [(one["before"], one["after"], one["changed"]) for one in found["sessions"]] == [(1.0, 1.0, False)]


def test_files_that_are_gone_are_those_of_the_last_call(rows: GradedRows, capsys) -> None:
    folder = run(rows, "--rows", "0")
    (session,) = (folder / "sessions").iterdir()
    shutil.rmtree(session / "files")
    (one,) = graded(capsys, "run", "--grader", "mine:looks")["sessions"]
    assert one["reason"] == "4 hi 4 True"
    shutil.rmtree(session / "snapshots")
    (one,) = graded(capsys, "run", "--grader", "command:true", code=1)["sessions"]
    assert one["error"] == "the session's files are gone: a command has nothing to look at"
    (one,) = graded(capsys, "run", "--grader", "exact")["sessions"]
    assert one["after"] == 1.0


def test_a_turn_that_did_not_complete_is_not_graded(rows: GradedRows, capsys) -> None:
    rows.agent = [{"error": {"kind": "bad_request", "message": "no"}}]
    run(rows, "--rows", "0")
    found = graded(capsys, "run", "--grader", "exact", "--write")
    (one,) = found["sessions"]
    assert (one["after"], one["error"], found["skipped"]) == (None, "", 1)
    assert one["skipped"] == "its last turn did not complete: it is failed"
    assert read_results(rows.folder / "run")[0, 0].state == "failed"


def test_a_folder_of_sessions_is_graded_without_its_judges(rows: GradedRows, capsys) -> None:
    rows.judge = [
        {"tool_calls": [{"name": "verdict", "arguments": {"scores": {"score": 1}, "reason": "ok"}}]}
    ]
    folder = run(rows)
    rubric = ["--grader", "rubric:Is it right?", "--judge", f"scripted:{rows.folder / 'judge.yaml'}"]
    first = graded(capsys, "run", *rubric)
    assert [one["after"] for one in first["sessions"]] == [1.0, 1.0]
    assert all(
        (folder / "sessions" / name).is_dir() for one in first["sessions"] for name in one["judged_in"]
    )
    found = graded(capsys, str(folder / "sessions"), "--grader", "exact")
    assert sorted(one["after"] for one in found["sessions"]) == [0.0, 1.0]


def test_a_session_that_runs_is_refused(rows: GradedRows, capsys) -> None:
    folder = run(rows, "--rows", "0")
    (session,) = (folder / "sessions").iterdir()
    lock = FolderLock(session)
    (one,) = graded(capsys, "run", "--grader", "exact", code=1)["sessions"]
    lock.release()
    assert "is open in another agentscope" in one["error"]


def test_a_run_that_is_being_written_is_not_written_to(rows: GradedRows, capsys) -> None:
    folder = run(rows, "--rows", "0")
    lock = FolderLock(folder)
    capsys.readouterr()
    assert main(["grade", "run", "--grader", "exact", "--write"]) == 1
    lock.release()
    assert "another agentscope writes the run in" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["nothing"], 1, "there is no session 'nothing'"),
        (["run", "last", "--write"], 2, "--write keeps rewards as results of a run"),
        (["run", "--grader", "nonsense"], 2, "unknown grader 'nonsense'"),
        (["run", "--grader", "rubric:x y"], 2, "--judge PROVIDER:NAME"),
        (["run", "--concurrency", "0"], 2, "is not a number from 1 up"),
    ],
)
def test_what_cannot_be_graded(rows: GradedRows, capsys, words: list[str], code: int, message: str) -> None:
    (rows.folder / "run").mkdir()
    (rows.folder / "run" / "run.json").write_text("{}")
    assert main(["grade", *words]) == code
    assert message in capsys.readouterr().err


def test_recordings_elsewhere_keep_graders_that_are_not_trusted(rows: GradedRows, capsys) -> None:
    mine = run(rows, "--rows", "0", "--grader", "mine:looks")
    (one,) = graded(capsys, "run")["sessions"]
    assert one["after"] == 0.5
    shutil.copytree(mine, "theirs")
    (one,) = graded(capsys, "theirs", code=1)["sessions"]
    assert one["error"] == "the grader that it had is not trusted here: use --trust, or --grader"
    (one,) = graded(capsys, "theirs", "--trust")["sessions"]
    assert one["after"] == 0.5


HANGS = """
import os, pathlib, time
def slow(answer, ground_truth):
    if ground_truth == "5":
        pathlib.Path("began").write_text(str(os.getpid()))
        time.sleep(600)
    return 0.5
"""


def test_ctrl_c_ends_what_runs_and_keeps_what_is_done(rows: GradedRows) -> None:
    folder = run(rows, "--grader", "exact")
    (rows.folder / "hangs.py").write_text(HANGS)
    words = ["grade", "run", "--grader", "hangs:slow", "--json", "--write", "--concurrency", "1"]
    process = subprocess.Popen(
        [sys.executable, "-m", "agentscope_tui", *words], stdout=subprocess.PIPE, text=True
    )
    pid = int(_awaited(rows.folder / "began"))
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    found = json.loads(out)
    assert [(one["row"], one["after"]) for one in found["sessions"]] == [(0, 0.5)]
    assert (found["graded"], found["left"]) == (1, 1)
    assert {one.row: one.reward for one in read_results(folder).values()} == {0: 0.5, 1: 0.0}
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert [path for path in rows.state.iterdir() if path.name.startswith(".scoring")] == []


def _awaited(file: Path) -> str:
    deadline = time.monotonic() + 60
    while not (file.exists() and (text := file.read_text())):
        assert time.monotonic() < deadline, f"{file} is not there"
        time.sleep(0.02)
    return text
