"""Heights of many items and their sums: which item is at a line, on which line an item starts.

Kept in chunks, so that adding, changing and dropping items cost next to nothing and a look-up walks a
few hundred numbers even among a hundred thousand items.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

_CHUNK = 512


class Heights:
    """Heights in lines, each >= 0, in order."""

    def __init__(self, heights: Iterable[int] = ()) -> None:
        self._items: list[int] = []
        self._sums: list[int] = []
        self.total = 0
        """Sum of all heights."""
        self.extend(heights)

    def __len__(self) -> int:
        return len(self._items)

    def __getitem__(self, position: int) -> int:
        return self._items[position]

    def extend(self, heights: Iterable[int]) -> None:
        """Add items at the end."""
        self._rebuild_from(len(self._items), heights)

    def __setitem__(self, position: int, height: int) -> None:
        change = height - self._items[position]
        self._items[position] = height
        self._sums[position // _CHUNK] += change
        self.total += change

    def truncate(self, count: int) -> None:
        """Keep the first `count` items."""
        if count < len(self._items):
            self._items = self._items[:count]
            self._rebuild_from(count, ())

    def start(self, position: int) -> int:
        """The line on which item `position` starts; `len(self)` gives the end."""
        chunk = position // _CHUNK
        return sum(self._sums[:chunk]) + sum(self._items[chunk * _CHUNK : position])

    def find(self, line: int) -> tuple[int, int]:
        """The item at `line` and the line inside it; past the end it is the end of the last item.

        Raises:
            IndexError: there are no items.
        """
        if not self._items:
            raise IndexError("no items")
        if line >= self.total:
            last = len(self._items) - 1
            return last, max(0, self._items[last] - 1)
        rest = max(0, line)
        chunk = 0
        while rest >= self._sums[chunk]:
            rest -= self._sums[chunk]
            chunk += 1
        position = chunk * _CHUNK
        while rest >= self._items[position]:
            rest -= self._items[position]
            position += 1
        return position, rest

    def _rebuild_from(self, position: int, heights: Iterable[int]) -> None:
        self._items.extend(heights)
        first = position // _CHUNK
        items: Sequence[int] = self._items
        self._sums[first:] = [
            sum(items[start : start + _CHUNK]) for start in range(first * _CHUNK, len(items), _CHUNK)
        ]
        self.total = sum(self._sums)
