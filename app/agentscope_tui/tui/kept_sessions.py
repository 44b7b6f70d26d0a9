"""The sessions on disk, as the app sees them: the run index, which a thread keeps true."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping
from pathlib import Path

from agentscope_tui.datasets.dataset import Dataset
from agentscope_tui.store.index_database import Version
from agentscope_tui.store.run_index import RowSessions, RunIndex, Wanted
from agentscope_tui.store.session_row import SessionRow

THOROUGH_EVERY = 15
"""Rounds in which only new sessions are looked for, between two in which all are."""


class KeptSessions:
    """Every session of the state folder. All calls are made on the event loop."""

    def __init__(self, state: Path) -> None:
        self._state = state
        self._index: RunIndex | None = None
        self._opening = asyncio.Lock()
        self._stop = threading.Event()
        self._rounds = 0
        self.of_rows: Mapping[int, RowSessions] = {}
        """Those of the open dataset, by the row's index, as of the last `look`."""

    async def sync(
        self, on_progress: Callable[[int, int], None] | None = None, *, thorough: bool = False
    ) -> Version:
        """Find what is new on disk; gives another value when something was, whoever found it.

        `on_progress` is called in a thread.

        Raises:
            UserError: the folder of sessions cannot be read.
        """
        index = await self._opened()
        thorough = thorough or self._rounds % THOROUGH_EVERY == 0
        self._rounds += 1
        told = on_progress or (lambda done, total: None)
        return await asyncio.to_thread(index.sync, self._stop, told, thorough=thorough)

    async def look(self, dataset: Dataset) -> set[int]:
        """Take over what is known of a dataset's sessions by now; the rows of which that changed."""
        index = await self._opened()
        before = self.of_rows
        path, identity = str(dataset.path.absolute()), dataset.identity()
        self.of_rows = now = await asyncio.to_thread(index.of_rows, path, identity)
        return {row for row in before.keys() | now.keys() if before.get(row) != now.get(row)}

    async def find(self, wanted: Wanted) -> list[SessionRow]:
        """The sessions that are wanted, newest first."""
        return await asyncio.to_thread((await self._opened()).find, wanted)

    async def folder(self, session: SessionRow) -> Path:
        """Where a session is."""
        return (await self._opened()).folder(session)

    async def aclose(self) -> None:
        """Stop reading, and let go of the index."""
        self._stop.set()
        if self._index is not None:
            await asyncio.to_thread(self._index.close)

    async def _opened(self) -> RunIndex:
        async with self._opening:
            if self._index is None:
                self._index = await asyncio.to_thread(RunIndex, self._state)
            return self._index
