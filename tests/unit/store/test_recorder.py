"""The recorder: exactly the events, soon on disk, read back by number, and honest about a bad disk."""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from agentscope_tui.bus import EventBus
from agentscope_tui.event_lines import event_to_json
from agentscope_tui.events import SessionEvent, StateChanged, Submitted
from agentscope_tui.store import line_file
from agentscope_tui.store import recorder as module
from agentscope_tui.store.lock import SessionInUse
from agentscope_tui.store.recorder import Recorder
from waiting import wait_until

Make = Callable[[], tuple[EventBus, Recorder, list[SessionEvent], list[OSError]]]


@pytest.fixture
async def record(tmp_path: Path) -> AsyncIterator[Make]:
    open_ones: list[Recorder] = []

    def make() -> tuple[EventBus, Recorder, list[SessionEvent], list[OSError]]:
        errors: list[OSError] = []
        recorder = Recorder(tmp_path, on_error=errors.append, on_resumed=print)
        open_ones.append(recorder)
        bus, events = EventBus("s", backlog=recorder, tail=10), list[SessionEvent]()
        bus.subscribe(recorder)
        bus.subscribe(events.append)
        return bus, recorder, events, errors

    yield make
    for recorder in open_ones:
        await recorder.aclose()


def say(text: str) -> Submitted:
    return Submitted(call_id="c", answer=text)


async def test_the_lines_are_exactly_the_events(record: Make) -> None:
    bus, recorder, events, _ = record()
    for text in ["a", "zwei\nZeilen", "\ud800", "\x1b[31m"]:
        bus.publish(say(text))
    await recorder.flush()
    assert recorder.path.read_text() == "".join(event_to_json(event) + "\n" for event in events)


async def test_an_event_is_on_disk_soon_without_a_flush(record: Make) -> None:
    bus, recorder, _, _ = record()
    bus.publish(say("a"))
    await wait_until(lambda: recorder.recorded == 1, "the line on disk", seconds=5)
    assert recorder.path.read_bytes().count(b"\n") == 1


@pytest.mark.parametrize("count", [1, 1000])
async def test_flush_returns_when_all_that_was_taken_is_written(record: Make, count: int) -> None:
    bus, recorder, _, _ = record()
    for number in range(count):
        bus.publish(say(str(number)))
    await recorder.flush()
    assert recorder.path.read_bytes().count(b"\n") == count
    await recorder.flush()


async def test_the_end_of_a_turn_is_written_at_once(record: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "DELAY", 3600.0)
    bus, recorder, _, _ = record()
    bus.publish(say("a"))
    bus.publish(StateChanged(status="idle", outcome="completed"))
    await wait_until(lambda: recorder.recorded == 2, "both lines on disk")


async def test_closing_writes_what_waits(record: Make) -> None:
    bus, recorder, events, _ = record()
    for number in range(5):
        bus.publish(say(str(number)))
    await recorder.aclose()
    assert recorder.path.read_bytes().count(b"\n") == 5
    bus.publish(say("after the end"))
    await recorder.aclose()
    assert len(events) == 6
    assert recorder.path.read_bytes().count(b"\n") == 5


async def test_events_are_read_back_by_number(record: Make) -> None:
    bus, recorder, events, _ = record()
    for number in range(500):
        bus.publish(say(str(number)))
    await recorder.flush()
    for first, last in [(1, 500), (1, 1), (64, 66), (128, 300), (499, 500), (200, 199), (501, 900)]:
        assert recorder.read(first, last) == events[first - 1 : last]


async def test_a_subscription_far_behind_sees_every_event(record: Make) -> None:
    bus, recorder, events, _ = record()
    slow, seen = bus.subscription(), list[SessionEvent]()
    for number in range(300):
        bus.publish(say(str(number)))
        if number % 40 == 0:
            await recorder.flush()
        if number % 70 == 0:
            seen += slow.drain(25)
    while slow.pending:
        seen += slow.drain(25)
    assert seen == events


async def test_a_recording_is_private_and_new(record: Make, tmp_path: Path) -> None:
    before = os.umask(0o777)
    try:
        _, recorder, _, _ = record()
    finally:
        os.umask(before)
    assert stat.S_IMODE(recorder.path.stat().st_mode) == 0o600
    with pytest.raises(SessionInUse, match="is open in another agentscope"):
        Recorder(tmp_path, on_error=print, on_resumed=print)


async def test_a_folder_that_is_not_there_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Recorder(tmp_path / "nowhere", on_error=print, on_resumed=print)


async def test_short_writes_are_completed(record: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.pwrite
    monkeypatch.setattr(line_file.os, "pwrite", lambda to, data, place: write(to, bytes(data[:7]), place))
    bus, recorder, events, _ = record()
    bus.publish(say("a longer answer than seven bytes"))
    await recorder.flush()
    assert recorder.path.read_text() == event_to_json(events[0]) + "\n"


async def test_whoever_is_far_ahead_waits_until_the_recorder_has_caught_up(
    record: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "HIGH_WATER", 1000)
    monkeypatch.setattr(module, "DELAY", 3600.0)
    bus, recorder, _, _ = record()
    bus.publish(say("small"))
    await asyncio.wait_for(recorder.caught_up(), 10)
    bus.publish(say("x" * 2000))
    waiting = asyncio.create_task(recorder.caught_up())
    for _ in range(20):
        await asyncio.sleep(0)
    assert not waiting.done()
    await recorder.flush()
    await asyncio.wait_for(waiting, 10)
