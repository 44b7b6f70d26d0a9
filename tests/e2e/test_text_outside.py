"""Text that leaves the app on a real terminal: dragged over with the mouse, and opened in a pager."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from e2e.terminal import COMMAND, Terminal, bash, write_rows, write_script

PAGER = """#!/bin/sh
cp "$1" seen.txt
printf 'THE PAGER'
read line
"""


def mouse(kind: int, x: int, y: int, end: str = "M") -> str:
    """A mouse event as a terminal sends it; cells count from 1."""
    return f"\x1b[<{kind};{x};{y}{end}"


def test_a_drag_sets_the_terminals_clipboard(tmp_path: Path):
    rows = write_rows(tmp_path, {"user_prompt": "find the needle here"})
    model = write_script(tmp_path, {"text": "Here."})
    with Terminal(tmp_path, [COMMAND, str(rows), "--model", model, "--row", "0"]) as terminal:
        terminal.until("Here.")
        screen = terminal.screen.split("\n")
        y = next(y for y, line in enumerate(screen) if "▎ find the needle" in line)
        x = screen[y].index("▎ find the needle") + len("▎ find the ")
        terminal.press(mouse(0, x + 1, y + 1) + mouse(32, x + 3, y + 1) + mouse(32, x + 6, y + 1))
        terminal.press(mouse(0, x + 6, y + 1, "m"))
        terminal.until("esc clear")
        terminal.press("\x03")
        terminal.until("Copied 6 characters")
        assert b"\x1b]52;c;" + base64.b64encode(b"needle") in terminal.raw
        terminal.press("\x11")
        terminal.until("a key answers")
        terminal.press("y")
        assert terminal.exit() == 0
    assert (tmp_path / "state" / "copied.txt").read_text() == "needle"


def test_a_pager_has_the_terminal_while_the_session_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    pager = tmp_path / "pager"
    pager.write_text(PAGER)
    pager.chmod(0o755)
    monkeypatch.setenv("PAGER", str(pager))
    rows = write_rows(tmp_path, {"user_prompt": "[/x] \x1b[2Jwork"})
    model = write_script(
        tmp_path, bash("while [ ! -e go ]; do sleep 0.02; done; touch went"), {"text": "Ended."}
    )
    with Terminal(tmp_path, [COMMAND, str(rows), "--model", model, "--row", "0"]) as terminal:
        terminal.until("PAUSED after call #1")
        terminal.press("c")
        terminal.until("RUNNING bash")
        terminal.press("\x1b[H(")
        terminal.press("(((o")
        terminal.until("THE PAGER")
        assert (tmp_path / "seen.txt").read_text() == "[/x] ␛[2Jwork"
        (folder,) = tmp_path.glob("state/sessions/*/files")
        (folder / "go").touch()
        terminal.until(lambda: (folder / "went").exists())
        terminal.press("\n")
        terminal.until("Ended.")
        terminal.press("\x11")
        assert terminal.exit() == 0
