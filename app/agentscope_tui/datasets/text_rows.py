"""Rows of a text file: the places of some are kept, the others are found from there."""

from __future__ import annotations

import threading
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from agentscope_tui.datasets.byte_source import ByteSource
from agentscope_tui.datasets.needle import Needle
from agentscope_tui.datasets.raw import BadRow, RawRow
from agentscope_tui.datasets.sieve import Sieve
from agentscope_tui.datasets.task import RowProblem
from agentscope_tui.errors import UserError

_WINDOW = 64 << 10
"""Bytes between two places that are kept, and read at once to find a row."""
_FEWEST, _MOST = 4, 128
"""How many windows one `advance` reads, 256 KiB at first and at last 8 MiB: few rows cost little."""
MOST_ROW = 128 << 20
_MOST_KEPT = 1 << 20


class Found(NamedTuple):
    """What a grammar found in some bytes: whole rows in the first `consumed`, with `lines` line ends."""

    consumed: int
    rows: int
    lines: int
    ended: bool = False
    """No rows follow, whatever bytes do."""
    problem: str = ""
    """Why no rows follow, for the user."""


class Record(NamedTuple):
    """The text of one row: `line` counts from the beginning of the bytes it was found in, from 0."""

    line: int
    text: bytes
    whole: bool = True
    """False where the file ended before the row did."""


class Grammar(Protocol):
    """How rows follow each other in a text format. It always gets bytes that begin between two rows."""

    def scan(self, data: bytes, final: bool) -> Found:
        """Count the whole rows in `data`; all of it, when `final` says that the file ends there."""

    def split(self, data: bytes) -> Sequence[Record]:
        """The rows in bytes that `scan` consumed."""

    def parse(self, record: Record, line: int) -> dict[str, Any]:
        """The row in a record; `line` is where it begins in the file.

        Raises:
            RowProblem: it is not one.
        """

    def sieve(self, needle: Needle) -> Sieve:
        """Tells which bytes, between two rows each, cannot have a needle."""


class TextRows:
    """`RawRows` of a text file in some grammar."""

    def __init__(
        self,
        source: ByteSource,
        grammar: Grammar,
        *,
        name: str,
        start: int = 0,
        line: int = 1,
        file: Path | None = None,
    ) -> None:
        """The rows from byte `start` on, which is in line `line`. Nothing is scanned yet.

        `name` is the source's in messages, `file` what rows give as theirs.
        """
        self.count = 0
        self.complete = False
        self._source = source
        self._grammar = grammar
        self._name = name
        self._file = file
        self._scanning = threading.Lock()
        self._at = start
        self._line = line
        self._window = _WINDOW
        self._windows = _FEWEST
        self._problem = ""
        self._places = array("Q")
        self._rows = array("Q")
        self._lines = array("Q")
        self._kept: tuple[int, int, Sequence[Record]] = (-1, 0, ())

    def advance(self) -> None:
        with self._scanning:
            windows, self._windows = self._windows, min(2 * self._windows, _MOST)
            try:
                if self._problem:
                    raise UserError(f"{self._name}, line {self._line}: {self._problem}")
                for _ in range(windows):
                    if self.complete or self._problem or not self._step():
                        return
            except UserError:
                self.complete = True
                raise

    def _step(self) -> bool:
        """Scan one window; whether there may be more right now."""
        data, final = self._source.more(self._window, self._at)
        found = self._grammar.scan(data, final)
        if found.consumed == 0 and not final and len(data) == self._window:
            self._widen()
            return True
        self._window = _WINDOW
        if not self._places or self._at - self._places[-1] >= _WINDOW // 2:
            self._places.append(self._at)
            self._rows.append(self.count)
            self._lines.append(self._line)
        self._at += found.consumed
        self._line += found.lines
        self.count += found.rows
        self._problem = found.problem
        self.complete = (final or found.ended) and not found.problem
        return found.consumed > 0

    def _widen(self) -> None:
        self._window *= 2
        if self._window > MOST_ROW:
            self._problem = f"a row is longer than {MOST_ROW >> 20} MB; nothing from here on is read"

    def read(self, row: int) -> RawRow:
        block = bisect_right(self._rows, row) - 1
        records = self._records(block)
        place = row - self._rows[block]
        raw = self._raw(records[place], self._lines[block]) if place < len(records) else self._gone(block)
        if isinstance(raw, BadRow):
            raise raw
        return raw

    def walk(self, start: int, stop: int) -> Iterator[RawRow | BadRow]:
        for block, wanted in self._blocks(start, stop):
            line = self._lines[block]
            records = self._wanted(block, self._read(block), wanted)
            for record in records:
                yield self._raw(record, line)
            for _ in range(len(wanted) - len(records)):
                yield self._gone(block)

    def search(self, needle: Needle, start: int, stop: int) -> Iterator[tuple[int, list[int]]]:
        may_have = self._grammar.sieve(needle)
        for block, wanted in self._blocks(start, stop):
            data = self._read(block)
            records = self._wanted(block, data, wanted) if may_have(data) else ()
            found = [
                row
                for row, record in zip(wanted, records, strict=False)
                if may_have(record.text) and self._has(record, needle)
            ]
            yield wanted.stop, found

    def _has(self, record: Record, needle: Needle) -> bool:
        raw = self._raw(record, 0)
        if isinstance(raw, BadRow):
            return needle.is_in(record.text.decode("utf-8", "replace"))
        return needle.is_in(raw.value)

    def _blocks(self, start: int, stop: int) -> Iterator[tuple[int, range]]:
        """The blocks with these rows, and the rows wanted of each."""
        while start < stop:
            block = bisect_right(self._rows, start) - 1
            end = min(stop, self._rows[block + 1] if block + 1 < len(self._rows) else self.count)
            yield block, range(start, end)
            start = end

    def _wanted(self, block: int, data: bytes, rows: range) -> Sequence[Record]:
        """The rows of a block; fewer, if the file was changed."""
        first = self._rows[block]
        return self._grammar.split(data)[rows.start - first : rows.stop - first]

    def _raw(self, record: Record, line: int) -> RawRow | BadRow:
        """The row in a record of a block that begins in this line."""
        number = line + record.line
        try:
            return RawRow(number, self._grammar.parse(record, number), len(record.text), self._file)
        except RowProblem as problem:
            return BadRow(str(problem), number, self._file)

    def _gone(self, block: int) -> BadRow:
        return BadRow("is gone: the file was changed since it was opened", self._lines[block], self._file)

    def _records(self, block: int) -> Sequence[Record]:
        """The rows of a block; the last block that was asked for is kept, as rows are shown in runs."""
        kept, kept_end, records = self._kept
        end = self._end(block)
        if (kept, kept_end) == (block, end):
            return records
        data = self._read(block)
        records = self._grammar.split(data)
        if len(data) <= _MOST_KEPT:
            self._kept = (block, end, records)
        return records

    def _read(self, block: int) -> bytes:
        start = self._places[block]
        return self._source.read(self._end(block) - start, start)

    def _end(self, block: int) -> int:
        return self._places[block + 1] if block + 1 < len(self._places) else self._at

    def changed(self) -> str:
        return self._source.changed()

    def identity(self) -> str:
        return self._source.identity()

    def close(self) -> None:
        self._source.close()
