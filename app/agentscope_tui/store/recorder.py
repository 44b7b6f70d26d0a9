"""The recorder: a session's events as append-only JSON lines, written in batches (`store.together`).

A batch is on disk (not synced) within 100 ms; `flush` writes at once. When writing fails the session goes
on: the loss is told once, the events are kept in memory, up to a bound, and writing is tried again. A
recording that becomes long is indexed as it grows.
"""

from __future__ import annotations

import asyncio
import logging
from bisect import bisect_right
from collections import deque
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from agentscope_tui.event_lines import event_from_json, event_to_json
from agentscope_tui.events import Paused, SessionEnded, SessionEvent, StateChanged
from agentscope_tui.store.indexing import Indexing
from agentscope_tui.store.line_file import LineFile
from agentscope_tui.store.lock import FolderLock
from agentscope_tui.store.together import together
from agentscope_tui.waiting import set_within

log = logging.getLogger(__name__)

DELAY = 0.05
RETRY = 1.0
"""Seconds between two attempts to write while the disk refuses."""
HIGH_WATER = 8 * 1024 * 1024
"""Bytes that may wait to be written before the session has to stop reading frames."""
MOST_KEPT = 32 * 1024 * 1024
"""Bytes that wait for a disk that refuses to be written; the events after them are lost."""
INDEX_EVERY = 64


class Lost(NamedTuple):
    """The numbers of the events that are not in the recording, both included."""

    first: int
    last: int


class _Line(NamedTuple):
    seq: int
    data: bytes


class Recorder:
    """Writes `events.jsonl` in a session's folder. Subscribe it to the bus before the first event."""

    def __init__(
        self,
        folder: Path,
        *,
        on_error: Callable[[OSError], None],
        on_resumed: Callable[[Lost | None], None],
    ) -> None:
        """Locks the folder and creates the file (mode 0600).

        `on_error` is called once when writing fails, `on_resumed`, with what was lost, when it goes on.

        Raises:
            SessionInUse: another process writes it.
            OSError: the folder cannot be written.
        """
        self.path = folder / "events.jsonl"
        self._on_error = on_error
        self._on_resumed = on_resumed
        self._lock = FolderLock(folder)
        self._indexing = Indexing(folder)
        try:
            self._file = LineFile(self.path)
        except OSError:
            self._lock.release()
            raise
        self._waiting: deque[_Line] = deque()
        self._waiting_size = 0
        self._size = 0
        self._taken = 0
        self._recorded = 0
        self._lost: Lost | None = None
        self._places: list[tuple[int, int]] = []
        self._due = asyncio.Event()
        """Whether something is to be written now."""
        self._timer: asyncio.TimerHandle | None = None
        self._end = asyncio.Event()
        self._written = asyncio.Event()
        """Set and cleared after each batch, for those who wait for one."""
        self._failing = False
        self._writer = asyncio.create_task(self._write_batches(), name="recorder")

    def __call__(self, event: SessionEvent) -> None:
        """The bus callback: takes one event, never waits."""
        if self._end.is_set():
            return
        data = event_to_json(event).encode() + b"\n"
        self._taken = event.seq
        if self._failing and (self._lost or self._waiting_size + len(data) > MOST_KEPT):
            self._lost = Lost(self._lost.first if self._lost else event.seq, event.seq)
            return
        if event.seq % INDEX_EVERY == 1 or not self._places:
            self._places.append((event.seq, self._size))
        self._waiting.append(_Line(event.seq, data))
        self._waiting_size += len(data)
        self._size += len(data)
        if _is_looked_for(event):
            self._due.set()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(DELAY, self._due.set)

    @property
    def recorded(self) -> int:
        """The number of the newest event that is in the file, or lost."""
        return self._lost.last if self._lost else self._recorded

    async def flush(self) -> None:
        """Return once everything taken so far is written, or writing has failed."""
        taken = self._taken
        self._due.set()
        while self._recorded < taken and not self._failing:
            await self._written.wait()

    async def caught_up(self) -> None:
        """Return at once, unless the recorder is far behind: then when it no longer is, or cannot write."""
        while self._waiting_size > HIGH_WATER and not self._failing:
            await self._written.wait()

    def read(self, first: int, last: int) -> list[SessionEvent]:
        """The events with `first <= seq <= last` that are not lost (the bus's backlog)."""
        place = bisect_right(self._places, (first, self._size)) - 1
        if place < 0 or first > last:
            return []
        events: list[SessionEvent] = []
        if first <= self._recorded:
            # The file may be ahead: a batch counts as recorded when all of it is written.
            in_file = min(last, self._recorded)
            for event in map(event_from_json, self._file.lines(self._places[place][1])):
                if event.seq > in_file:
                    break
                if event.seq >= first:
                    events.append(event)
        return events + [event_from_json(line.data) for line in self._waiting if first <= line.seq <= last]

    async def aclose(self) -> None:
        """Write what waits and close the file. What a disk that refuses does not take now is lost."""
        if not self._end.is_set():
            self._end.set()
            self._due.set()
            await self._writer
            if self._failing:
                log.error("%s lacks its end: events from number %d on", self.path, self._recorded + 1)
            self._file.close()
            try:
                await self._indexing.aclose(self._file.size)
            finally:
                self._lock.release()

    async def _write_batches(self) -> None:
        while not self._end.is_set() or self._waiting:
            await self._due.wait()
            self._due.clear()
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
            failure = await self._write_waiting() if self._waiting else None
            self._indexing.grew(self._file.size)
            self._written.set()
            self._written.clear()
            if failure is None:
                continue
            if self._end.is_set():
                return
            await set_within(self._end, RETRY)
            self._due.set()

    async def _write_waiting(self) -> OSError | None:
        """Write all that waits; the reason where it could not be written."""
        batch, before = list(self._waiting), self._file.size
        failure: OSError | None = None
        try:
            await together(partial(self._file.append, b"".join(line.data for line in batch)))
        except OSError as error:
            failure = error
        written = self._file.size - before
        while written:
            line = self._waiting.popleft()
            written -= len(line.data)
            self._waiting_size -= len(line.data)
            self._recorded = line.seq
        if failure is not None and not self._failing:
            self._failing = True
            self._on_error(failure)
        elif failure is None and self._failing:
            self._failing = False
            lost, self._lost = self._lost, None
            self._recorded = lost.last if lost else self._recorded
            self._on_resumed(lost)
        return failure


def _is_looked_for(event: SessionEvent) -> bool:
    """Whether a user may look at the file after it, so that it is written at once."""
    match event:
        case Paused() | SessionEnded():
            return True
        case StateChanged():
            return event.outcome is not None
        case _:
            return False
