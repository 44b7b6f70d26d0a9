"""The columns of a list of rows: how wide each is, where it stands on the line, and the header above them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

from rich.cells import cell_len

from .safe_text import safe_line
from .text_rows import fit

WIDE = 44
"""Cells of a list from which all its columns are shown as such."""
NARROWEST = 3
WIDEST = 200
_GAP = 1
_TITLE = 60


@dataclass(frozen=True, slots=True)
class Column:
    """One column; `title` may be any text.

    `width` is what the user chose, in cells; with 0 the column is as wide as what was seen in it, from
    `least` to `most`, and the last one takes the room that is left. In a narrow list it may be `hidden`, or
    `joined`: its text stands behind that of the column before it, as `#3`.
    """

    key: str
    title: str
    width: int = 0
    least: int = 4
    most: int = 24
    right: bool = False
    style: Literal["normal", "muted", "tone"] = "normal"
    narrow: Literal["shown", "hidden", "joined"] = "shown"


class Span(NamedTuple):
    """Where a column stands: cells from the left edge."""

    column: Column
    x: int
    width: int

    @property
    def end(self) -> int:
        """The cell after it, which is the gap before the next one."""
        return self.x + self.width


@dataclass
class ColumnLayout:
    """Columns in order, the first of which always stays. Their widths only grow, so that nothing jumps."""

    columns: Sequence[Column]
    first: int = 1
    """The column that stands beside the first one; those before it are scrolled out to the left."""
    _grown: dict[str, int] = field(default_factory=dict)

    def grow(self, column: Column, cells: int) -> bool:
        """A text of this many cells is in the column; whether that makes it wider."""
        cells = min(cells, column.most)
        if cells <= self._grown.get(column.key, 0):
            return False
        self._grown[column.key] = cells
        return True

    def shown(self, width: int) -> list[Column]:
        """The columns that a list of this width has."""
        wide = width >= WIDE
        return [column for column in self.columns if wide or column.narrow == "shown"]

    def texts(self, texts: Mapping[str, str], width: int) -> list[tuple[Column, str]]:
        """What stands in each column of such a list; what is not there is empty."""
        wide = width >= WIDE
        pairs: list[tuple[Column, str]] = []
        for column in self.columns:
            text = texts.get(column.key, "")
            if wide or column.narrow == "shown":
                pairs.append((column, text))
            elif column.narrow == "joined" and text and pairs:
                before, beginning = pairs[-1]
                pairs[-1] = before, f"{beginning} #{text}"
        return pairs

    def spans(self, width: int) -> list[Span]:
        """Where the columns stand on a line of `width` cells, behind a cell for the mark; those that fit."""
        shown = self.shown(width)
        spans: list[Span] = []
        x = 1
        for column in (*shown[:1], *shown[self.first :]):
            if x >= width:
                break
            wanted = self._width(column, wide=width >= WIDE)
            if column is shown[-1] and not column.width:
                wanted = width - x
            spans.append(Span(column, x, min(wanted, width - x)))
            x += wanted + _GAP
        return spans

    def resize(self, key: str, width: int) -> None:
        """Give a column this width, in cells."""
        width = max(NARROWEST, min(width, WIDEST))
        self.columns = [
            replace(column, width=width) if column.key == key else column for column in self.columns
        ]

    def move(self, key: str, offset: int) -> bool:
        """Let a column change places with a neighbour; whether there is one."""
        columns = list(self.columns)
        old = next(number for number, column in enumerate(columns) if column.key == key)
        new = old + offset
        if old == 0 or not 1 <= new < len(columns):
            return False
        columns[old], columns[new] = columns[new], columns[old]
        self.columns = columns
        return True

    def bring_into_sight(self, key: str, width: int) -> None:
        """Scroll sideways until the column is on the line as a whole, as far as it fits."""
        keys = [column.key for column in self.shown(width)]
        number = keys.index(key) if key in keys else 0
        if number < self.first:
            self.first = max(1, number)
        while self.first < number and not self._is_whole(key, width):
            self.first += 1

    def _is_whole(self, key: str, width: int) -> bool:
        for span in self.spans(width):
            if span.column.key == key:
                wanted = self._width(span.column, wide=width >= WIDE)
                return span.width >= min(wanted, span.column.most)
        return False

    def _width(self, column: Column, *, wide: bool) -> int:
        if column.width:
            return column.width
        title = 0 if column.right and not wide else cell_len(safe_line(column.title, _TITLE))
        return max(column.least, min(column.most, max(title, self._grown.get(column.key, 0))))


def header(spans: Sequence[Span], arrows: Mapping[str, str]) -> list[tuple[str, Column | None]]:
    """The titles above the columns, as pieces of a line; `arrows` say by key how the rows are sorted.

    The title of a narrow column of numbers leans into the room that the title before it leaves.
    """
    pieces: list[tuple[str, Column | None]] = [(" ", None)]
    gap = " " * _GAP
    for span in spans:
        column = span.column
        title = arrows.get(column.key, "") + safe_line(column.title, _TITLE)
        if column.right:
            before, owner = pieces.pop()
            blanks = len(before) - len(before.rstrip(" "))
            lean = max(0, min(cell_len(title) - span.width, blanks - 1))
            pieces.append((before[: len(before) - lean], owner))
            width = span.width + lean
            title = " " * (width - cell_len(title)) + fit(title, min(width, cell_len(title)))
        else:
            title = fit(title, span.width)
        pieces.append((title + gap, column))
    return pieces
