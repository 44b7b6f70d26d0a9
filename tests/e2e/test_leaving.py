"""Every kind of exit leaves the terminal as it was, and no process behind."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest

from e2e.terminal import COMMAND, Terminal, bash, processes, write_rows, write_script

BROKEN = """
import sys
from agentscope_tui.cli import main
from agentscope_tui.tui.screens.debugger import DebuggerScreen
def action_help(self):
    raise RuntimeError("a defect")
DebuggerScreen.action_help = action_help
sys.exit(main(sys.argv[1:]))
"""


def words(folder: Path, command: str) -> list[str]:
    rows = write_rows(folder, {"user_prompt": "wait"})
    model = write_script(folder, bash(command))
    return [str(rows), "--model", model, "--mode", "run", "--row", "0"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_app_in_order(tmp_path: Path, number: signal.Signals):
    with Terminal(tmp_path, [COMMAND, *words(tmp_path, "setsid sleep 98763 & sleep 98764")]) as terminal:
        terminal.until(lambda: processes("98763") and processes("98764"))
        os.kill(terminal.pid, number)
        terminal.exit()
        assert processes("98763") + processes("98764") == []
    (file,) = tmp_path.glob("state/sessions/*/events.jsonl")
    assert '"kind":"session_ended"' in file.read_text().splitlines()[-1]


def test_a_defect_is_one_line_and_the_log_holds_the_traceback(tmp_path: Path):
    command = [sys.executable, "-c", BROKEN, *words(tmp_path, "sleep 98765")]
    with Terminal(tmp_path, command) as terminal:
        terminal.until(lambda: processes("98765"))
        terminal.press("?")
        assert terminal.exit() == 1
        assert processes("98765") == []
        said = terminal.after_the_app()
        assert "Traceback" not in said
        assert said.count("\n") <= 4
        assert "RuntimeError: a defect" in said
        assert "agentscope.log" in said
    assert "in action_help" in (tmp_path / "state" / "agentscope.log").read_text()


def test_nothing_outlives_a_killed_app(tmp_path: Path):
    with Terminal(tmp_path, [COMMAND, *words(tmp_path, "setsid sleep 98766 & sleep 98767")]) as terminal:
        terminal.until(lambda: processes("98766") and processes("98767"))
        os.kill(terminal.pid, signal.SIGKILL)
        terminal.until(lambda: not processes("98766") and not processes("98767"))


def test_ctrl_c_interrupts_and_does_not_quit(tmp_path: Path):
    with Terminal(tmp_path, [COMMAND, *words(tmp_path, "sleep 98768")]) as terminal:
        terminal.until(lambda: processes("98768"))
        terminal.press("\x03")
        terminal.until("INTERRUPTED")
        terminal.press("\x03\x11")
        assert terminal.exit() == 0


def test_an_unwritable_state_folder_is_said_on_the_plain_terminal(tmp_path: Path):
    (tmp_path / "state").write_text("in the way")
    with Terminal(tmp_path, [COMMAND, *words(tmp_path, "true")]) as terminal:
        assert terminal.exit() == 1
        assert "AGENTSCOPE_HOME" in terminal.screen
