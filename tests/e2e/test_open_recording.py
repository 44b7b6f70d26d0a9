"""`agentscope open` on a real terminal: the newest session, without a model, walked and left as it was."""

from __future__ import annotations

from pathlib import Path

from e2e.terminal import COMMAND, Terminal, bash, submit, write_rows, write_script


def test_the_last_session_is_opened_and_walked(tmp_path: Path):
    rows = write_rows(tmp_path, {"user_prompt": "count lines", "ground_truth": "3", "grader": "exact"})
    model = write_script(tmp_path, bash("seq 3 | wc -l", "I count."), submit("3"))
    with Terminal(tmp_path, [COMMAND, str(rows), "--model", model, "--mode", "run", "--row", "0"]) as live:
        live.until("★ reward 1")
        live.press("\x11")
        assert live.exit() == 0
    (events,) = tmp_path.glob("state/sessions/*/events.jsonl")
    before = events.read_bytes()
    with Terminal(tmp_path, [COMMAND, "open", "last"]) as terminal:
        terminal.until("RECORDING · ENDED · reward 1")
        terminal.until("call 2/2")
        assert "I count." in terminal.screen
        terminal.press("bb")
        terminal.until("call 1/2")
        terminal.until("RECORDING · RUNNING")
        assert "★ reward 1" not in terminal.screen
        terminal.press("+++++c")
        terminal.until("RECORDING · ENDED")
        terminal.press("\x11")
        assert terminal.exit() == 0
    assert events.read_bytes() == before
    assert len([*tmp_path.glob("state/sessions/*")]) == 1


def test_a_session_that_there_is_not_is_said(tmp_path: Path):
    with Terminal(tmp_path, [COMMAND, "open", "last"]) as terminal:
        assert terminal.exit() == 1
        assert "there is no session 'last'" in terminal.screen
