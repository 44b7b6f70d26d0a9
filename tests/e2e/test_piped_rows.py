"""Rows from standard input: the app reads its keys from the terminal, and `run` needs none."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from e2e.terminal import COMMAND, Terminal, environment, submit, write_rows, write_script


def test_the_app_opens_piped_rows_as_they_come_and_takes_keys(tmp_path: Path):
    write_rows(tmp_path, {"user_prompt": "first"}, {"user_prompt": "second"})
    model = write_script(tmp_path, submit("3"))
    feed = '(cat tasks.jsonl; while [ ! -e go ]; do sleep 0.05; done; cat tasks.jsonl) | "$@"'
    with Terminal(tmp_path, ["sh", "-c", feed, "sh", COMMAND, "-", "--model", model]) as terminal:
        terminal.until("NO SESSION")
        terminal.until("second")
        (tmp_path / "go").touch()
        terminal.until(lambda: terminal.screen.count("second") == 2)
        terminal.press("\r")
        terminal.until("PAUSED after call #1")
        terminal.press("\x11")
        terminal.until("End and quit?")
        terminal.until("a key answers")
        terminal.press("y")
        assert terminal.exit() == 0


def test_the_app_says_so_when_nothing_is_piped_in(tmp_path: Path):
    with Terminal(tmp_path, [COMMAND, "-", "--model", write_script(tmp_path, submit("3"))]) as terminal:
        assert terminal.exit() == 2
        assert "use it, as in `cat tasks.jsonl | agentscope -`" in terminal.screen.replace("\n", "")


def test_run_takes_piped_rows_without_a_terminal(tmp_path: Path):
    rows = write_rows(tmp_path, {"user_prompt": "first"}, {"user_prompt": "second"})
    with rows.open() as piped:
        done = subprocess.run(
            [COMMAND, "run", "-", "--row", "1", "--model", write_script(tmp_path, submit("3"))],
            stdin=piped,
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env=environment(tmp_path),
            timeout=60,
            start_new_session=True,
        )
    assert (done.returncode, done.stderr) == (0, "")
    assert "second" in done.stdout
    (meta,) = (tmp_path / "state" / "sessions").glob("*/meta.json")
    about = json.loads(meta.read_text())
    assert (about["dataset"], about["row"], len(about["dataset_identity"])) == ("-", 1, 32)
