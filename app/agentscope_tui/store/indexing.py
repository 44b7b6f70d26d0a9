"""Indexing a recording while it is written: in a thread, each time it has become half as long again."""

from __future__ import annotations

import asyncio
import logging
import threading
from pathlib import Path

from agentscope_tui.store.event_source import FileEvents
from agentscope_tui.store.tape import GROWTH, SMALL, Stopped, Tape

log = logging.getLogger(__name__)


class Indexing:
    """Keeps the index of one session's folder up to date. What fails is no harm: it can be made later."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._due = float(SMALL)
        self._stop = threading.Event()
        self._working: asyncio.Task[None] | None = None

    def grew(self, size: int) -> None:
        """The recording has this many bytes now."""
        if size >= self._due and (self._working is None or self._working.done()):
            self._due = size * GROWTH
            self._working = asyncio.create_task(self._index(), name="index the recording")

    async def aclose(self, size: int) -> None:
        """Index what came last. A cancelled call stops that."""
        try:
            if self._working is not None:
                await asyncio.shield(self._working)
            if size >= SMALL:
                await self._index()
        except asyncio.CancelledError:
            self._stop.set()
            raise

    async def _index(self) -> None:
        try:
            await asyncio.to_thread(index, self._folder, self._stop)
        except (Stopped, OSError) as error:
            log.info("no index of %s: %s", self._folder, error or "stopped")


def index(folder: Path, stop: threading.Event) -> None:
    """Write the index of a recording as it is now; takes its time, for others are at work.

    Raises:
        Stopped: `stop` was set.
        OSError: the recording cannot be read, or the index not written.
    """
    tape = Tape(FileEvents(folder / "events.jsonl"), folder)
    tape.save_index(tape.to_end(stop, gently=True))
