"""The demo's row whose tool lies: forked, set right and compared; and sessions that go on after a kill."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

from e2e.terminal import COMMAND, Terminal, bash, environment, submit, write_rows, write_script
from waiting import wait_until

HOME = "\x1b[H"
LINE = "\x0b"
ACCEPT = "\x13"


def metas(folder: Path) -> list[dict[str, Any]]:
    """What the sessions keep beside their events, oldest first."""
    files = sorted((folder / "state" / "sessions").glob("*/meta.json"))
    return [json.loads(file.read_text()) for file in files]


def test_the_failing_row_is_forked_at_the_wrong_call_and_earns_its_reward(tmp_path: Path):
    with Terminal(tmp_path, [COMMAND, "--row", "12"]) as terminal:
        terminal.until("PAUSED after call #1")
        terminal.press("c")
        terminal.until("DONE · reward 0")
        terminal.press("{")
        terminal.press("{")
        terminal.press("f")
        terminal.until("Fork at call #1")
        terminal.until("result of bash")
        terminal.press("\r")
        terminal.until("Result of bash")
        # To the start, and out with the line that lies.
        terminal.press("\x1b[1;5H" + HOME + "\x1b[A" + HOME + LINE)
        terminal.press("freezer: -18 C")
        terminal.until("freezer: -18 C")
        terminal.press(ACCEPT)
        terminal.until("PAUSED after bash")
        terminal.until("forked at call #2")
        terminal.press("c")
        terminal.until("DONE · reward 1")
        terminal.press("D")
        terminal.until("Compare")
        terminal.until("+1")
        terminal.until("freezer: +4")
        terminal.until("freezer: -18 C")
        terminal.press("\x1b")
        terminal.until("DONE · reward 1")
        terminal.press("\x11")
        assert terminal.exit() == 0
    parent, fork = metas(tmp_path)
    assert (fork["parent"], fork["parent_call"]) == (parent["session_id"], 2)
    assert fork["change"] == "result of bash in call #1: freezer: -18 C"


async def test_a_run_that_was_killed_is_resumed_on_screen(tmp_path: Path):
    rows = write_rows(tmp_path, {"user_prompt": "go", "ground_truth": "42", "grader": "exact"})
    model = write_script(
        tmp_path,
        bash("echo first"),
        bash("echo second; while [ ! -e go ]; do sleep 0.05; done; echo went"),
        submit("42"),
    )
    words = [COMMAND, "run", rows.name, "--row", "0", "--model", model, "--no-sandbox"]
    sessions = tmp_path / "state" / "sessions"

    def came() -> bool:
        return any(b'"second' in file.read_bytes() for file in sessions.glob("*/events.jsonl"))

    process = subprocess.Popen(  # noqa: ASYNC220
        words, cwd=tmp_path, env=environment(tmp_path), stdout=subprocess.DEVNULL, start_new_session=True
    )
    try:
        await wait_until(came, "the second command's output", seconds=30)
        (folder,) = sessions.iterdir()
        refused = subprocess.run(  # noqa: ASYNC221
            ["script", "-qec", f"{COMMAND} resume last", "/dev/null"],
            cwd=tmp_path,
            env=environment(tmp_path),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert "is open in another agentscope: end it there first" in refused.stdout
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait(timeout=20)
    # From another folder, without the dataset: the recording has all that it takes.
    rows.unlink()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    with Terminal(tmp_path, ["env", "-C", str(elsewhere), COMMAND, "resume", "last"]) as terminal:
        terminal.until("PAUSED after call #2")
        terminal.until("goes on at call #3")
        terminal.until("first")
        (resumed,) = [place for place in sessions.iterdir() if place != folder]
        (resumed / "files" / "go").touch()
        terminal.press("c")
        terminal.until("DONE · reward 1")
        terminal.press("\x11")
        assert terminal.exit() == 0
    before, after = metas(tmp_path)
    assert (after["parent"], after["change"]) == (before["session_id"], "resumed")
    assert (after["row"], after["dataset"]) == (before["row"], before["dataset"])
    assert "went" in (resumed / "events.jsonl").read_text()
