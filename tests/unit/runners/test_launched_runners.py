"""Rows opened on runners of the user's own: by flag, dialing in, restarted after a crash; nothing is left."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from agentscope_tui.config import load_settings
from agentscope_tui.datasets.task import Task
from agentscope_tui.errors import UserError
from agentscope_tui.options import Options
from agentscope_tui.session.forking import Fork
from agentscope_tui.session.launch import Launcher, open_rows
from agentscope_tui.session.open_session import OpenSession
from agentscope_tui.session.state import SessionState
from fakes.processes import FRAME_TOOLS, alive, is_ours, mark
from waiting import wait_until

EXAMPLE = Path(__file__).parents[3] / "docs" / "examples" / "runner.py"
ECHO = "echo begun >> log; while [ ! -e go ]; do sleep 0.02; done; cat log"


def bash(command: str) -> dict[str, Any]:
    return {"name": "bash", "arguments": {"command": command}}


class Bench:
    """A folder with a row and a script; opens the row on a runner."""

    def __init__(self, folder: Path, replies: list[dict[str, Any]], **flags: object) -> None:
        (folder / "tasks.jsonl").write_text(json.dumps({"user_prompt": "do it"}) + "\n")
        (folder / "script.yaml").write_text(yaml.safe_dump({"scripts": [{"replies": replies}]}))
        self.environ = {**os.environ, "AGENTSCOPE_HOME": str(folder / "state")}
        all_flags = {"model.name": f"scripted:{folder / 'script.yaml'}", "sandbox.mode": "none", **flags}
        config = load_settings(all_flags, cwd=folder, environ=self.environ)
        self.launcher: Launcher
        self.launcher, dataset = open_rows(config, Options(folder / "tasks.jsonl"))
        row = dataset.row(0)
        assert isinstance(row, Task)
        self.row = row

    async def open(self, **how: Any) -> tuple[OpenSession, SessionState]:
        opened = await self.launcher.open(self.row, **how)
        state = SessionState()
        opened.bus.subscribe(state.apply)
        return opened, state


async def test_a_row_runs_on_a_process(tmp_path: Path) -> None:
    word = mark()
    skills = tmp_path / "skills"
    skills.mkdir()
    (skills / "a.md").write_text("---\nname: a\ndescription: All about a\n---\nThe text of a.\n")
    replies = [{"tool_calls": [{"name": "read_skill", "arguments": {"name": "a"}}]}, {"text": "done"}]
    wrapped = shlex.join(["sh", "-c", f'exec "$0" {shlex.quote(str(EXAMPLE))}', sys.executable, word])
    bench = Bench(tmp_path, replies, **{"runner.command": wrapped, "tools.skills": str(skills)})
    opened, state = await bench.open(mode="run")
    await opened.start()
    await asyncio.wait_for(opened.session.settled(), 20)
    assert state.outcome == "completed"
    assert state.calls[0].content == "The text of a."
    assert state.started is not None
    assert state.started.system.endswith("- a: All about a")
    assert state.started.runner.startswith("sh -c")
    assert json.loads((opened.folder.path / "meta.json").read_text())["runner"] == state.started.runner
    await opened.aclose()
    await bench.launcher.aclose()
    assert alive(word) == []


async def test_rows_take_the_runners_that_dial_in(tmp_path: Path) -> None:
    address = f"unix:{tmp_path / 'runner.sock'}"
    dial = f"""
import socket
link = socket.socket(socket.AF_UNIX)
link.connect({str(tmp_path / "runner.sock")!r})
def say(frame):
    body = json.dumps(frame).encode()
    link.sendall(len(body).to_bytes(4, "big") + body)
def hear():
    size = int.from_bytes(link.recv(4, socket.MSG_WAITALL), "big")
    return json.loads(link.recv(size, socket.MSG_WAITALL)) if size else None
say({{"type": "hello", "name": sys.argv[1]}})
while frame := hear():
    if frame["type"] == "session_start":
        say({{"type": "state", "status": "idle", "turns": 0}})
    elif frame["type"] == "user_message":
        body = {{"messages": [{{"role": "user", "content": "x"}}]}}
        say({{"type": "llm_request", "req_id": 1, "openai_body": body}})
    elif frame["type"] == "llm_response":
        say({{"type": "state", "status": "idle", "turns": 1, "reason": "completed"}})
"""
    bench = Bench(tmp_path, [{"text": "done"}], **{"runner.listen": address})
    (first, one), (second, two) = await bench.open(mode="run"), await bench.open(mode="run")
    argv = [sys.executable, "-I", "-S", "-c", FRAME_TOOLS + dial]
    runners = [await asyncio.create_subprocess_exec(*argv, name) for name in ("a", "b")]
    await asyncio.gather(first.start(), second.start())
    for opened in (first, second):
        await asyncio.wait_for(opened.session.settled(), 20)
    assert {one.runner.hello["name"], two.runner.hello["name"]} == {"a", "b"}
    assert (one.outcome, two.outcome) == ("completed", "completed")
    await asyncio.gather(first.aclose(), second.aclose())
    assert [await asyncio.wait_for(runner.wait(), 10) for runner in runners] == [0, 0]
    await bench.launcher.aclose()
    assert not (tmp_path / "runner.sock").exists()


async def test_a_runner_that_was_killed_in_a_tool_is_restarted_where_it_was(tmp_path: Path) -> None:
    replies = [{"text": "look", "tool_calls": [bash("echo first > log"), bash(ECHO)]}, {"text": "done"}]
    bench = Bench(tmp_path, replies, **{"runner.command": shlex.join([sys.executable, str(EXAMPLE)])})
    opened, state = await bench.open(mode="run")
    await opened.start()
    log = opened.folder.files / "log"
    await wait_until(lambda: log.exists() and "begun" in log.read_text(), "the tool runs")
    [runner] = [pid for pid in alive(str(EXAMPLE)) if is_ours(pid)]
    os.kill(runner, signal.SIGKILL)
    await wait_until(lambda: state.status == "failed", "the session failed")
    await opened.aclose()
    assert "was killed by SIGKILL" in state.entries[-1].text

    again, after = await bench.open(fork=Fork(opened.past()))
    await again.start()
    await wait_until(lambda: after.holds, "the first step that is new")
    assert (again.folder.files / "log").read_text() == "first\nbegun\n"
    assert [call.content for call in after.calls] == ["(no output)", ""]
    (again.folder.files / "go").touch()
    again.session.run_on()
    await asyncio.wait_for(again.session.settled(), 20)
    assert after.outcome == "completed"
    assert [call.content for call in after.calls] == ["(no output)", "first\nbegun\nbegun\n"]
    assert json.loads((again.folder.path / "meta.json").read_text())["parent"] == opened.bus.session_id
    await again.aclose()
    await bench.launcher.aclose()


async def test_what_is_wrong_is_told_before_any_row_opens(tmp_path: Path) -> None:
    wrong: dict[str, tuple[dict[str, object], str]] = {
        "two": ({"runner.command": "x", "runner.listen": "127.0.0.1:0"}, "exclude each other"),
        "files": ({"runner.files": str(tmp_path / "none")}, "there is no folder"),
        "skills": ({"tools.skills": str(tmp_path / "none")}, "there is no folder"),
        "profile": ({"runner.profile": "none"}, "no runner profile"),
    }
    for flags, words in wrong.values():
        with pytest.raises(UserError, match=words):
            Bench(tmp_path, [{"text": "x"}], **flags)
