"""`agentscope run`, installed: exit codes, events exactly as recorded, and an orderly end on ctrl+c."""

from __future__ import annotations

import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest

from e2e.terminal import COMMAND, DEADLINE, bash, environment, processes, submit, write_rows, write_script


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [COMMAND, "run", *words],
        cwd=folder,
        env={**environment(folder), "NO_PROXY": "127.0.0.1"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def recorded(folder: Path) -> str:
    """All recordings, in the order in which the sessions began."""
    files = sorted(folder.glob("state/sessions/*/events.jsonl"), key=lambda file: file.stat().st_mtime_ns)
    return "".join(file.read_text() for file in files)


def test_a_transcript_and_the_events_as_recorded(tmp_path: Path):
    rows = write_rows(
        tmp_path,
        {"user_prompt": "first", "ground_truth": "3", "grader": "exact"},
        {"user_prompt": "second \x1b[2J"},
    )
    model = write_script(tmp_path, bash("echo out; echo err >&2; exit 7", "I try."), submit("3"))
    done = run(tmp_path, str(rows), "--model", model, "--row", "0", "--row", "1", "--events", "e.jsonl")
    assert done.returncode == 0
    assert "\x1b" not in done.stdout
    for text in (
        "user:\n  first",
        "  I try.",
        "│ out",
        "✗ bash failed",
        "exit 7",
        "reward (exact): 1",
        "␛[2J",
    ):
        assert text in done.stdout, text
    assert (tmp_path / "e.jsonl").read_text() == recorded(tmp_path)


def test_events_on_standard_output_are_all_there_is(tmp_path: Path):
    rows = write_rows(tmp_path, {"user_prompt": "first"})
    model = write_script(tmp_path, {"text": "hello \U0001f600 \u202e"})
    done = run(tmp_path, str(rows), "--model", model, "--events", "-")
    assert done.returncode == 0
    assert done.stdout == recorded(tmp_path)
    assert done.stdout.splitlines()[0].startswith('{"seq":1,')


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--row", "9"], 2, "valid rows are 0 to 2"),
        (["--row", "1"], 1, "user_prompt"),
        (["--row", "0", "--grader", "numeric"], 1, "reward (numeric): error"),
        (["--row", "0", "--row", "2"], 0, "hello"),
        (["--offset", "1"], 1, "✓ row 2  1 call"),
        (["--offset", "1"], 1, "✗ row 1"),
        (["--rows", "0,2-"], 0, "2 done · 0 failed"),
        (["--rows", "3"], 2, "valid rows are 0 to 2"),
        (["--rows", "0", "--row", "1"], 2, "use --rows for a run with results"),
        (["--concurrency", "0"], 2, "'0' is not a number from 1 up"),
        (["--row", "0", "--row", "2", "--n", "2"], 0, "hello"),
        (["--row", "0", "--events", "no/such/folder"], 1, "cannot write events to no/such/folder"),
    ],
)
def test_exit_codes(tmp_path: Path, words: list[str], code: int, said: str):
    rows = write_rows(tmp_path, {"user_prompt": "good"}, {"user_prompt": 42}, {"user_prompt": "good too"})
    model = write_script(tmp_path, {"text": "hello"})
    done = run(tmp_path, str(rows), "--model", model, *words)
    assert said in done.stdout + done.stderr
    assert done.returncode == code
    assert "Traceback" not in done.stderr


def test_a_server_that_cannot_be_reached_fails_the_row(tmp_path: Path):
    rows = write_rows(tmp_path, {"user_prompt": "good"})
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        done = run(tmp_path, str(rows), "--model", "openai:any", "--base-url", url, "--row", "0")
    assert done.returncode == 1
    assert url in done.stdout
    assert "turn 1 failed" in done.stdout


def test_no_such_dataset_and_no_model_are_wrong_usage(tmp_path: Path):
    missing = run(tmp_path, "missing.jsonl", "--model", "openai:any")
    assert (missing.returncode, "missing.jsonl" in missing.stderr) == (2, True)
    unnamed = run(tmp_path, str(write_rows(tmp_path, {"user_prompt": "good"})))
    assert (unnamed.returncode, "--model" in unnamed.stderr) == (2, True)


def test_ctrl_c_ends_in_order_and_kills_the_tools(tmp_path: Path):
    rows = write_rows(tmp_path, {"user_prompt": "wait"})
    model = write_script(tmp_path, bash("setsid sleep 98771 & sleep 98772"))
    process = subprocess.Popen(
        [COMMAND, "run", str(rows), "--model", model, "--row", "0"],
        cwd=tmp_path,
        env=environment(tmp_path),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + DEADLINE
    while not (processes("98771") and processes("98772")):
        assert time.monotonic() < deadline, "the tool did not start"
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=DEADLINE)
    assert process.returncode == 130
    assert "Traceback" not in err
    assert processes("98771") + processes("98772") == []
    assert '"kind":"session_ended"' in recorded(tmp_path).splitlines()[-1]
