"""Rows that go on from a recording: with its files, task and settings; also after a kill."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from agentscope_tui.config import Config, load_settings
from agentscope_tui.datasets.dataset import Dataset
from agentscope_tui.datasets.task import Task
from agentscope_tui.errors import UserError
from agentscope_tui.events import AgentNote, SessionStarted
from agentscope_tui.models.chat import Completion
from agentscope_tui.options import Options
from agentscope_tui.secrets import MASK
from agentscope_tui.session.forking import EditedReply, EditedResult, Fork
from agentscope_tui.session.launch import Launcher, open_rows
from agentscope_tui.session.meta import config_of, kept_settings, task_of
from agentscope_tui.session.open_session import OpenSession
from agentscope_tui.session.state import SessionState
from agentscope_tui.store.folders import SessionFolder
from agentscope_tui.store.past import PastSession
from agentscope_tui.store.reopen import recover
from waiting import wait_until

CANARY = "canary-6f1d0c2e9b"
KEY = "ghp_" + "a1B2c3" * 6
"""Of a shape that is masked wherever it stands."""
ROW = {
    "user_prompt": "go",
    "ground_truth": "42",
    "grader": "exact",
    "files": {"seed.txt": "of the row\n", "gone.txt": "for a while\n"},
}


def bash(command: str) -> dict[str, Any]:
    return {"name": "bash", "arguments": {"command": command}}


REPLIES: list[dict[str, Any]] = [
    {
        "text": "one",
        "tool_calls": [bash("echo one > made.txt; rm gone.txt; chmod 755 seed.txt")],
    },
    {"when": {"contains": "right"}, "tool_calls": [{"name": "submit", "arguments": {"answer": "42"}}]},
    {"text": "two", "tool_calls": [bash("echo two > made.txt; cat made.txt")]},
    {"text": "wrong", "tool_calls": [{"name": "submit", "arguments": {"answer": "7"}}]},
]


class Rows:
    """A folder with one row, a script and a state folder."""

    def __init__(self, folder: Path, replies: list[dict[str, Any]] = REPLIES, **flags: object) -> None:
        self.folder = folder
        self.rows = folder / "rows.jsonl"
        self.rows.write_text(json.dumps(ROW) + "\n")
        (folder / "script.yaml").write_text(yaml.safe_dump({"scripts": [{"replies": replies}]}))
        self.flags = {"model.name": f"scripted:{folder / 'script.yaml'}", "sandbox.mode": "none", **flags}
        self.environ = {**os.environ, "AGENTSCOPE_HOME": str(folder / "state")}

    def config(self, **flags: object) -> Config:
        return load_settings({**self.flags, **flags}, cwd=self.folder, environ=self.environ)

    def open(self) -> tuple[Launcher, Dataset, Task]:
        launcher, dataset = open_rows(self.config(), Options(self.rows))
        task = dataset.row(0)
        assert isinstance(task, Task)
        return launcher, dataset, task


Running = tuple[OpenSession, SessionState]


@asynccontextmanager
async def running(
    launcher: Launcher, task: Task, fork: Fork
) -> AsyncIterator[tuple[OpenSession, SessionState]]:
    opened = await launcher.open(task, fork=fork)
    state = SessionState()
    opened.bus.subscribe(state.apply)
    try:
        await opened.start()
        await wait_until(lambda: state.holds, "the first new step is held")
        yield opened, state
    finally:
        await opened.aclose()


async def whole(launcher: Launcher, task: Task) -> PastSession:
    """The row, run to its end."""
    opened = await launcher.open(task, patient=False)
    await opened.start()
    await asyncio.wait_for(opened.session.settled(), 20)
    await opened.aclose()
    return opened.past()


async def notes(opened: OpenSession) -> dict[str, str]:
    await opened.recorder.flush()
    return {event.title: event.text for event in opened.past().events if isinstance(event, AgentNote)}


async def test_a_fork_has_the_files_of_its_call_and_leaves_the_original_alone(tmp_path: Path) -> None:
    launcher, _, task = Rows(tmp_path).open()
    past = await whole(launcher, task)
    assert past.folder is not None
    before = {file: file.read_bytes() for file in past.folder.path.rglob("*") if file.is_file()}
    edit = EditedResult(result_id(past, 1), "it went right")
    async with running(launcher, task, Fork(past, 1, edit)) as (opened, state):
        files = opened.folder.files
        assert sorted(file.name for file in files.iterdir()) == ["made.txt", "row.json", "seed.txt"]
        assert (files / "made.txt").read_text() == "one\n"
        assert stat.S_IMODE((files / "seed.txt").stat().st_mode) == 0o755
        opened.session.run_on()
        await asyncio.wait_for(opened.session.settled(), 20)
        assert (state.answer, state.reward) == ("42", 1.0)
        meta = json.loads((opened.folder.path / "meta.json").read_text())
        assert (meta["parent"], meta["parent_call"]) == (past.session_id, 2)
        assert meta["change"] == "result of bash in call #1: it went right"
        await opened.recorder.flush()
        forked = opened.past()
    assert await notes(opened) == {}
    assert {file: file.read_bytes() for file in past.folder.path.rglob("*") if file.is_file()} == before
    shutil.rmtree(past.folder.path)
    edit = EditedReply(Completion(text="no", finish_reason="stop"))
    async with running(launcher, task, Fork(forked, 1, edit)) as (opened, state):
        names = sorted(file.name for file in opened.folder.files.iterdir())
        assert names == ["gone.txt", "row.json", "seed.txt"]
    await launcher.aclose()


def result_id(past: PastSession, call: int) -> str:
    return next(event.call_id for event in past.events if event.kind == "tool_result" and event.call == call)


async def test_a_live_session_is_forked_with_its_files_as_they_are(tmp_path: Path) -> None:
    launcher, _, task = Rows(tmp_path).open()
    first = await launcher.open(task)
    state = SessionState()
    first.bus.subscribe(state.apply)
    await first.start()
    await wait_until(lambda: state.holds, "the first step")
    first.session.step()
    await wait_until(lambda: state.call == 2 and state.holds, "the second step")
    await first.recorder.flush()
    async with running(launcher, task, Fork(first.past(), 2)) as (opened, forked):
        assert (opened.folder.files / "made.txt").read_text() == "one\n"
        opened.session.run_on()
        await asyncio.wait_for(opened.session.settled(), 20)
        assert forked.reward == 0.0
    assert (first.folder.files / "made.txt").read_text() == "one\n"
    assert [hold.call for hold in state.holds] == [2]
    first.session.run_on()
    await asyncio.wait_for(first.session.settled(), 20)
    assert (first.folder.files / "made.txt").read_text() == "two\n"
    await first.aclose()
    await launcher.aclose()


@pytest.mark.parametrize("why", ["imported", "lost"])
async def test_without_snapshots_a_fork_begins_with_the_files_of_the_row(tmp_path: Path, why: str) -> None:
    launcher, _, task = Rows(tmp_path).open()
    past = await whole(launcher, task)
    assert past.folder is not None
    shutil.rmtree(past.folder.snapshots)
    if why == "imported":
        past = PastSession(past.events)
    async with running(launcher, task, Fork(past, 2)) as (opened, _):
        names = sorted(file.name for file in opened.folder.files.iterdir())
        assert names == ["gone.txt", "row.json", "seed.txt"]
        assert "begins with the files of the row" in (await notes(opened))["files"]
    await launcher.aclose()


async def test_a_damaged_snapshot_is_said_and_nothing_is_left(tmp_path: Path) -> None:
    launcher, _, task = Rows(tmp_path).open()
    past = await whole(launcher, task)
    assert past.folder is not None
    for blob in (past.folder.snapshots / "blobs").iterdir():
        blob.write_bytes(b"altered")
    with pytest.raises(UserError, match="something else"):
        await launcher.open(task, fork=Fork(past, 2))
    assert len([*(tmp_path / "state" / "sessions").iterdir()]) == 1
    await launcher.aclose()


async def test_a_recording_keeps_its_task_and_settings_and_no_secret(tmp_path: Path) -> None:
    rows = Rows(
        tmp_path,
        **{
            "model.temperature": 0.25,
            "ui.theme": "agentscope-light",
            "tools.mcp_headers": {"https://example.org": {"X-Key": CANARY}},
            "model.prices": {"openai:gpt-5.1": {"input": 1.0, "output": 2.0}},
            "model.base_url": f"https://user:{CANARY}@example.org",
        },
    )
    launcher, _, task = rows.open()
    history = {"role": "user", "content": "before"}, {"role": "assistant", "content": f'"{KEY}"'}
    past = await whole(launcher, replace(task, history=history))
    await launcher.aclose()
    assert past.folder is not None
    text = (past.folder.path / "meta.json").read_text()
    meta = json.loads(text)
    assert CANARY not in text
    assert meta["settings"]["model"] == {
        "name": rows.flags["model.name"],
        "temperature": 0.25,
        "prices": {"openai:gpt-5.1": {"input": 1.0, "output": 2.0}},
    }
    assert meta["settings"]["sandbox"] == {"mode": "none"}
    assert "ui" not in meta["settings"]
    assert meta["task"]["prompt"] == "go"
    assert meta["task"]["history"] == [history[0], {"role": "assistant", "content": f'"ghp_{MASK}"'}]
    assert (meta["task"]["ground_truth"], meta["task"]["grader"]) == ("42", "exact")
    plain = load_settings({}, cwd=tmp_path, environ=rows.environ)
    again = config_of(plain, past.folder).settings
    assert (again.model.temperature, again.model.name) == (0.25, rows.flags["model.name"])
    assert again.model.prices["openai:gpt-5.1"].output == 2.0
    flagged = load_settings({"model.temperature": 1.0}, cwd=tmp_path, environ=rows.environ)
    assert config_of(flagged, past.folder).settings.model.temperature == 1.0


async def test_names_by_which_a_session_goes_on_are_kept_whatever_is_a_secret(tmp_path: Path) -> None:
    rows = Rows(tmp_path)
    rows.environ |= {"DB_PASSWORD": "scripted", "OTHER_PASSWORD": "rows.jsonl"}
    launcher, _, task = rows.open()
    past = await whole(launcher, replace(task, history=({"role": "user", "content": "scripted rows.jsonl"},)))
    await launcher.aclose()
    assert past.meta["task"]["history"] == [{"role": "user", "content": f"{MASK} {MASK}"}]
    assert (past.meta["model"], past.meta["dataset"]) == (rows.flags["model.name"], str(rows.rows))
    assert past.folder is not None
    assert config_of(rows.config(), past.folder).settings.model.name == rows.flags["model.name"]


async def test_the_task_is_found_also_without_its_dataset(tmp_path: Path) -> None:
    launcher, dataset, task = Rows(tmp_path).open()
    past = await whole(launcher, task)
    await launcher.aclose()
    assert past.meta
    assert task_of(past, dataset) == task
    alone = task_of(past)
    assert (alone.prompt, alone.ground_truth, alone.grader, alone.row) == ("go", "42", "exact", ROW)
    told = task_of(PastSession(past.events))
    assert (told.index, told.prompt) == (0, "go")
    with pytest.raises(UserError, match="nothing was asked"):
        task_of(PastSession([SessionStarted(version="", session_id="x")]))


async def test_what_a_strangers_recording_would_run_needs_trust(tmp_path: Path) -> None:
    launcher, _, task = Rows(tmp_path).open()
    past = await whole(launcher, task)
    await launcher.aclose()
    assert past.folder is not None
    elsewhere = SessionFolder(tmp_path / "download")
    shutil.copytree(past.folder.path, elsewhere.path)
    meta = json.loads((elsewhere.path / "meta.json").read_text())
    meta["settings"]["runner"] = {"command": "evil"}
    meta["settings"]["limits"] = {"calls": 7}
    meta["settings"]["future"] = {"of": "a later version"}
    meta["task"]["grader"] = "evil:grade"
    (elsewhere.path / "meta.json").write_text(json.dumps(meta))
    plain = load_settings({}, cwd=tmp_path, environ={"AGENTSCOPE_HOME": str(tmp_path / "state")})
    config = config_of(plain, elsewhere)
    assert config.untrusted is not None
    assert set(config.untrusted.keys) == {"runner.command", "sandbox.mode", "model.name"}
    assert config.settings.runner.command is None
    assert config.settings.sandbox.mode != "none"
    assert config.settings.limits.calls == 7
    assert task_of(recover(elsewhere.path)).grader is None
    trusted = config.with_trust()
    assert trusted.untrusted is None
    assert trusted.settings.runner.command == "evil"
    assert config_of(plain, elsewhere).untrusted is None
    meta["settings"]["runner"] = {"command": "more evil"}
    (elsewhere.path / "meta.json").write_text(json.dumps(meta))
    assert config_of(plain, elsewhere).untrusted is not None


def test_a_script_is_found_from_any_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "script.yaml").touch()
    session = SessionFolder(tmp_path / "session")
    session.path.mkdir()
    facts = {"model": "scripted:script.yaml", "cwd": str(home)}
    (session.path / "meta.json").write_text(json.dumps(facts))
    for folder, name in ((home, "script.yaml"), (tmp_path, str(home / "script.yaml"))):
        monkeypatch.chdir(folder)
        kept = kept_settings(session)
        assert kept is not None
        assert kept.tree["model"]["name"] == f"scripted:{name}"


def test_a_folder_without_settings_keeps_none(tmp_path: Path) -> None:
    assert kept_settings(SessionFolder(tmp_path)) is None
    (tmp_path / "meta.json").write_text("[1, 2]")
    assert kept_settings(SessionFolder(tmp_path)) is None


AGENT = """
import asyncio

async def shell(command: str) -> str:
    "Runs a command in the working folder of the agent."
    process = await asyncio.create_subprocess_shell(command, stdout=asyncio.subprocess.PIPE)
    return (await process.communicate())[0].decode()

async def run(ctx):
    messages = ctx.messages
    while True:
        reply = await ctx.chat(messages, tools=[shell, *ctx.tools])
        messages.append(reply.message)
        if not reply.tool_calls:
            return reply.content
        for call in reply.tool_calls:
            result = await ctx.call_tool(call.name, call.arguments)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
"""
RUNNER = Path(__file__).parents[3] / "docs" / "examples" / "runner.py"
CUT_OFF: list[dict[str, Any]] = [
    {"text": "first", "tool_calls": [bash("echo one")]},
    {"tool_calls": [bash("echo two; while [ ! -e go ]; do sleep 0.05; done; echo went")]},
    {"text": "the end"},
]


@pytest.mark.parametrize("runner", ["builtin", "process", "python"])
async def test_a_run_that_was_killed_goes_on_where_it_was(tmp_path: Path, runner: str) -> None:
    flags: dict[str, object] = {"limits.calls": 9}
    if runner == "process":
        flags["runner.command"] = shlex.join([sys.executable, str(RUNNER)])
    rows = Rows(tmp_path, CUT_OFF, **flags)
    if runner == "python":
        (tmp_path / "agent.py").write_text(AGENT)
        flags["runner.agent"] = "agent.py:run"
    folder = await killed(rows, flags, b'"two')
    past = recover(folder)
    config = config_of(load_settings({}, cwd=tmp_path, environ=rows.environ), SessionFolder(folder))
    assert config.settings.limits.calls == 9
    launcher, dataset = open_rows(config, Options(rows.rows))
    task = task_of(past, dataset)
    async with running(launcher, task, Fork(past)) as (opened, state):
        assert [call.content for call in state.calls][:1] == ["one\n"]
        (opened.folder.files / "go").touch()
        opened.session.run_on()
        await asyncio.wait_for(opened.session.settled(), 20)
        assert state.outcome == "completed"
        assert [call.content for call in state.calls] == ["one\n", "two\nwent\n"]
        assert state.started is not None
        assert state.started.change == "resumed"
        assert [entry.text for entry in state.entries if entry.kind == "error"] == []
    await launcher.aclose()
    dataset.close()


async def killed(rows: Rows, flags: dict[str, object], seen: bytes) -> Path:
    """The folder of a session whose process was killed once its recording had this."""
    settings = {f"AGENTSCOPE_{key.replace('.', '__').upper()}": str(value) for key, value in flags.items()}
    command = [sys.executable, "-m", "agentscope_tui", "run", str(rows.rows), "--no-sandbox", "--row", "0"]
    command += ["--model", str(rows.flags["model.name"])]
    sessions = rows.folder / "state" / "sessions"
    with subprocess.Popen(  # noqa: ASYNC220
        command,
        env=rows.environ | settings,
        cwd=rows.folder,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:

        def came() -> bool:
            assert process.poll() is None
            return any(seen in file.read_bytes() for file in sessions.glob("*/events.jsonl"))

        try:
            await wait_until(came, "the command's output", seconds=30)
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait(timeout=20)
    (folder,) = sessions.iterdir()
    return folder
