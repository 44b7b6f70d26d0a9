"""Consecutive lines of output, and what is known of each: its stream, how it goes on, its width."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Sequence
from typing import Literal

from rich.cells import cell_len

from .terminal_line import Line
from .text_rows import without_tabs

Stream = Literal["stdout", "stderr"]

STDERR = 1
"""Mark of a line from stderr."""
GOES_ON = 2
"""Mark of a line that ended at the edge of the terminal: the next line of its stream continues it."""

_COLUMN_BYTES = 14
_STYLED_BYTES = 180


class LineBlock:
    """Lines with their marks and measures, in three columns.

    A measure is the width in cells; below zero if the line has tabs or characters that may not be one cell
    wide, so that its rows must be counted from its text.
    """

    def __init__(self) -> None:
        self.lines: list[Line] = []
        self.marks = bytearray()
        self.measures: array[int] = array("i")

    def __len__(self) -> int:
        return len(self.lines)

    def append(self, line: Line, mark: int) -> None:
        self.lines.append(line)
        self.marks.append(mark)
        self.measures.append(measure(line))

    def extend_texts(self, texts: Sequence[str], mark: int, *, plain: bool) -> None:
        """Add lines without styles; `plain` says that they are ASCII without tabs."""
        self.lines += texts
        self.marks += bytes([mark]) * len(texts)
        self.measures.extend(map(len if plain else measure, texts))

    def extend(self, other: LineBlock) -> None:
        self.lines += other.lines
        self.marks += other.marks
        self.measures += other.measures

    def replace(self, index: int, line: Line) -> None:
        self.lines[index] = line
        self.measures[index] = measure(line)

    def delete(self, index: int) -> None:
        del self.lines[index], self.marks[index], self.measures[index]

    def cut(self, count: int) -> LineBlock:
        """Take the first `count` lines out."""
        taken = LineBlock()
        taken.lines, self.lines = self.lines[:count], self.lines[count:]
        taken.marks, self.marks = self.marks[:count], self.marks[count:]
        taken.measures, self.measures = self.measures[:count], self.measures[count:]
        return taken

    def copy(self) -> LineBlock:
        copied = LineBlock()
        copied.extend(self)
        return copied

    def continued(self) -> int:
        """How many lines end at the edge of the terminal."""
        return self.marks.count(GOES_ON) + self.marks.count(GOES_ON | STDERR)

    def bytes_used(self) -> int:
        """The memory that the lines take, about."""
        return sum(
            sys.getsizeof(line)
            if isinstance(line, str)
            else sys.getsizeof(line.text) + _STYLED_BYTES + 16 * len(line.ends)
            for line in self.lines
        ) + _COLUMN_BYTES * len(self.lines)


def text_of(line: Line) -> str:
    """The text of a line, with its tabs."""
    return line if isinstance(line, str) else line.text


def measure(line: Line) -> int:
    """The width of a line as a block keeps it."""
    text = text_of(line)
    if not text.isascii():
        return -cell_len(without_tabs(text))
    return -len(without_tabs(text)) if "\t" in text else len(text)
