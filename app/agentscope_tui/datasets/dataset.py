"""A dataset: the rows of a source that are in range, and the tasks that they become."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from agentscope_tui.datasets.columns import Columns
from agentscope_tui.datasets.needle import Needle
from agentscope_tui.datasets.raw import BadRow, RawRow, RawRows
from agentscope_tui.datasets.row_cache import RowCache
from agentscope_tui.datasets.task import RowError, RowProblem, Task
from agentscope_tui.errors import UsageError, UserError

_SAMPLE_ROWS = 50
_SAMPLE_BYTES = 1 << 20
_REPORT_SECONDS = 0.05


class Dataset:
    """Rows from index `offset` on, at most `limit` of them.

    An *index* counts the source's rows from 0; a *position* counts those in range. `columns` is resolved:
    what nobody named was looked for in the first rows. `fields` are the columns seen there, in order.
    """

    def __init__(
        self,
        path: Path,
        rows: RawRows,
        *,
        offset: int = 0,
        limit: int | None = None,
        columns: Columns | None = None,
    ) -> None:
        """Takes over `rows`, and finds the first of them.

        Raises:
            UsageError: no row is in range.
            UserError: the source cannot be read.
        """
        self.path = path
        self.offset = offset
        self.limit = limit
        self._rows = rows
        self._end = None if limit is None else offset + limit
        self._raws: RowCache[RawRow | RowError] = RowCache()
        self._tasks: RowCache[Task | RowError] = RowCache()
        while not rows.complete and rows.count == 0:
            self._advance()
        self._refuse_nothing()
        self._identity = rows.identity()
        sample = self._sample()
        self.fields: Sequence[str] = list(dict.fromkeys(name for row in sample for name in row))
        self.columns = (columns or Columns()).resolved(sample)

    def __len__(self) -> int:
        """The rows in range that are known so far."""
        count = self._rows.count
        known = count if self._end is None else min(count, self._end)
        return max(0, known - self.offset)

    @property
    def complete(self) -> bool:
        """Whether all rows in range are known."""
        return self._rows.complete or (self._end is not None and self._rows.count >= self._end)

    def scan(self, stop: threading.Event, on_progress: Callable[[int], None]) -> None:
        """Find all rows in range: for a thread. `on_progress` is called there with `len` as it grows.

        Raises:
            UsageError: there is no row in range after all.
            UserError: the source cannot be read on.
        """
        reported, due = len(self), 0.0
        while not self.complete and not stop.is_set():
            self._advance()
            if len(self) > reported and (self.complete or time.monotonic() >= due):
                reported, due = len(self), time.monotonic() + _REPORT_SECONDS
                on_progress(reported)
        self._refuse_nothing()

    def row_at(self, position: int) -> Task | RowError:
        """The task at a known position, `0 <= position < len`; fast enough for each row on screen."""
        index = self._index(position)
        row = self._tasks.get(index)
        if row is None:
            raw = self.raw_at(position)
            row = raw if isinstance(raw, RowError) else self.task_of(index, raw)
            self._tasks.put(index, row, raw.size if isinstance(raw, RawRow) else 0)
        return row

    def raw_at(self, position: int) -> RawRow | RowError:
        """The row at a known position, uninterpreted."""
        index = self._index(position)
        raw = self._raws.get(index)
        if raw is None:
            try:
                raw = self._rows.read(index)
            except BadRow as bad:
                raw = _error(index, bad)
            except OSError as error:
                raw = RowError(index, 0, f"cannot be read: {error.strerror or error}")
            self._raws.put(index, raw, raw.size if isinstance(raw, RawRow) else 0)
        return raw

    def walk(self, start: int = 0, stop: int | None = None) -> Iterator[tuple[int, RawRow | RowError]]:
        """Each position from `start` to before `stop` (None: those known by now), and the row: for a thread.

        Raises:
            UserError: the source cannot be read.
        """
        end = self.offset + (len(self) if stop is None else stop)
        rows = self._rows.walk(self.offset + start, end)
        position = start
        try:
            for raw in rows:
                yield position, raw if isinstance(raw, RawRow) else _error(self.offset + position, raw)
                position += 1
        except OSError as error:
            raise self._unreadable(error) from error

    def search(self, needle: Needle, start: int, stop: int) -> Iterator[tuple[int, list[int]]]:
        """Look for a text in the known rows from position `start` to before `stop`: for a thread.

        After some of them each, the position that comes next, and those where it was found since.

        Raises:
            UserError: the source cannot be read.
        """
        try:
            for row, found in self._rows.search(needle, self.offset + start, self.offset + stop):
                yield row - self.offset, [hit - self.offset for hit in found]
        except OSError as error:
            raise self._unreadable(error) from error

    def task_of(self, index: int, raw: RawRow) -> Task | RowError:
        """What the row with this index asks of an agent, or why it asks nothing."""
        try:
            return self.columns.task(index, raw.line, raw.value)
        except RowProblem as problem:
            return RowError(index, raw.line, str(problem), raw.file.name if raw.file else "")

    def row(self, index: int) -> Task | RowError:
        """The task with this index. Scans as far as it takes, which for a large file takes a while.

        Raises:
            UsageError: there is no such row in range; names the valid ones.
            UserError: the source cannot be read.
        """
        while not self.complete and self._rows.count <= index:
            self._advance()
        if not self.offset <= index < self.offset + len(self):
            raise UsageError(self._out_of_range(index))
        return self.row_at(index - self.offset)

    def changed(self) -> str:
        """What happened to the file since it was opened, as in "was replaced"; "" for nothing."""
        return self._rows.changed()

    def identity(self) -> str:
        """A digest that ties a recording to this dataset: of size, modification time and both ends.

        Of rows that are piped in, it is of the first of them.
        """
        return self._identity

    def close(self) -> None:
        """Close the source. No scan and no walk may be running any more."""
        self._rows.close()

    def _index(self, position: int) -> int:
        if not 0 <= position < len(self):
            raise IndexError(position)
        return self.offset + position

    def _advance(self) -> None:
        try:
            self._rows.advance()
        except OSError as error:
            raise self._unreadable(error) from error

    def _unreadable(self, error: OSError) -> UserError:
        return UserError(f"cannot read {self.path}: {error.strerror or error}")

    def _sample(self) -> list[dict[str, Any]]:
        """The first good rows of the source, whatever the range."""
        sample: list[dict[str, Any]] = []
        size = 0
        try:
            for raw in self._rows.walk(0, min(self._rows.count, 2 * _SAMPLE_ROWS)):
                if isinstance(raw, RawRow):
                    sample.append(raw.value)
                    size += raw.size
                if len(sample) >= _SAMPLE_ROWS or size > _SAMPLE_BYTES:
                    break
        except OSError as error:
            raise self._unreadable(error) from error
        return sample

    def _refuse_nothing(self) -> None:
        if not self.complete or len(self) > 0:
            return
        if self._rows.count == 0:
            raise UsageError(f"{self.path} has no rows")
        last = self._rows.count - 1
        raise UsageError(f"offset {self.offset} is past the end of {self.path}: its rows are 0 to {last}")

    def _out_of_range(self, index: int) -> str:
        while not self.complete:
            self._advance()
        last = self.offset + len(self) - 1
        return f"row {index} is out of range: valid rows are {self.offset} to {last}"


def _error(index: int, bad: BadRow) -> RowError:
    return RowError(index, bad.line, str(bad), bad.file.name if bad.file else "")
