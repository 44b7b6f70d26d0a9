"""How many rows each line of an output takes at one width, and which line is on a row, page by page."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from textual.cache import LRUCache

from .heights import Heights
from .line_layout import LineLayout
from .output_buffer import OutputBuffer, Page


class OutputHeights:
    """Rows of the lines of `buffer`, wrapped at `room` cells; None is one row for each line.

    Only a page in which a line is wider than the room is gone through line by line, and only its measures.
    """

    def __init__(self, buffer: OutputBuffer, room: int | None) -> None:
        self._buffer = buffer
        self._room = room
        self._pages = Heights()
        self._kept: dict[int, Heights] = {}
        self._seen: LRUCache[int, Heights] = LRUCache(16)
        self._tail = Heights()
        self._first = 0
        self._final = 0
        self.widest = 0
        """Cells of the widest line."""

    @property
    def total(self) -> int:
        """Rows of all lines."""
        return self._pages.total + self._tail.total

    def __len__(self) -> int:
        return self._first + len(self._tail)

    def update(self) -> int:
        """Take in what the buffer got; returns the first line that may have changed."""
        buffer = self._buffer
        changed = self._final
        if new := buffer.pages[len(self._pages) :]:
            self._pages.extend([self._rows_of(page, len(self._pages) + n) for n, page in enumerate(new)])
            self.widest = max(self.widest, *(page.widest for page in new))
            self._tail = Heights()
            self._first = self._final = buffer.tail
        self._tail.truncate(self._final - self._first)
        measures = buffer.measures(self._final)
        self._tail.extend(self._each(measures, self._final))
        self.widest = max(self.widest, max(measures, default=0), -min(measures, default=0))
        self._final = buffer.settled
        return changed

    def find(self, row: int) -> tuple[int, int]:
        """The line on a row, and the row inside it; past the end it is the end of the last line.

        Raises:
            IndexError: there are no lines.
        """
        if row < self._pages.total or not len(self._tail):
            page, inside = self._pages.find(row)
            index, inside = self._lines(page).find(inside)
            return self._buffer.pages[page].first + index, inside
        index, inside = self._tail.find(row - self._pages.total)
        return self._first + index, inside

    def start(self, number: int) -> int:
        """The row on which a line starts; `len(self)` gives the end."""
        if number >= self._first:
            return self._pages.total + self._tail.start(number - self._first)
        page = self._buffer.page_of(number)
        inside = self._lines(page).start(number - self._buffer.pages[page].first)
        return self._pages.start(page) + inside

    def height(self, number: int) -> int:
        """The rows of a line."""
        if number >= self._first:
            return self._tail[number - self._first]
        page = self._buffer.page_of(number)
        return self._lines(page)[number - self._buffer.pages[page].first]

    def _rows_of(self, page: Page, number: int) -> int:
        if self._room is None or page.widest <= self._room:
            return len(page.measures)
        heights = Heights(self._each(page.measures, page.first, exact=self._buffer.is_loaded(number)))
        if page.widest_mixed > self._room:
            # What these were counted from may leave memory, and they must not change when it does.
            self._kept[number] = heights
        return heights.total

    def _lines(self, page: int) -> Heights:
        """The rows of each line of a page."""
        if (heights := self._kept.get(page) or self._seen.get(page)) is None:
            measures = self._buffer.pages[page].measures
            heights = self._seen[page] = Heights(self._each(measures, self._buffer.pages[page].first))
        return heights

    def _each(self, measures: array[int], first: int, *, exact: bool = True) -> Sequence[int]:
        """Rows of the lines from number `first` on. Not `exact`, lines that may have wide characters get as
        many as they can need, so that nobody has to read them."""
        room = self._room
        if room is None:
            return [1] * len(measures)
        rows = [1 if -room <= cells <= room else -(-cells // room) for cells in measures]
        if min(measures, default=0) < -room:
            for index, cells in enumerate(measures):
                if cells < -room:
                    rows[index] = self._mixed_rows(first + index) if exact else -(cells // max(1, room - 1))
        return rows

    def _mixed_rows(self, number: int) -> int:
        return LineLayout(self._buffer.plain(number), self._room).rows
