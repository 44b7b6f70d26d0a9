"""`events.idx` and the tape: a long recording opens at its end, goes back and on, and needs no index."""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentscope_tui.event_lines import event_to_json
from agentscope_tui.events import SessionEvent, ToolOutput, UserMessageSent
from agentscope_tui.store import event_index, indexing
from agentscope_tui.store import tape as tapes
from agentscope_tui.store.event_index import INDEX_FILE, read_index
from agentscope_tui.store.event_source import FileEvents, GivenEvents, Place, PlacedEvent
from agentscope_tui.store.indexing import index
from agentscope_tui.store.lock import FolderLock
from agentscope_tui.store.recorded_bus import recorded_bus
from agentscope_tui.store.tape import SMALL, Stopped, Tape
from fakes.deep_picture import deep_picture, folded
from fakes.long_recordings import write_long
from waiting import wait_until

SIZE = 7 * SMALL // 4


class CountedEvents(FileEvents):
    """Says from where on the file was read."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.starts: list[int] = []

    def read(self, start: int, end: int | None = None) -> Iterator[list[PlacedEvent]]:
        if end is None:
            self.starts.append(start)
        return super().read(start, end)


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[SessionEvent]]:
    """An indexed recording, and its events."""
    folder = tmp_path_factory.mktemp("sessions") / "long"
    events = write_long(folder, SIZE)
    index(folder, threading.Event())
    return folder, events


def opened(folder: Path) -> Tape:
    return Tape(CountedEvents(folder / "events.jsonl"), folder)


def copy(folder: Path, tmp_path: Path) -> Path:
    shutil.copytree(folder, tmp_path / "copy")
    return tmp_path / "copy"


def test_the_end_is_there_without_what_comes_before_it(long: tuple[Path, list[SessionEvent]]) -> None:
    folder, events = long
    tape = opened(folder)
    fold = tape.to_end(threading.Event())
    size = (folder / "events.jsonl").stat().st_size
    assert tape.source.starts == [size]
    assert (tape.last, tape.end) == (len(events), size)
    assert deep_picture(fold.state) == deep_picture(folded(events))
    assert (folder / INDEX_FILE).stat().st_size < size // 4
    assert stat.S_IMODE((folder / INDEX_FILE).stat().st_mode) == 0o600
    assert not [path for path in folder.iterdir() if path.name.startswith(".")]


def test_any_place_is_what_was_folded_up_to_it(long: tuple[Path, list[SessionEvent]]) -> None:
    folder, events = long
    tape = opened(folder)
    tape.to_end(threading.Event())
    count = len(events)
    for seq in (count - 1, count - 2, count // 2, count // 2 - 300, 3, 1, count, count + 10):
        fold = tape.at(seq, threading.Event())
        assert fold.seq == min(seq, count)
        assert fold.at == events[fold.seq - 1].at
        assert deep_picture(fold.state) == deep_picture(folded(events[:seq]))
        after = [one.event for one in tape.after(fold.seq, fold.end, 50)]
        assert after == events[fold.seq : fold.seq + len(after)]
        assert len(after) >= min(50, count - fold.seq)


def test_a_step_back_begins_near_where_the_last_one_ended(long: tuple[Path, list[SessionEvent]]) -> None:
    folder, events = long
    tape = opened(folder)
    tape.to_end(threading.Event())
    middle = len(events) - 20
    tape.at(middle, threading.Event())
    tape.source.starts.clear()
    tape.at(middle - 1, threading.Event())
    (start,) = tape.source.starts
    between = [event for event in events if event.seq > middle - 300]
    assert start > tape.end - sum(len(event_to_json(event)) + 1 for event in between)


def test_marks_are_the_same_with_and_without_an_index(
    long: tuple[Path, list[SessionEvent]], tmp_path: Path
) -> None:
    folder, events = long
    with_index = opened(folder)
    with_index.to_end(threading.Event())
    without = Tape(FileEvents(folder / "events.jsonl"))
    without.to_end(threading.Event())
    given = Tape(GivenEvents(events))
    given.to_end(threading.Event())
    assert with_index.marks == without.marks
    assert [mark._replace(start=0) for mark in given.marks] == [
        mark._replace(start=0) for mark in without.marks
    ]
    answers = [mark for mark in without.marks if mark.kind == "answer"]
    assert [mark.call for mark in answers] == list(range(1, len(answers) + 1))
    for mark in answers:
        event = without.source.event(_line(folder, mark.start))
        assert (event.kind, event.seq) == ("assistant_message", mark.seq)


def _line(folder: Path, start: int) -> Place:
    data = (folder / "events.jsonl").read_bytes()
    return Place(start, data.index(b"\n", start) + 1)


def check_opens(folder: Path, events: list[SessionEvent]) -> Tape:
    tape = opened(folder)
    fold = tape.to_end(threading.Event())
    assert deep_picture(fold.state) == deep_picture(folded(events))
    assert tape.last == len(events)
    return tape


def test_without_an_index_all_is_read_and_it_is_made_again(
    long: tuple[Path, list[SessionEvent]], tmp_path: Path
) -> None:
    folder, events = copy(long[0], tmp_path), long[1]
    (folder / INDEX_FILE).unlink()
    tape = check_opens(folder, events)
    assert tape.source.starts == [0]
    tape.save_index(tape.to_end(threading.Event()))
    assert check_opens(folder, events).source.starts != [0]


@pytest.mark.parametrize("how", ["empty", "garbage", "cut", "version", "no file", "a folder"])
def test_an_index_that_is_none_is_not_used(
    long: tuple[Path, list[SessionEvent]], tmp_path: Path, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, events = copy(long[0], tmp_path), long[1]
    file = folder / INDEX_FILE
    data = file.read_bytes()
    match how:
        case "empty":
            file.write_bytes(b"")
        case "garbage":
            file.write_bytes(random.Random(1).randbytes(10_000))
        case "cut":
            file.write_bytes(data[: data.index(b"\n") + 100])
        case "version":
            monkeypatch.setattr(event_index, "VERSION", "another")
        case "no file":
            file.unlink()
        case "a folder":
            file.unlink()
            file.mkdir()
    check_opens(folder, events)


def test_an_index_of_another_recording_is_used_as_far_as_it_fits(
    long: tuple[Path, list[SessionEvent]], tmp_path: Path
) -> None:
    folder, events = copy(long[0], tmp_path), long[1]
    checkpoints, _ = read_index(folder)
    lines = (folder / "events.jsonl").read_bytes()
    cut = lines[: checkpoints[1].end]
    (folder / "events.jsonl").write_bytes(cut)
    tape = check_opens(folder, events[: checkpoints[1].seq])
    assert tape.source.starts == [checkpoints[1].end]
    other = [event.model_copy(update={"session_id": "a-longer-name"}) for event in events]
    (folder / "events.jsonl").write_text("".join(event_to_json(event) + "\n" for event in other))
    assert check_opens(folder, other).source.starts == [0]


def test_whatever_a_stranger_writes_into_an_index_the_recording_opens(
    long: tuple[Path, list[SessionEvent]], tmp_path: Path
) -> None:
    folder, events = copy(long[0], tmp_path), long[1]
    good = (folder / INDEX_FILE).read_bytes()
    drawn = random.Random(7)
    for _ in range(25):
        data = bytearray(good)
        for _ in range(drawn.choice((1, 3, 30))):
            place = drawn.randrange(len(data)) if drawn.random() < 0.5 else drawn.randrange(2_000)
            data[place] = drawn.choice(b'0123456789"[]{},-:\n ')
        (folder / INDEX_FILE).write_bytes(data)
        tape = opened(folder)
        fold = tape.to_end(threading.Event())
        assert fold.seq == len(events)
        assert fold.state.status == "ended"
        for view in fold.state.calls:
            assert isinstance(view.content + view.arguments, str)
        for view in drawn.sample(fold.state.calls, 3):
            assert len([*view.output]) == len(view.output)
        tape.at(len(events) // 2, threading.Event())


def test_reading_stops_when_it_is_told_to(long: tuple[Path, list[SessionEvent]], tmp_path: Path) -> None:
    folder = long[0]
    stop = threading.Event()
    told: list[float] = []

    def tell(done: float) -> None:
        told.append(done)
        stop.set()

    with pytest.raises(Stopped):
        Tape(FileEvents(folder / "events.jsonl")).to_end(stop, tell)
    assert 0 < told[0] < 0.5
    with pytest.raises(Stopped):
        opened(folder).at(len(long[1]) - 5, stop)


def test_a_short_recording_has_no_index(tmp_path: Path) -> None:
    folder = tmp_path / "short"
    write_long(folder, SMALL // 4)
    index(folder, threading.Event())
    assert not (folder / INDEX_FILE).exists()


def test_an_index_that_cannot_be_written_leaves_the_old_one(
    long: tuple[Path, list[SessionEvent]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, events = copy(long[0], tmp_path), long[1]
    with (folder / "events.jsonl").open("a") as file:
        for number in range(2_000):
            more = UserMessageSent(msg_id="x", text="more " * 100, turn=2)
            file.write(event_to_json(more.model_copy(update={"seq": len(events) + number + 1})) + "\n")
    before = (folder / INDEX_FILE).read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="No space"):
        index(folder, threading.Event())
    assert (folder / INDEX_FILE).read_bytes() == before
    assert sorted(path.name for path in folder.iterdir()) == [
        INDEX_FILE,
        "events.jsonl",
        "meta.json",
        "outputs",
    ]


async def test_a_recording_is_indexed_while_it_grows_and_at_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (indexing, tapes):
        monkeypatch.setattr(module, "SMALL", 64 * 1024)
    from agentscope_tui.clock import Clock

    bus, recorder = recorded_bus(tmp_path, "s", Clock())
    text = "x" * 1_000

    async def say(kilobytes: int) -> None:
        for _ in range(kilobytes):
            bus.publish(ToolOutput(call_id="c", stream="stdout", text=text))
        await recorder.flush()

    await say(100)
    await wait_until(lambda: read_index(tmp_path)[0], "an index while it is written")
    early = read_index(tmp_path)[0][-1].seq
    await say(50)
    await recorder.aclose()
    assert early <= 100 < read_index(tmp_path)[0][-1].seq == 150
    FolderLock(tmp_path).release()


async def test_closing_that_is_cancelled_stops_the_indexing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, ended = threading.Event(), threading.Event()

    def endless(folder: Path, stop: threading.Event) -> None:
        begun.set()
        assert stop.wait(20)
        ended.set()

    monkeypatch.setattr(indexing, "index", endless)
    work = indexing.Indexing(tmp_path)
    work.grew(SMALL)
    closing = asyncio.create_task(work.aclose(SMALL))
    await asyncio.to_thread(begun.wait, 20)
    closing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await closing
    assert await asyncio.to_thread(ended.wait, 20)
