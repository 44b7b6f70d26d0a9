"""A recording behind the screen: its playhead goes back and on, plays, and follows who still writes it."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from agentscope_tui.errors import UserError
from agentscope_tui.event_lines import event_to_json
from agentscope_tui.events import SessionEvent, ToolCallStarted
from agentscope_tui.store.lock import FolderLock
from agentscope_tui.store.past import PastSession
from agentscope_tui.tui.recorded_session import NEAR, RecordedRow
from agentscope_tui.tui.shown_row import News
from fakes.deep_picture import deep_picture, folded
from fakes.long_recordings import write_long
from waiting import wait_until

SIZE = 600_000


class Clock:
    """Seconds that a test lets go by."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


class Watched:
    """A recording, pumped as the screen does; `news` is all that came of it."""

    def __init__(self, folder: Path, events: list[SessionEvent]) -> None:
        self.row = RecordedRow.of_folder(folder, 3)
        self.events = events
        self.clock = self.row._clock = Clock()
        self.said: list[str] = []
        self.anew = 0

    def pump(self) -> News:
        news = self.row.pump()
        self.said += [news.said] if news.said else []
        self.anew += news.anew
        return news

    async def until(self, predicate: Callable[[], object], what: str) -> None:
        await wait_until(lambda: [self.pump()] and predicate(), what)

    async def arrives(self, seq: int) -> None:
        await self.until(lambda: not self.row.moving and self.row.at == seq, f"event {seq}")
        assert deep_picture(self.row.state) == deep_picture(folded(self.events[:seq]))


@pytest.fixture
def watched(tmp_path: Path) -> Watched:
    return Watched(tmp_path / "long", write_long(tmp_path / "long", SIZE))


def ends(events: list[SessionEvent]) -> list[int]:
    """The numbers of the events at which a model call is answered."""
    return [event.seq for event in events if event.kind == "assistant_message"]


async def test_it_opens_at_its_end(watched: Watched) -> None:
    row, count = watched.row, len(watched.events)
    assert (row.at, row.at_end, row.index, row.active, row.session) == (count, True, 3, False, None)
    assert row.now() == watched.events[-1].at
    assert deep_picture(row.state) == deep_picture(folded(watched.events))
    assert row.past().events == watched.events
    assert watched.pump() == News()


async def test_the_playhead_goes_by_event_and_by_call(watched: Watched) -> None:
    row, count = watched.row, len(watched.events)
    stops = ends(watched.events)
    row.step(-1)
    await watched.arrives(count - 1)
    assert watched.anew == 1
    row.step(1)
    await watched.arrives(count)
    # What is near is added to the state on screen, which is not drawn anew.
    assert watched.anew == 1
    row.step_call(-1)
    row.step_call(-1)
    await watched.arrives(stops[-2])
    assert row.now() == watched.events[stops[-2] - 1].at
    row.step_call(1)
    await watched.arrives(stops[-1])
    row.step_call(1)
    await watched.arrives(count)
    row.move_to(-5)
    await watched.arrives(1)
    row.step_call(-1)
    await watched.arrives(1)
    row.step_call(1)
    await watched.arrives(stops[0])
    row.move_to(stops[0] + NEAR)
    await watched.arrives(stops[0] + NEAR)
    mark = row.find_call(2)
    assert mark is not None
    row.move_to(mark.seq)
    await watched.arrives(stops[1])
    assert row.find_call(99) is None


async def test_a_move_can_be_left(watched: Watched) -> None:
    row, count = watched.row, len(watched.events)
    row.move_to(5)
    assert row.moving
    watched.clock.seconds = 10
    assert row.seeking is not None
    assert row.cancel()
    assert not row.moving
    await row.aclose()
    watched.pump()
    assert (row.at, row.state.last_seq) == (count, count)
    assert not row.cancel()


async def test_outputs_are_those_of_the_place(watched: Watched) -> None:
    row, events = watched.row, watched.events
    (call,) = [call for call in row.state.calls if call.call == 1]
    whole = row.output_of(call)
    assert "".join(run.text for run in whole.line(0).runs) == "line 1 0 0 of what is in the file"
    started = next(event for event in events if isinstance(event, ToolCallStarted))
    row.move_to(started.seq + 2)
    await watched.arrives(started.seq + 2)
    (call,) = row.state.calls
    assert row.output_of(call).newlines == 40 < whole.newlines


async def test_it_plays_to_its_end_by_the_clock(watched: Watched) -> None:
    row, count = watched.row, len(watched.events)
    row.play()
    await watched.until(lambda: not row.moving and row.at == 1, "the start")
    assert row.player.playing
    await watched.until(lambda: row.player.ahead, "what is read ahead")
    watched.clock.seconds += 0.041
    assert watched.pump().changed
    assert row.at == 2
    watched.clock.seconds += 0.4
    watched.pump()
    assert row.at == 12
    row.change_speed(2)
    watched.clock.seconds += 0.4
    watched.pump()
    assert row.at == 52
    row.pause()
    watched.clock.seconds += 100
    watched.pump()
    assert row.at == 52
    row.change_speed(99)
    row.play()
    await watched.until(lambda: not row.player.playing, "the end")
    await watched.arrives(count)
    assert row.at_end


async def test_moving_while_it_plays_goes_on_from_there(watched: Watched) -> None:
    row = watched.row
    row.play()
    await watched.until(lambda: row.player.ahead, "what is read ahead")
    row.move_to(60)
    await watched.arrives(60)
    await watched.until(lambda: row.player.ahead, "what is read ahead from there")
    watched.clock.seconds += 0.041
    watched.pump()
    assert row.at == 61
    await row.aclose()


class Writer:
    """Another process, as far as its lock and its file say."""

    def __init__(self, folder: Path, events: list[SessionEvent], begun: int) -> None:
        self.folder = folder
        self.events = events
        self.written = begun
        (folder / "events.jsonl").write_text("".join(map(self._line, events[:begun])))
        self.lock = FolderLock(folder)

    def _line(self, event: SessionEvent) -> str:
        return event_to_json(event) + "\n"

    def write(self, count: int, *, half: bool = False) -> None:
        new = self.events[self.written : self.written + count]
        self.written += count
        data = "".join(map(self._line, new))
        with (self.folder / "events.jsonl").open("a") as file:
            file.write(data)
            if half:
                file.write(self._line(self.events[self.written])[:20])


@pytest.fixture
def writer(tmp_path: Path) -> Writer:
    folder = tmp_path / "live"
    events = write_long(folder, SIZE)
    return Writer(folder, events, 20)


async def test_what_another_process_writes_is_followed(writer: Writer) -> None:
    watched = Watched(writer.folder, writer.events)
    row = watched.row
    assert (row.live, row.at) == (True, 20)
    row.follow()
    writer.write(30, half=True)
    await watched.until(lambda: row.at == 50, "what came")
    assert watched.anew == 0
    row.step(-10)
    await watched.arrives(40)
    with (writer.folder / "events.jsonl").open("r+") as file:
        file.truncate(row.tape.end)
    writer.write(50)
    await watched.until(lambda: row.tape.last == 100, "what came meanwhile")
    assert row.at == 40
    row.move_to(row.tape.last)
    await watched.arrives(100)
    writer.write(len(writer.events))
    await watched.until(lambda: not row.live, "the end of the session")
    await watched.arrives(len(writer.events))
    assert watched.said == ["The session that was followed has ended."]
    writer.lock.release()
    await row.aclose()


async def test_a_writer_that_dies_is_told_and_what_hung_gets_an_end(writer: Writer) -> None:
    watched = Watched(writer.folder, writer.events)
    row = watched.row
    row.follow()
    writer.write(60)
    await watched.until(lambda: row.at == 80, "what came")
    writer.lock.release()
    await watched.until(lambda: row.state.status == "failed", "the end")
    assert not row.live
    assert watched.said == ["The agentscope that wrote this session ended before the session did."]
    assert not any(entry.live for entry in row.state.entries)
    assert row.at == row.tape.last > 80
    row.step(-2)
    await watched.until(lambda: not row.moving, "two back")
    row.step(2)
    await watched.until(lambda: not row.moving, "two on")
    assert row.state.status == "failed"
    assert row.past().closed == row.tape.last - 80


@pytest.mark.parametrize(("how", "said"), [("deleted", "was deleted"), ("cut", "was cut short")])
async def test_what_is_done_to_the_file_is_said(writer: Writer, how: str, said: str) -> None:
    watched = Watched(writer.folder, writer.events)
    row = watched.row
    row.follow()
    file = writer.folder / "events.jsonl"
    if how == "deleted":
        file.unlink()
    else:
        os.truncate(file, 100)
    await watched.until(lambda: not row.live, said)
    assert said in watched.said[0]
    assert said.upper() in row.problem
    assert row.at == 20
    row.step(-1)
    await watched.until(lambda: not row.moving, "a step in what is left")
    await row.aclose()


async def test_a_file_that_becomes_shorter_is_said_when_it_is_missed(
    watched: Watched, tmp_path: Path
) -> None:
    os.truncate(tmp_path / "long" / "events.jsonl", 1_000)
    watched.row.move_to(len(watched.events) // 2)
    await watched.until(lambda: watched.row.problem, "the problem")
    assert watched.row.problem == "SHORTER THAN IT WAS"


async def test_a_recording_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no recording"):
        RecordedRow.of_folder(tmp_path / "none")
    (tmp_path / "events.jsonl").write_text("not JSON\n")
    with pytest.raises(UserError, match="damaged from its beginning"):
        RecordedRow.of_folder(tmp_path)


async def test_an_imported_session_has_a_playhead_too(watched: Watched) -> None:
    past = PastSession(watched.events)
    watched.row = RecordedRow.of_past(past, None)
    count = len(watched.events)
    assert watched.row.past() is past
    watched.row.step(-3)
    await watched.arrives(count - 3)
    watched.row.step_call(-1)
    await watched.arrives(ends(watched.events)[-1])
    assert watched.row.session_id == "long"
    assert threading.active_count() < 50
