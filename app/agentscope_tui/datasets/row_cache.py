"""The rows that were shown last, parsed: bounded in number and in bytes, since one row may have 50 MB."""

from __future__ import annotations

from collections import OrderedDict

from agentscope_tui.datasets.task import RowError, Task

_MOST_ROWS = 512
_MOST_BYTES = 64 << 20


class RowCache:
    """Rows by index; the one unused for longest goes first. The newest stays, whatever its size."""

    def __init__(self) -> None:
        self._rows: OrderedDict[int, tuple[Task | RowError, int]] = OrderedDict()
        self._bytes = 0

    def get(self, index: int) -> Task | RowError | None:
        """The row, if it is here."""
        entry = self._rows.get(index)
        if entry is None:
            return None
        self._rows.move_to_end(index)
        return entry[0]

    def put(self, index: int, row: Task | RowError, size: int) -> None:
        """Keep a row whose line has `size` bytes."""
        self._rows[index] = (row, size)
        self._bytes += size
        while len(self._rows) > 1 and (len(self._rows) > _MOST_ROWS or self._bytes > _MOST_BYTES):
            _, (_, dropped) = self._rows.popitem(last=False)
            self._bytes -= dropped
