"""What was read last, by row or block of rows: bounded in number and bytes, since one row may have 50 MB."""

from __future__ import annotations

from collections import OrderedDict
from typing import Generic, TypeVar

_MOST_ROWS = 512
_MOST_BYTES = 64 << 20

T = TypeVar("T")


class RowCache(Generic[T]):
    """Values by index; the one unused for longest goes first. The newest stays, whatever its size."""

    def __init__(self) -> None:
        self._rows: OrderedDict[int, tuple[T, int]] = OrderedDict()
        self._bytes = 0

    def get(self, index: int) -> T | None:
        """The row's value, if it is here."""
        entry = self._rows.get(index)
        if entry is None:
            return None
        self._rows.move_to_end(index)
        return entry[0]

    def put(self, index: int, value: T, size: int) -> None:
        """Keep the value of a row that is not here and has `size` bytes."""
        self._rows[index] = (value, size)
        self._bytes += size
        while len(self._rows) > 1 and (len(self._rows) > _MOST_ROWS or self._bytes > _MOST_BYTES):
            _, (_, dropped) = self._rows.popitem(last=False)
            self._bytes -= dropped
