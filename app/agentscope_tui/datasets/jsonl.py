"""A dataset in a file of JSON lines: rows are counted in the background, parsed when asked for."""

from __future__ import annotations

import stat
import threading
from collections.abc import Callable
from pathlib import Path

from agentscope_tui.datasets.columns import Columns
from agentscope_tui.datasets.json_row import parse_row
from agentscope_tui.datasets.row_cache import RowCache
from agentscope_tui.datasets.row_index import RowIndex
from agentscope_tui.datasets.task import RowError, RowProblem, Task
from agentscope_tui.errors import UsageError, UserError

_AT_ONCE = 256
_BATCH = 8192


class JsonlDataset:
    """The rows of a file of JSON lines, from index `offset` on, at most `limit` of them.

    An *index* counts the file's rows (its non-blank lines) from 0; a *position* counts those in range.
    """

    def __init__(
        self, path: Path, *, offset: int = 0, limit: int | None = None, columns: Columns | None = None
    ) -> None:
        """Opens the file and scans its first lines.

        Raises:
            UsageError: no such file, not a regular file, or no row in range.
            UserError: the file cannot be read.
        """
        self.path = path
        self.offset = offset
        self._end = None if limit is None else offset + limit
        self._columns = columns or Columns()
        self._cache = RowCache()
        self._index = _open(path)
        try:
            self._advance(_AT_ONCE)
            self._refuse_nothing()
        except UserError:
            self._index.close()
            raise

    def __len__(self) -> int:
        """The rows in range that are known so far."""
        known = self._index.count if self._end is None else min(self._index.count, self._end)
        return max(0, known - self.offset)

    @property
    def complete(self) -> bool:
        """Whether all rows in range are known."""
        return self._index.complete or (self._end is not None and self._index.count >= self._end)

    def scan(self, stop: threading.Event, on_progress: Callable[[int], None]) -> None:
        """Find all rows in range: for a thread. `on_progress` is called there with `len` as it grows.

        Raises:
            UsageError: there is no row in range after all.
            UserError: the file cannot be read on.
        """
        while not self.complete and not stop.is_set():
            self._advance(_BATCH)
            on_progress(len(self))
        self._refuse_nothing()

    def row_at(self, position: int) -> Task | RowError:
        """The row at a position that is known, `0 <= position < len`."""
        if not 0 <= position < len(self):
            raise IndexError(position)
        return self._row(self.offset + position)

    def row(self, index: int) -> Task | RowError:
        """The row with this index. Scans as far as it takes, which for a large file takes a while.

        Raises:
            UsageError: there is no such row in range; names the valid ones.
        """
        while not self.complete and self._index.count <= index:
            self._advance(_BATCH)
        if not self.offset <= index < self.offset + len(self):
            raise UsageError(self._out_of_range(index))
        return self._row(index)

    def close(self) -> None:
        """Close the file. No scan may be running any more."""
        self._index.close()

    def _advance(self, lines: int) -> None:
        try:
            self._index.advance(lines)
        except OSError as error:
            raise UserError(f"cannot read {self.path}: {error.strerror}") from error

    def _row(self, index: int) -> Task | RowError:
        row = self._cache.get(index)
        if row is None:
            row, size = self._read(index)
            self._cache.put(index, row, size)
        return row

    def _read(self, index: int) -> tuple[Task | RowError, int]:
        try:
            number, line = self._index.find(index)
        except OSError as error:
            return RowError(index, 0, f"cannot be read: {error.strerror}"), 0
        if not line:
            return RowError(index, number, "is gone: the file was changed since it was opened"), 0
        try:
            raw = parse_row(line, number, cut_off=not line.endswith(b"\n"))
            return self._columns.task(index, number, raw), len(line)
        except RowProblem as problem:
            return RowError(index, number, str(problem)), len(line)

    def _refuse_nothing(self) -> None:
        if not self.complete or len(self) > 0:
            return
        if self._index.count == 0:
            raise UsageError(f"{self.path} has no rows: it needs one JSON object a line")
        last = self._index.count - 1
        raise UsageError(f"offset {self.offset} is past the end of {self.path}: its rows are 0 to {last}")

    def _out_of_range(self, index: int) -> str:
        while not self.complete:
            self._advance(_BATCH)
        last = self.offset + len(self) - 1
        return f"row {index} is out of range: valid rows are {self.offset} to {last}"


def _open(path: Path) -> RowIndex:
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise UsageError(f"{path} is a folder: name a file of JSON lines in it")
        if not stat.S_ISREG(mode):
            raise UsageError(f"{path} is not a regular file: save the rows to a file first")
        return RowIndex(path)
    except FileNotFoundError:
        where = "" if path.is_absolute() else f" (looked in {Path.cwd()})"
        raise UsageError(f"no such dataset: {path}{where}") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise UserError(f"cannot read {path}: {reason}") from error
