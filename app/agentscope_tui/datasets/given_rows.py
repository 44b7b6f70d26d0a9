"""Rows that are no file's: each is made when it is asked for."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from typing import Any

from agentscope_tui.datasets.needle import Needle
from agentscope_tui.datasets.raw import BadRow, RawRow

_SEARCHED = 100
"""Rows between two reports of a search."""


class GivenRows:
    """`RawRows` of a function that gives the row with a number, and may raise `BadRow`.

    `name` tells these rows from others: it is what their identity is made of.
    """

    def __init__(self, count: int, row: Callable[[int], dict[str, Any]], name: str) -> None:
        self.count = count
        self.complete = True
        self._row = row
        self._name = name

    def advance(self) -> None:
        """All are known."""

    def read(self, row: int) -> RawRow:
        value = self._row(row)
        return RawRow(row + 1, value, len(str(value)))

    def walk(self, start: int, stop: int) -> Iterator[RawRow | BadRow]:
        for row in range(start, stop):
            try:
                yield self.read(row)
            except BadRow as bad:
                yield bad

    def search(self, needle: Needle, start: int, stop: int) -> Iterator[tuple[int, list[int]]]:
        for first in range(start, stop, _SEARCHED):
            rows = range(first, min(first + _SEARCHED, stop))
            yield (
                rows.stop,
                [row for row, raw in zip(rows, self._values(rows), strict=True) if needle.is_in(raw)],
            )

    def _values(self, rows: range) -> Iterator[Any]:
        for raw in self.walk(rows.start, rows.stop):
            yield raw.value if isinstance(raw, RawRow) else str(raw)

    def changed(self) -> str:
        return ""

    def identity(self) -> str:
        return hashlib.sha256(self._name.encode(errors="surrogateescape")).hexdigest()

    def close(self) -> None:
        """There is nothing to let go of."""
