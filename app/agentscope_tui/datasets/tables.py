"""Rows of columnar files, Parquet and Arrow: a block of rows is decoded at once, the last blocks are kept."""

from __future__ import annotations

import threading
import time
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from agentscope_tui.datasets.file_state import FileState
from agentscope_tui.datasets.needle import Needle
from agentscope_tui.datasets.plain_values import plain, plain_types
from agentscope_tui.datasets.raw import BadRow, RawRow
from agentscope_tui.datasets.row_cache import RowCache
from agentscope_tui.errors import UserError

if TYPE_CHECKING:
    import pyarrow as pa

_ADVANCE_SECONDS = 0.01
_WALK_ROWS = 256


class Blocks(Protocol):
    """The blocks of rows of a file, from 0."""

    @property
    def schema(self) -> pa.Schema:
        """The columns."""

    def next_size(self) -> int | None:
        """The rows of the next block, None after the last (OSError, pyarrow.ArrowException)."""

    def load(self, block: int) -> pa.Table:
        """A block that `next_size` has told of (OSError, pyarrow.ArrowException)."""

    def close(self) -> None:
        """Let go of the file."""


class TableRows:
    """`RawRows` of blocks."""

    def __init__(self, path: Path, blocks: Blocks, file: Path | None) -> None:
        """Takes over `blocks` of `path`; `file` is what rows give as theirs (OSError)."""
        self.count = 0
        self.complete = False
        self._path = path
        self._blocks = blocks
        self._file = file
        self._state = FileState.of(path)
        self._plain = plain_types(blocks.schema)
        self._firsts: list[int] = []
        self._kept: RowCache[pa.Table] = RowCache()
        self._loading = threading.Lock()

    def advance(self) -> None:
        until = time.monotonic() + _ADVANCE_SECONDS
        before = self.count
        while not self.complete and time.monotonic() < until:
            try:
                with self._loading:
                    size = self._next_size()
            except UserError:
                if self.count > before:
                    # The rows found are seen first: the next call meets the same error.
                    return
                self.complete = True
                raise
            if size is None:
                self.complete = True
            else:
                self._firsts.append(self.count)
                self.count += size

    def _next_size(self) -> int | None:
        import pyarrow as pa

        try:
            return self._blocks.next_size()
        except (pa.ArrowException, OSError) as error:
            raise UserError(f"{self._path} is damaged or cut short: {_first_line(error)}") from error

    def read(self, row: int) -> RawRow:
        block = bisect_right(self._firsts, row) - 1
        place = row - self._firsts[block]
        found = self._table(block, row)
        return self._raws(found, place, place + 1, row)[0]

    def walk(self, start: int, stop: int) -> Iterator[RawRow | BadRow]:
        for rows in self._runs(start, stop):
            yield from rows

    def search(self, needle: Needle, start: int, stop: int) -> Iterator[tuple[int, list[int]]]:
        for rows in self._runs(start, stop):
            found = [
                row
                for row, raw in enumerate(rows, start)
                if isinstance(raw, RawRow) and needle.is_in(raw.value)
            ]
            start += len(rows)
            yield start, found

    def _runs(self, start: int, stop: int) -> Iterator[Sequence[RawRow | BadRow]]:
        """The rows, some at once."""
        while start < stop:
            block = bisect_right(self._firsts, start) - 1
            first = self._firsts[block]
            end = min(stop, self._firsts[block + 1] if block + 1 < len(self._firsts) else self.count)
            try:
                table = self._table(block, start)
            except BadRow as bad:
                yield [BadRow(str(bad), row + 1, self._file) for row in range(start, end)]
            else:
                for row in range(start, end, _WALK_ROWS):
                    stop_at = min(end, row + _WALK_ROWS)
                    yield self._raws(table, row - first, stop_at - first, row)
            start = end

    def _raws(self, table: pa.Table, start: int, stop: int, row: int) -> list[RawRow]:
        values = table.slice(start, stop - start).to_pylist()
        if not self._plain:
            values = [plain(value) for value in values]
        size = table.nbytes // max(1, table.num_rows)
        return [RawRow(number, value, size, self._file) for number, value in enumerate(values, row + 1)]

    def _table(self, block: int, row: int) -> pa.Table:
        import pyarrow as pa

        with self._loading:
            table = self._kept.get(block)
            if table is None:
                try:
                    table = self._blocks.load(block)
                except (pa.ArrowException, OSError) as error:
                    reason = f"cannot be read: {_first_line(error)}"
                    raise BadRow(reason, row + 1, self._file) from error
                self._kept.put(block, table, table.nbytes)
            return table

    def changed(self) -> str:
        return self._state.changed()

    def identity(self) -> str:
        return self._state.identity

    def close(self) -> None:
        self._blocks.close()


@contextmanager
def opening(path: Path) -> Iterator[None]:
    """Turns what goes wrong with pyarrow into a `UserError`: it is not installed, or cannot read the file."""
    try:
        import pyarrow as pa
    except ImportError as error:
        raise UserError(f"{path} needs pyarrow: pip install 'agentscope-tui[parquet]'") from error
    try:
        yield
    except (pa.ArrowException, EOFError) as error:
        raise UserError(f"cannot read {path}: {_first_line(error)}") from error


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]
