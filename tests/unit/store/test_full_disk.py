"""A disk that refuses to be written: the session goes on, the loss is told once, and recording resumes."""

from __future__ import annotations

import asyncio
import errno
import os
import resource
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from agentscope_tui.bus import EventBus
from agentscope_tui.clock import Clock
from agentscope_tui.errors import UserError
from agentscope_tui.event_lines import event_from_json
from agentscope_tui.events import RecordingChanged, SessionEvent, Submitted
from agentscope_tui.session.state import SessionState
from agentscope_tui.store import line_file
from agentscope_tui.store import recorder as module
from agentscope_tui.store.recorded_bus import recorded_bus
from agentscope_tui.store.recorder import Recorder
from waiting import wait_until

WRITE = os.pwrite


class Disk:
    """What `os.pwrite` finds: `room` bytes are left; None: as many as one likes."""

    room: int | None = None

    def write(self, to: int, data: Any, place: int) -> int:
        if self.room is None:
            return WRITE(to, data, place)
        if self.room == 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        part = bytes(data[: self.room])
        self.room -= len(part)
        return WRITE(to, part, place)


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    disk = Disk()
    monkeypatch.setattr(line_file.os, "pwrite", disk.write)
    monkeypatch.setattr(module, "RETRY", 0.01)
    return disk


@pytest.fixture
async def recorded(tmp_path: Path) -> AsyncIterator[tuple[EventBus, Recorder, list[SessionEvent]]]:
    bus, recorder = recorded_bus(tmp_path, "s", Clock())
    events: list[SessionEvent] = []
    bus.subscribe(events.append)
    yield bus, recorder, events
    await recorder.aclose()


Recorded = tuple[EventBus, Recorder, list[SessionEvent]]


def say(text: str) -> Submitted:
    return Submitted(call_id="c", answer=text)


def in_file(recorder: Recorder) -> list[SessionEvent]:
    return [event_from_json(line) for line in recorder.path.read_bytes().splitlines()]


async def test_the_loss_is_told_once_and_what_was_kept_is_written_later(
    disk: Disk, recorded: Recorded
) -> None:
    bus, recorder, events = recorded
    bus.publish(say("kept"))
    await recorder.flush()
    disk.room = 30
    for number in range(20):
        bus.publish(say(str(number)))
        await recorder.flush()
        await recorder.caught_up()
    assert [event.kind for event in events if event.kind != "submit"] == ["error", "recording"]
    assert [event.seq for event in in_file(recorder)] == [1]
    assert recorder.read(1, bus.last_seq) == events
    assert bus.subscription().drain() == events
    disk.room = None
    await wait_until(lambda: events[-1].kind == "recording", "the recording goes on")
    await recorder.flush()
    assert events[-1] == RecordingChanged(status="resumed", seq=23 + 1, at=events[-1].at, session_id="s")
    assert in_file(recorder) == events


async def test_the_lines_that_fit_are_written_whole(disk: Disk, recorded: Recorded) -> None:
    bus, recorder, events = recorded
    for number in range(10):
        bus.publish(say(str(number)))
    disk.room = 500
    await wait_until(lambda: len(events) == 12, "the loss")
    assert in_file(recorder) == events[: recorder.recorded]
    assert 2 <= recorder.recorded < 10
    assert recorder.path.read_bytes().endswith(b"}\n")


async def test_what_is_too_much_to_keep_is_a_gap_that_the_recording_tells(
    disk: Disk, recorded: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    bus, recorder, events = recorded
    slow = bus.subscription()
    monkeypatch.setattr(module, "MOST_KEPT", 1500)
    disk.room = 0
    bus.publish(say("first"))
    await wait_until(lambda: len(events) == 3, "the loss")
    for number in range(2000):
        bus.publish(say(str(number)))
    disk.room = None
    await wait_until(lambda: events[-1].kind == "recording" and len(events) > 3, "the recording goes on")
    bus.publish(say("last"))
    await recorder.flush()
    resumed = events[-2]
    assert isinstance(resumed, RecordingChanged)
    assert resumed.lost_first is not None
    assert resumed.lost_last == resumed.seq - 1 == 2003
    kept = in_file(recorder)
    assert kept == events[: resumed.lost_first - 1] + events[-2:]
    assert slow.drain(10_000)[:4] == events[:4]
    assert slow.pending == 0
    state = SessionState()
    for event in kept:
        state.apply(event)
    assert state.recorded
    assert state.entries[-1].text == f"events {resumed.lost_first} to 2003 are missing in it"


async def test_closing_does_not_wait_for_a_disk_that_is_full(disk: Disk, recorded: Recorded) -> None:
    bus, recorder, events = recorded
    disk.room = 0
    bus.publish(say("lost"))
    await asyncio.wait_for(recorder.aclose(), 10)
    assert [event.kind for event in events] == ["submit", "error", "recording"]
    assert in_file(recorder) == []


async def test_a_recording_that_was_deleted_is_told(disk: Disk, recorded: Recorded) -> None:
    bus, recorder, events = recorded
    recorder.path.unlink()
    bus.publish(say("lost"))
    await wait_until(lambda: len(events) == 3, "the loss")
    assert "its file was deleted" in str(events[1])
    assert recorder.read(1, 1) == [events[0]]


async def test_a_folder_that_cannot_be_written_is_an_error_for_the_user(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"cannot record the session in .*: No such file or directory\. Set"):
        recorded_bus(tmp_path / "nowhere", "s", Clock())


SCRIPT = """
import asyncio, sys
from pathlib import Path
from agentscope_tui.clock import Clock
from agentscope_tui.events import AgentNote
from agentscope_tui.store.recorded_bus import recorded_bus

async def main():
    bus, recorder = recorded_bus(Path(sys.argv[1]), "s", Clock())
    bus.subscribe(lambda event: print(event.kind, event.seq, flush=True))
    for number in range(10):
        await asyncio.to_thread(sys.stdin.readline)
        bus.publish(AgentNote(text="x" * 1000))
        await recorder.flush()
    await asyncio.to_thread(sys.stdin.readline)
    await recorder.aclose()

asyncio.run(main())
"""


def test_a_real_limit_on_the_size_of_files(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        limit = resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (4000, resource.RLIM_INFINITY))
        process.stdin.write("\n" * 10)
        process.stdin.flush()
        told = [process.stdout.readline() for _ in range(12)]
        events = [event_from_json(line) for line in (tmp_path / "events.jsonl").read_bytes().splitlines()]
        assert [event.seq for event in events] == [1, 2, 3]
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, limit)
        told.append(process.stdout.readline())
        process.stdin.write("\n")
        process.stdin.close()
        assert process.wait(timeout=20) == 0
    assert told[-1] == "recording 13\n"
    events = [event_from_json(line) for line in (tmp_path / "events.jsonl").read_bytes().splitlines()]
    assert [event.seq for event in events] == list(range(1, 14))
    assert [event.kind for event in events].count("error") == 1
