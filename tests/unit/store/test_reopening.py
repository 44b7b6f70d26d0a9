"""A recording whose process died: cut at any byte it reads again, what hung has an end, and it goes on."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from agentscope_tui.config import load_settings
from agentscope_tui.datasets.task import Task
from agentscope_tui.errors import UserError
from agentscope_tui.event_lines import event_from_json
from agentscope_tui.events import SessionEvent, ToolResult
from agentscope_tui.options import Options
from agentscope_tui.session.forking import Fork
from agentscope_tui.session.launch import Launcher, open_rows
from agentscope_tui.session.state import SessionState
from agentscope_tui.store.lock import FolderLock, SessionInUse
from agentscope_tui.store.reopen import (
    CUT_OFF,
    as_it_stands,
    closing_events,
    closing_of,
    recover,
    whole_events,
)
from agentscope_tui.tools.spec import OnOutput, ToolOutcome
from fakes.engine import FakeModel, FakeTools, says, streams
from fakes.listed_sessions import write_recording
from fakes.session_rig import Rig, check_promises
from waiting import wait_until

BASH = ("bash", "{}")


async def recorded_lines(folder: Path) -> bytes:
    """A recording with all that may hang: a stream, tools, holds, a steer, an interrupt."""

    async def chatty(arguments: dict[str, object], on_output: OnOutput) -> ToolOutcome:
        await on_output("stdout", "über\n".encode())
        return ToolOutcome(content="über")

    model = FakeModel(says("look", BASH, BASH), streams("a", "b", "c"), says("again", BASH), says("done"))
    async with Rig(model, FakeTools(bash=chatty), mode="step", folder=folder) as rig:
        rig.session.send("go")
        await rig.until(lambda: rig.state.holds)
        rig.session.send("and this")
        rig.session.step(fine=True)
        for _ in range(12):
            await rig.until(lambda: rig.state.holds or rig.session.status == "idle")
            rig.session.step(fine=True)
            await asyncio.sleep(0)
    return b"".join(json_line(event) for event in rig.events)


def json_line(event: SessionEvent) -> bytes:
    return event.model_dump_json(exclude_none=True).encode() + b"\n"


async def test_cut_after_any_event_everything_has_an_end(tmp_path: Path) -> None:
    lines = (await recorded_lines(tmp_path)).splitlines(keepends=True)
    kinds = {event_from_json(line).kind for line in lines}
    assert {"paused", "steer", "tool_call", "tool_output", "assistant_delta"} <= kinds
    for count in range(1, len(lines) + 1):
        events, read = whole_events(b"".join(lines[:count]))
        assert (len(events), read) == (count, len(b"".join(lines[:count])))
        state = SessionState()
        for event in events:
            state.apply(event)
        closing = closing_events(events)
        assert closing_of(state, events[-1]) == closing
        events += closing
        state = SessionState()
        for event in events:
            state.apply(event)
        assert state.status in ("failed", "ended")
        check_promises(events, state)


async def test_cut_at_any_byte_only_the_broken_line_is_lost(tmp_path: Path) -> None:
    data = await recorded_lines(tmp_path)
    ends = [place + 1 for place, byte in enumerate(data) if byte == 10]
    for cut in range(ends[-8], len(data) + 1):
        events, read = whole_events(data[:cut])
        assert read == max(end for end in ends if end <= cut)
        assert len(events) == ends.index(read) + 1


def test_what_hung_says_so_and_what_was_cut_is_counted(tmp_path: Path) -> None:
    stamp = {"at": "2026-01-02T03:04:05Z", "session_id": "s"}
    data = [
        {"seq": 1, "kind": "session_started", "version": "1", **stamp},
        {"seq": 2, "kind": "llm_request", "call": 1, "turn": 1, "req_id": "r", **stamp},
        {"seq": 3, "kind": "assistant_delta", "call": 1, "text": "so f", **stamp},
        {"seq": 4, "kind": "assistant_delta", "call": 1, "text": "ar", **stamp},
        {"seq": 5, "kind": "tool_call", "call_id": "c9", "call": 1, "req_id": "t", "name": "bash", **stamp},
    ]
    (tmp_path / "events.jsonl").write_text("".join(json.dumps(line) + "\n" for line in data) + '{"seq":6,"k')
    recovered = recover(tmp_path)
    assert (recovered.session_id, recovered.closed, recovered.cut) == ("s", 3, 11)
    partial, result, end = recovered.events[5:]
    assert (partial.kind, str(partial)) == ("assistant_message", str(partial))
    assert "text='so far'" in str(partial)
    assert isinstance(result, ToolResult)
    assert (result.call_id, result.status, result.content) == ("c9", "interrupted", CUT_OFF)
    assert [event.seq for event in recovered.events] == list(range(1, 9))
    assert (end.kind, end.session_id, end.at) == ("session_ended", "s", recovered.events[0].at)


@pytest.mark.parametrize("content", ["", '{"seq":1,', "no json\n"])
def test_a_recording_with_no_whole_event_says_so(tmp_path: Path, content: str) -> None:
    (tmp_path / "events.jsonl").write_text(content)
    with pytest.raises(UserError, match="is empty or damaged from its beginning"):
        recover(tmp_path)


def test_a_folder_without_a_recording_says_so(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there is no recording to read in"):
        recover(tmp_path / "nowhere")


def test_what_is_read_stays_as_it_is(tmp_path: Path) -> None:
    """A recording may lie where nothing can be written."""
    write_recording(tmp_path / "theirs")
    (tmp_path / "theirs" / "lock").unlink()
    before = sorted((tmp_path / "theirs").iterdir())
    recover(tmp_path / "theirs")
    assert sorted((tmp_path / "theirs").iterdir()) == before


def test_only_a_session_that_runs_stands_without_an_end(tmp_path: Path) -> None:
    folder = write_recording(tmp_path / "session", ended=False)
    lock = FolderLock(folder)
    running = as_it_stands(folder).events
    lock.release()
    over = as_it_stands(folder).events
    assert over[:-1] == running
    assert (running[-1].kind, over[-1].kind) == ("usage", "session_ended")


def test_a_session_that_is_still_written_is_left_alone(tmp_path: Path) -> None:
    lock = FolderLock(tmp_path)
    with pytest.raises(SessionInUse, match="is open in another agentscope: end it there first"):
        recover(tmp_path)
    lock.release()
    with pytest.raises(UserError, match="there is no recording"):
        recover(tmp_path)


def rows_of(folder: Path) -> tuple[Launcher, Task]:
    script = {
        "scripts": [
            {
                "replies": [
                    {"text": "first", "tool_calls": [{"name": "bash", "arguments": {"command": "echo one"}}]},
                    {"tool_calls": [{"name": "bash", "arguments": {"command": "echo two; sleep 60"}}]},
                    {"text": "the end"},
                ]
            }
        ]
    }
    (folder / "script.yaml").write_text(yaml.safe_dump(script))
    (folder / "rows.jsonl").write_text('{"user_prompt": "go"}\n')
    flags = {"model.name": f"scripted:{folder / 'script.yaml'}", "sandbox.mode": "none"}
    environ = {**os.environ, "AGENTSCOPE_HOME": str(folder / "state")}
    launcher, dataset = open_rows(
        load_settings(flags, cwd=folder, environ=environ), Options(folder / "rows.jsonl")
    )
    row = dataset.row(0)
    dataset.close()
    assert isinstance(row, Task)
    return launcher, row


def run_rows(folder: Path) -> subprocess.Popen[bytes]:
    model = f"scripted:{folder / 'script.yaml'}"
    command = ["-m", "agentscope_tui", "run", str(folder / "rows.jsonl"), "--no-sandbox", "--model", model]
    environ = {**os.environ, "AGENTSCOPE_HOME": str(folder / "state")}
    return subprocess.Popen([sys.executable, *command], env=environ, stdout=subprocess.DEVNULL)


async def test_a_session_that_was_killed_is_read_again_and_continued(tmp_path: Path) -> None:
    launcher, row = rows_of(tmp_path)
    with run_rows(tmp_path) as process:
        folders = tmp_path / "state" / "sessions"

        def says_two() -> bool:
            return any(b'"two' in file.read_bytes() for file in folders.glob("*/events.jsonl"))

        await wait_until(says_two, "the second command's output", seconds=30)
        (folder,) = folders.iterdir()
        with pytest.raises(SessionInUse):
            recover(folder)
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=20)
    recovered = recover(folder)
    results = [event for event in recovered.events if isinstance(event, ToolResult)]
    assert [result.status for result in results] == ["done", "interrupted"]
    assert "two" in str(recovered.events)
    opened = await launcher.open(row, mode="run", fork=Fork(recovered))
    state = SessionState()
    opened.bus.subscribe(state.apply)
    await opened.start()
    await wait_until(lambda: state.holds, "the first new step is held")
    assert next(entry.text for entry in state.entries if entry.kind == "assistant") == "first"
    assert state.calls[0].state == "done"
    await opened.aclose()
    await launcher.aclose()
