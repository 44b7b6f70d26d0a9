"""What the rows pane looks for in all rows: a filter's, an order's and a search's work, in threads.

Every call is made on the event loop; only the looking itself happens in a thread, a report at a time.
"""

from __future__ import annotations

import asyncio
import threading
from array import array
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from typing import Any, TypeVar

from agentscope_tui.datasets.expression import Expression
from agentscope_tui.datasets.query import Order, find, needs_no_rows, ordered, search
from agentscope_tui.datasets.row_set import RowSet, neighbour
from agentscope_tui.tui.dataset_rows import DatasetRows

T = TypeVar("T")


class RowQueries:
    """Runs one filter with its order, and one search, over the rows of a dataset."""

    def __init__(
        self, rows: DatasetRows, *, on_rows: Callable[[bool], None], on_hits: Callable[[], None]
    ) -> None:
        """`on_rows` is called when other rows are shown (True) or there is progress, with more at the end
        (False); `on_hits` when the search has found some.
        """
        self._rows = rows
        self._on_rows = on_rows
        self._on_hits = on_hits
        self._steps: set[asyncio.Task[Any]] = set()
        self._stops: set[threading.Event] = set()
        self._touched: set[int] = set()
        self.arranging = ""
        """What is done to the rows now, as in "filtering"; empty when they are as they should be."""
        self.arranged = 0
        """Rows that were looked at for it."""
        self.needle = ""
        """The text that is searched for; empty: none."""
        self.searching = False
        self._hits = RowSet()
        self._flags: tuple[object, bytearray] = (None, bytearray())
        self._arrangements = 0
        self._is_filtered = True
        self._runs = 0

    # Filter and order

    async def arrange(self, expression: Expression | None, order: Order | None) -> None:
        """Show what passes a filter, in an order. A call that is cancelled leaves the rows found so far.

        Raises:
            UserError: the dataset cannot be read.
        """
        arrangement = self._rows.arrangement
        self._runs += 1
        run = self._runs
        try:
            if expression is not arrangement.expression or not self._is_filtered:
                self._is_filtered = False
                arrangement.filter(expression)
                await self._filter(expression)
                self._is_filtered = True
            arrangement.sort(order)
            self._arrangement_changed(True)
            if order is not None:
                await self._sort(order)
        finally:
            # Where this was cancelled, the next call may already be at work.
            if run == self._runs:
                self.arranging = ""
                self._arrangement_changed(False)
        for index in self._touched:
            self.session_changed(index)
        self._touched.clear()

    async def _filter(self, expression: Expression | None) -> None:
        self._arrangement_changed(True)
        if expression is None:
            return
        rows = self._rows
        self.arranging, self.arranged = "filtering", 0
        stop = threading.Event()
        among = None
        if needs_no_rows(expression):
            offset, count = rows.dataset.offset, len(rows.dataset)
            among = array("I", sorted(at for index in rows.standings if 0 <= (at := index - offset) < count))
        reports = find(rows.dataset, expression.matches, rows.standings, stop, among=among)
        async for report in self._reports(reports, stop):
            rows.arrangement.passes(report.positions)
            self.arranged = report.looked_at
            self._arrangement_changed(False)

    async def _sort(self, order: Order) -> None:
        rows = self._rows
        self.arranging, self.arranged = "sorting", 0
        stop = threading.Event()
        passed = rows.arrangement.passed
        among = None if passed is None else passed[:]
        reports = ordered(rows.dataset, order, rows.standings, stop, among=among)
        async for report in self._reports(reports, stop):
            self.arranged = report.looked_at
            if report.positions is not None:
                rows.arrangement.ordered(report.positions)
            self._arrangement_changed(report.positions is not None)

    def session_changed(self, index: int) -> bool:
        """A row's session stands otherwise; whether other rows are shown now."""
        if self.arranging:
            self._touched.add(index)
            return False
        changed = self._rows.arrangement.session_changed(index)
        if changed:
            self._arrangement_changed(True)
        return changed

    def sessions_changed(self, indices: Iterable[int]) -> bool:
        """The same of many rows at once."""
        if self.arranging:
            self._touched.update(indices)
            return False
        changed = [index for index in indices if self._rows.arrangement.session_changed(index)]
        if changed:
            self._arrangement_changed(True)
        return bool(changed)

    def _arrangement_changed(self, others: bool) -> None:
        self._arrangements += 1
        self._on_rows(others)

    # Search

    async def search(self, needle: str, start: int) -> None:
        """Find the rows with this text, from position `start` on; empty: search no more.

        Raises:
            UserError: the dataset cannot be read.
        """
        hits = self._hits = RowSet()
        self.needle, self.searching = needle, bool(needle)
        self._on_hits()
        if not needle:
            return
        stop = threading.Event()
        rows = self._rows
        try:
            reports = search(rows.dataset, needle, stop, start=start)
            async for report in self._reports(reports, stop):
                if report.positions:
                    hits.put(report.positions)
                    self._on_hits()
        finally:
            if hits is self._hits:
                self.searching = False
                self._on_hits()

    @property
    def hits(self) -> int:
        """The rows found so far, of those that are shown."""
        return self._in_order().count(1)

    def hit_number(self, place: int) -> int:
        """Which of the rows found the one at this place is, from 1; 0: it is none."""
        flags = self._in_order()
        return flags.count(1, 0, place + 1) if place < len(flags) and flags[place] else 0

    def next_hit(self, place: int, *, backwards: bool = False) -> int | None:
        """The place of the next row found after a place."""
        return neighbour(self._in_order(), place, backwards=backwards)

    def _in_order(self) -> bytearray:
        """A 1 for each place where a row was found."""
        version = (id(self._hits), self._hits.version, self._arrangements, len(self._rows))
        if self._flags[0] != version:
            self._flags = version, self._hits.flags(self._rows.arrangement.shown)
        return self._flags[1]

    # The threads

    async def stop(self) -> None:
        """Stop all work; returns when no thread reads the dataset any more."""
        for stop in self._stops:
            stop.set()
        if self._steps:
            await asyncio.wait(self._steps)

    async def _reports(self, reports: Iterator[T], stop: threading.Event) -> AsyncIterator[T]:
        self._stops.add(stop)
        try:
            while True:
                step = asyncio.create_task(asyncio.to_thread(next, reports, None))
                self._steps.add(step)
                step.add_done_callback(self._step_done)
                report = await asyncio.shield(step)
                if report is None or stop.is_set():
                    return
                yield report
        finally:
            stop.set()
            self._stops.discard(stop)

    def _step_done(self, step: asyncio.Task[Any]) -> None:
        self._steps.discard(step)
        if not step.cancelled():
            # Nobody may be waiting for it any more: the error of work that was stopped is no error.
            step.exception()
