"""Signals in storms, a stop and a return, and a terminal that is gone: the app leaves in order each time."""

from __future__ import annotations

import json
import os
import re
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pexpect
import pytest

from e2e.terminal import COMMAND, Terminal, bash, environment, processes, write_rows, write_script

SECONDS = 2.0
"""That leaving may take, and a little for a machine that is busy."""
BUSY = 6.0
SEVERAL = 4
STUBBORN = "trap '' TERM HUP INT; (setsid sleep {} &); sleep {}"


def words(folder: Path, marks: tuple[int, int], tool: str = STUBBORN) -> list[str]:
    """The app on one row, whose tool has a sleeper of its own session and ignores what it can."""
    rows = write_rows(folder, {"user_prompt": "wait"})
    model = write_script(folder, bash(tool.format(*marks)), {"text": "went on"})
    return [str(rows), "--model", model, "--mode", "run", "--row", "0"]


def alive(marks: tuple[int, int]) -> list[int]:
    return [pid for mark in marks for pid in processes(str(mark))]


def last_event(folder: Path) -> str:
    (file,) = folder.glob("state/sessions/*/events.jsonl")
    return file.read_text().splitlines()[-1]


def gone(pid: int) -> bool:
    try:
        return "\nState:\tZ" in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return True


STORMS = {
    "SIGTERM": [signal.SIGTERM] * 30,
    "SIGHUP": [signal.SIGHUP] * 30,
    "SIGINT": [signal.SIGINT] * 30,
    "all": [signal.SIGINT, signal.SIGTERM, signal.SIGHUP] * 10,
}


@pytest.mark.parametrize("storm", STORMS)
def test_a_storm_of_signals_ends_the_app_in_order(tmp_path: Path, storm: str) -> None:
    marks = 97610, 97611
    with Terminal(tmp_path, [COMMAND, *words(tmp_path, marks)]) as terminal:
        terminal.until(lambda: len(alive(marks)) == 2)
        pid = terminal.pid
        for number in STORMS[storm]:
            if not gone(pid):
                os.kill(pid, number)
                time.sleep(0.005)
        start = time.monotonic()
        terminal.exit()
        assert time.monotonic() - start < SECONDS + BUSY
        assert alive(marks) == []
        assert "Traceback" not in terminal.after_the_app()
    assert '"kind":"session_ended"' in last_event(tmp_path)


ENDS = {
    "SIGTERM": lambda terminal: os.kill(terminal.pid, signal.SIGTERM),
    "ctrl+q": lambda terminal: quit_and_confirm(terminal),
}


def quit_and_confirm(terminal: Terminal) -> None:
    terminal.press("\x11")
    terminal.until("a key answers")
    terminal.press("y")


@pytest.mark.parametrize("way", ENDS)
def test_several_sessions_with_stubborn_tools_are_all_ended_in_order(tmp_path: Path, way: str) -> None:
    """One after the other they would take much longer than one alone."""
    marks = (97650, 97651)
    rows = write_rows(tmp_path, *({"user_prompt": f"wait {row}"} for row in range(SEVERAL)))
    model = write_script(tmp_path, bash(STUBBORN.format(*marks)))
    with Terminal(
        tmp_path, [COMMAND, str(rows), "--model", model, "--mode", "run", "--row", "0"]
    ) as terminal:
        for row in range(SEVERAL):
            if row:
                terminal.press("q")
                terminal.until("a key answers")
                terminal.press("b")
                terminal.until("NO SESSION")
                terminal.press("\x1b[B")
                terminal.until(f"▎ wait {row}")
                terminal.press("\r")
            terminal.until(lambda count=2 * (row + 1): len(alive(marks)) == count)
        start = time.monotonic()
        ENDS[way](terminal)
        terminal.exit()
        assert time.monotonic() - start < SECONDS + BUSY
        assert alive(marks) == []
        assert "Traceback" not in terminal.after_the_app()
    files = sorted(tmp_path.glob("state/sessions/*/events.jsonl"))
    assert len(files) == SEVERAL
    for file in files:
        kinds = [json.loads(line)["kind"] for line in file.read_text().splitlines()]
        assert kinds[-1] == "session_ended"
        assert kinds.count("tool_call") == kinds.count("tool_result") == 1
    assert (tmp_path / "state" / "agentscope.log").read_text() == ""


def test_it_stops_with_the_terminal_as_it_was_and_comes_back(tmp_path: Path) -> None:
    marks = 97620, 97621
    with Terminal(tmp_path, [COMMAND, *words(tmp_path, marks)]) as terminal:
        terminal.until(lambda: len(alive(marks)) == 2)
        for _ in range(2):
            terminal.raw = b""
            os.kill(terminal.pid, signal.SIGTSTP)
            terminal.until(lambda: "stopped" in status_of(terminal.pid))
            terminal.until(lambda: b"\x1b[?1049l" in terminal.raw)
            assert left_on(terminal.raw) == set()
            assert len(alive(marks)) == 2
            terminal.raw = b""
            os.kill(terminal.pid, signal.SIGCONT)
            terminal.until(lambda: b"\x1b[?1049h" in terminal.raw)
            terminal.until("RUNNING bash")
        terminal.press("\x03")
        terminal.until("INTERRUPTED")
        assert alive(marks) == []
        terminal.press("\x11")
        assert terminal.exit() == 0


def status_of(pid: int) -> str:
    return Path(f"/proc/{pid}/status").read_text().partition("State:")[2].partition("\n")[0]


def left_on(raw: bytes) -> set[bytes]:
    """The modes of the terminal that were set last, and not reset."""
    modes = dict(re.findall(rb"\x1b\[\?(\d+)([hl])", raw))
    return {mode for mode, way in modes.items() if way == (b"l" if mode in (b"7", b"25") else b"h")}


HEARS = {
    "the app hears of it": 'exec "$@"',
    "its shell hears of it": '"$@"; true',
    "nobody hears of it": 'trap "" HUP; exec "$@"',
}
"""SIGHUP goes to the leader of the terminal's session, and from a shell to its children."""


def on_a_terminal_of_its_own(
    folder: Path, marks: tuple[int, int], start: str = 'exec "$@"', tool: str = STUBBORN
) -> pexpect.spawn[bytes]:
    """The app with its tool running."""
    app = pexpect.spawn(
        "/bin/sh",
        ["-c", start, "sh", COMMAND, *words(folder, marks, tool)],
        env=environment(folder),
        dimensions=(40, 120),
        cwd=str(folder),
    )
    app.expect("RUNNING bash", timeout=30)
    wait_for(lambda: len(alive(marks)) == 2)
    return app


@pytest.mark.parametrize("hears", HEARS)
def test_a_lost_terminal_ends_the_app_in_order(tmp_path: Path, hears: str) -> None:
    marks = 97630, 97631
    app = on_a_terminal_of_its_own(tmp_path, marks, HEARS[hears])
    os.close(app.child_fd)
    app.closed = True
    wait_for(lambda: processes(str(tmp_path / "tasks.jsonl")) == [] and alive(marks) == [])
    assert '"kind":"session_ended"' in last_event(tmp_path)
    assert (tmp_path / "state" / "agentscope.log").read_text() == ""


def test_a_terminal_that_takes_nothing_holds_nobody_up(tmp_path: Path) -> None:
    marks = 97640, 97641
    app = on_a_terminal_of_its_own(
        tmp_path, marks, tool=f"(while :; do seq 300; sleep 0.03; done) & {STUBBORN}"
    )
    (file,) = tmp_path.glob("state/sessions/*/events.jsonl")
    wait_for(lambda: file.read_text().count('"kind":"tool_output"') > 60)
    app.send("i")
    wait_for(lambda: '"kind":"interrupted"' in file.read_text())
    assert alive(marks) == []
    os.kill(app.pid, signal.SIGTERM)
    wait_for(lambda: gone(app.pid))
    assert '"kind":"session_ended"' in last_event(tmp_path)
    app.close(force=True)


def wait_for(predicate: Callable[[], object], seconds: float = 15.0) -> None:
    deadline = time.monotonic() + seconds
    while not predicate():
        assert time.monotonic() < deadline
        time.sleep(0.02)
