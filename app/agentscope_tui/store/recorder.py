"""The recorder: a session's events as append-only JSON lines, written in batches off the loop.

A batch is on disk (not synced) within 100 ms; `flush` writes at once. When writing fails the session goes
on and the loss is told once.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from bisect import bisect_right
from collections.abc import Callable
from pathlib import Path

from agentscope_tui.events import SessionEvent, event_from_json, event_to_json

DELAY = 0.05
HIGH_WATER = 8 * 1024 * 1024
"""Bytes that may wait to be written before the session has to stop reading frames."""
INDEX_EVERY = 64
_FLUSHED = frozenset({"paused", "state", "session_ended"})
"""Kinds after which a user may look at the file: written at once."""


class Recorder:
    """Writes `events.jsonl` in a session's folder. Subscribe it to the bus before the first event."""

    def __init__(self, folder: Path, *, on_error: Callable[[OSError], None]) -> None:
        """Creates the file (mode 0600).

        Raises:
            OSError: the folder cannot be written.
        """
        self.path = folder / "events.jsonl"
        self._on_error = on_error
        self._file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        self._waiting: list[bytes] = []
        self._waiting_size = 0
        self._size = 0
        self._taken = 0
        self._recorded = 0
        self._places: list[tuple[int, int]] = []
        self._wake = asyncio.Event()
        self._hurry = asyncio.Event()
        self._written = asyncio.Condition()
        self._failed = False
        self._closing = False
        self._writer = asyncio.create_task(self._write_batches(), name="recorder")

    def __call__(self, event: SessionEvent) -> None:
        """The bus callback: takes one event, never waits."""
        if self._failed or self._closing:
            return
        line = event_to_json(event).encode() + b"\n"
        if event.seq % INDEX_EVERY == 1 or not self._places:
            self._places.append((event.seq, self._size))
        self._waiting.append(line)
        self._waiting_size += len(line)
        self._size += len(line)
        self._taken = event.seq
        self._wake.set()
        if event.kind in _FLUSHED:
            self._hurry.set()

    @property
    def recorded(self) -> int:
        """The number of the newest event that is in the file."""
        return self._recorded

    async def flush(self) -> None:
        """Return once everything taken so far is written (or writing has failed)."""
        taken = self._taken
        self._hurry.set()
        async with self._written:
            await self._written.wait_for(lambda: self._recorded >= taken or self._failed)

    async def caught_up(self) -> None:
        """Return at once, unless the recorder is far behind: then when it is not any more."""
        if self._waiting_size > HIGH_WATER:
            async with self._written:
                await self._written.wait_for(lambda: self._waiting_size <= HIGH_WATER or self._failed)

    def read(self, first: int, last: int) -> list[SessionEvent]:
        """The recorded events with `first <= seq <= last` (the bus's backlog)."""
        place = bisect_right(self._places, (first, self._size)) - 1
        if place < 0 or first > last:
            return []
        events: list[SessionEvent] = []
        with self.path.open("rb") as file:
            file.seek(self._places[place][1])
            for line in file:
                if not line.endswith(b"\n"):
                    break
                event = event_from_json(line)
                if event.seq > last:
                    break
                if event.seq >= first:
                    events.append(event)
        return events

    async def aclose(self) -> None:
        """Write what waits and close the file."""
        if not self._closing:
            self._closing = True
            self._wake.set()
            self._hurry.set()
            await self._writer
            os.close(self._file)

    async def _write_batches(self) -> None:
        while not self._closing or self._waiting:
            await self._wake.wait()
            if not self._closing:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._hurry.wait(), DELAY)
            self._wake.clear()
            self._hurry.clear()
            batch, self._waiting = self._waiting, []
            taken = self._taken
            failure: OSError | None = None
            try:
                if batch:
                    await asyncio.to_thread(self._write, b"".join(batch))
                self._recorded = taken
            except OSError as error:
                failure = error
                self._failed = True
                self._waiting.clear()
            async with self._written:
                self._waiting_size = sum(map(len, self._waiting))
                self._written.notify_all()
            if failure is not None:
                self._on_error(failure)
                return

    def _write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(self._file, view) :]
