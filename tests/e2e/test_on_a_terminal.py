"""The installed command on a real terminal: keys in, screen out."""

from __future__ import annotations

import json
from pathlib import Path

from e2e.terminal import COMMAND, Terminal, bash, processes, submit, write_rows, write_script


def events(folder: Path) -> list[dict[str, object]]:
    (file,) = folder.glob("state/sessions/*/events.jsonl")
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_a_row_is_stepped_to_its_reward(tmp_path: Path):
    rows = write_rows(tmp_path, {"user_prompt": "count lines", "ground_truth": "3", "grader": "exact"})
    model = write_script(tmp_path, bash("seq 3 | wc -l", "I count."), submit("3"))
    with Terminal(tmp_path, [COMMAND, str(rows), "--model", model]) as terminal:
        terminal.until("NO SESSION")
        terminal.press("\r")
        terminal.until("PAUSED after call #1")
        assert "proposed" in terminal.screen
        terminal.press("n")
        terminal.until("PAUSED after call #2")
        assert "✓ bash" in terminal.screen
        terminal.press("n")
        terminal.until("★ reward 1")
        terminal.press("\x11")
        assert terminal.exit() == 0
        assert terminal.after_the_app().strip().startswith("exit 0")
    assert [event["kind"] for event in events(tmp_path)][-1] == "session_ended"


def test_an_interrupt_kills_a_tool_with_its_grandchildren(tmp_path: Path):
    rows = write_rows(tmp_path, {"user_prompt": "wait"})
    model = write_script(tmp_path, bash("setsid sleep 98761 & sleep 98762"), {"text": "next"})
    with Terminal(tmp_path, [COMMAND, str(rows), "--model", model, "--row", "0"]) as terminal:
        terminal.until("PAUSED after call #1")
        terminal.press("n")
        terminal.until(lambda: processes("98761") and processes("98762"))
        terminal.press("\x1b")
        terminal.until("INTERRUPTED")
        assert processes("98761") + processes("98762") == []
        assert "killed: bash" in terminal.screen
        terminal.press("s")
        terminal.until("enter send")
        terminal.press("go on\r")
        terminal.until("PAUSED after call #2")
        terminal.press("\x11")
        terminal.until("End and quit?")
        terminal.until("a key answers")
        terminal.press("y")
        assert terminal.exit() == 0


def test_a_steer_sent_while_a_tool_runs_is_in_the_next_call(tmp_path: Path):
    rows = write_rows(tmp_path, {"user_prompt": "work"})
    steered = {"when": {"role": "user", "contains": "stop"}, "text": "As you wish, I stop."}
    model = write_script(
        tmp_path, bash("while [ ! -e go ]; do sleep 0.05; done"), steered, {"text": "unsteered"}
    )
    with Terminal(
        tmp_path, [COMMAND, str(rows), "--model", model, "--mode", "run", "--row", "0"]
    ) as terminal:
        terminal.until("RUNNING bash")
        terminal.press("s")
        terminal.until("enter send")
        terminal.press("please stop\r")
        terminal.until("○ queued")
        (folder,) = tmp_path.glob("state/sessions/*/files")
        (folder / "go").touch()
        terminal.until("As you wish, I stop.")
        terminal.until("in call #2")
        terminal.press("\x11")
        assert terminal.exit() == 0


def test_a_strangers_settings_are_asked_about_before_the_screen_opens(tmp_path: Path):
    rows = write_rows(tmp_path, {"user_prompt": "work"})
    model = write_script(tmp_path, {"text": "hello"})
    (tmp_path / "agentscope.yaml").write_text(json.dumps({"model": {"name": model}}))
    with Terminal(tmp_path, [COMMAND, str(rows)]) as terminal:
        terminal.until("Trust this file from now on? [y/N]")
        assert "model.name" in terminal.screen
        terminal.press("\r")
        assert terminal.exit() == 2
        assert "--model" in terminal.screen
    with Terminal(tmp_path, [COMMAND, str(rows)]) as terminal:
        terminal.until("Trust this file from now on? [y/N]")
        terminal.press("y\r")
        terminal.until("NO SESSION")
        terminal.press("\x11")
        assert terminal.exit() == 0
    with Terminal(tmp_path, [COMMAND, str(rows), "--row", "0"]) as terminal:
        terminal.until("PAUSED after call #1")
