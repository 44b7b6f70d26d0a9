"""Rows as they stand in a file, nothing interpreted: what every format gives."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from agentscope_tui.datasets.needle import Needle
from agentscope_tui.datasets.task import RowProblem


class RawRow(NamedTuple):
    """One row.

    `line` is the file's line, from 1, or the number of the record where the format has no lines; `size` the
    row's bytes in the file (an estimate where the format packs rows together).
    """

    line: int
    value: dict[str, Any]
    size: int
    file: Path | None = None
    """Which file, when the dataset is several."""


class BadRow(RowProblem):
    """A row that cannot be read: `str()` is the reason, one line; `line` and `file` as in `RawRow`."""

    def __init__(self, reason: str, line: int, file: Path | None = None) -> None:
        super().__init__(reason)
        self.line = line
        self.file = file


class RawRows(Protocol):
    """The rows of one source, counted from 0. One thread advances while others read."""

    @property
    def count(self) -> int:
        """The rows known so far."""

    @property
    def complete(self) -> bool:
        """Whether all rows are known."""

    def advance(self) -> None:
        """Find some more rows: bounded work, about 10 ms.

        Raises:
            OSError: the file cannot be read.
            UserError: what follows is not of this format; the rows before it stay, and are all there are.
        """

    def read(self, row: int) -> RawRow:
        """A known row.

        Raises:
            BadRow: it is not one.
            OSError: the file cannot be read.
        """

    def walk(self, start: int, stop: int) -> Iterator[RawRow | BadRow]:
        """The known rows from `start` to before `stop`, in order: the fastest way through many (OSError)."""

    def search(self, needle: Needle, start: int, stop: int) -> Iterator[tuple[int, list[int]]]:
        """Look for a text in the known rows from `start` to before `stop`, in order (OSError).

        After some rows each, the row that comes next, and those since the last time that have the text. Of a
        row that is none, it is looked for in the bytes in the file, where there are such.
        """

    def changed(self) -> str:
        """What happened to the file since it was opened, as in "was replaced"; "" for nothing."""

    def identity(self) -> str:
        """A digest of size, modification time and both ends, of the file that was opened."""

    def close(self) -> None:
        """Let go of the file. No thread may be advancing any more."""
