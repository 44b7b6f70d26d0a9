"""One line of a terminal: what is written over it, and what is left."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from itertools import accumulate
from typing import NamedTuple

from rich.cells import get_character_cell_size
from rich.segment import Segment
from rich.style import Style

from .text_rows import TAB, Row

COLUMNS = 16_384
"""Cells of a line. As on a terminal of that width, a longer text goes on in the next line."""
_BLANK = " "
"""What a mark at the start of a line stands on."""


class StyledLine(NamedTuple):
    """A line with styles: the piece that ends before character `ends[i]` has `styles[i]`."""

    text: str
    ends: tuple[int, ...]
    styles: tuple[Style | None, ...]


Line = str | StyledLine
"""A line as it is kept: text without styles is only text."""


def line_of(runs: Iterable[Segment]) -> Line:
    """Styled pieces as one line."""
    texts: list[str] = []
    ends: list[int] = []
    styles: list[Style | None] = []
    end = 0
    before: object = ends
    for text, style, _ in runs:
        end += len(text)
        texts.append(text)
        if style is before:
            ends[-1] = end
        else:
            ends.append(end)
            styles.append(style)
            before = style
    whole = "".join(texts)
    return whole if styles in ([], [None]) else StyledLine(whole, tuple(ends), tuple(styles))


def runs_of(line: Line) -> Row:
    """A line as styled pieces."""
    if isinstance(line, str):
        return [Segment(line)] if line else []
    starts = (0, *line.ends)
    return [
        Segment(line.text[start:end], style)
        for start, end, style in zip(starts, line.ends, line.styles, strict=False)
    ]


class TerminalLine:
    """A line of at most `COLUMNS` cells, and a cursor.

    As long as text is only added at the end it is kept as it comes; the first overwriting makes cells of
    it. A character that takes several cells (a wide one, a tab) stands in the first of them and the others
    are empty; what is left of one that is overwritten in part is spaces.
    """

    def __init__(self, line: Line = "", column: int = 0) -> None:
        self._runs: Row = []
        self._cells: list[str] | None = None
        self._styles: list[Style | None] = []
        self._end = 0
        self.column = 0
        """The cell where the next character goes."""
        for text, style, _ in runs_of(line):
            self.write(text, style)
        self.column = column

    @property
    def is_empty(self) -> bool:
        """Nothing was written."""
        return not self._end

    def append(self, run: Segment) -> bool:
        """The quick way for what is most often written: ASCII at the end of the line. False: use `write`."""
        text = run.text
        end = self._end + len(text)
        if self._cells is not None or self.column != self._end or end > COLUMNS:
            return False
        if text < " " or not text.isascii() or "\t" in text:
            return False
        self._runs.append(run)
        self._end = self.column = end
        return True

    def write(self, text: str, style: Style | None) -> str:
        """Write safe text of one line from the cursor on, over what is there; returns what does not fit."""
        first, *parts = text.split("\t")
        rest = self._write_part(first, style)
        for index, part in enumerate(parts):
            if rest or self.column == COLUMNS:
                return "\t".join([rest, *parts[index:]])
            self._tab(style)
            rest = self._write_part(part, style)
        return rest

    def move_to(self, column: int) -> None:
        """The cursor goes to this cell, or to the edge."""
        self.column = min(max(0, column), COLUMNS - 1)

    def erase(self, kind: str) -> None:
        """Erase in line: from the cursor to the end (`""`, `"0"`), to the start (`"1"`) or all (`"2"`)."""
        cells = self._as_cells()
        self._split_wide(cells, self.column)
        if kind in ("1", "2"):
            cells[: self.column] = [" "] * self.column
            self._styles[: self.column] = [None] * self.column
        if kind != "1":
            del cells[self.column :], self._styles[self.column :]
        self._end = len(cells)

    def line(self) -> Line:
        """What the line shows."""
        if self._cells is None:
            return line_of(self._runs)
        if self._styles.count(None) == len(self._styles):
            return "".join(self._cells)
        return line_of(Segment(cell, style) for cell, style in zip(self._cells, self._styles, strict=True))

    def copy(self) -> TerminalLine:
        """The same line and cursor."""
        return TerminalLine(self.line(), self.column)

    def _write_part(self, text: str, style: Style | None) -> str:
        """Write text without tabs, as many characters at a time as surely fit."""
        while text and (room := COLUMNS - self.column):
            part = text[:room]
            cells = len(part)
            if not part.isascii():
                ends = list(accumulate(map(get_character_cell_size, text[: max(1, room // 2)])))
                part = part[: bisect_right(ends, room)]
                if not part:
                    self.column = COLUMNS
                    break
                cells = ends[len(part) - 1]
            if self._cells is None and self.column == self._end:
                self._add(part, style, cells)
            else:
                self._overwrite(part, style)
            text = text[len(part) :]
        return text

    def _add(self, text: str, style: Style | None, cells: int) -> None:
        if not self._end and not text.isascii() and not get_character_cell_size(text[0]):
            text, cells = _BLANK + text, cells + 1
        self._runs.append(Segment(text, style))
        self._end += cells
        self.column = self._end

    def _overwrite(self, text: str, style: Style | None) -> None:
        cells = self._as_cells()
        new: list[str] = []
        while text and not get_character_cell_size(text[0]) and _add_mark(cells, self.column, text[0]):
            text = text[1:]
        _add_cells(new, text)
        end = self.column + len(new)
        self._split_wide(cells, self.column)
        self._split_wide(cells, end)
        cells[self.column : end] = new
        self._styles[self.column : end] = [style] * len(new)
        self.column = end
        self._end = len(cells)

    def _tab(self, style: Style | None) -> None:
        """On to the next tab stop. Over text it only moves, as on a terminal; past it, it is kept."""
        stop = min(COLUMNS, (self.column // TAB + 1) * TAB)
        if self._cells is None and self.column == self._end:
            self._add("\t", style, stop - self.column)
        elif self.column >= self._end:
            cells = self._as_cells()
            _add_cells(cells, "\t")
            self._styles += [style] * (stop - self.column)
            self._end = stop
        self.column = stop

    def _split_wide(self, cells: list[str], column: int) -> None:
        """If a character lies across the left edge of the cell at `column`, its cells become spaces."""
        if not 0 < column < len(cells) or cells[column]:
            return
        start = end = column
        while not cells[start]:
            start -= 1
        while end < len(cells) and not cells[end]:
            end += 1
        cells[start:end] = [" "] * (end - start)

    def _as_cells(self) -> list[str]:
        """The cells, at least up to the cursor."""
        if self._cells is None:
            self._cells = []
            for text, style, _ in self._runs:
                _add_cells(self._cells, text)
                self._styles += [style] * (len(self._cells) - len(self._styles))
            self._runs = []
        missing = self.column - len(self._cells)
        self._cells += [" "] * missing
        self._styles += [None] * missing
        return self._cells


def _add_cells(cells: list[str], text: str) -> None:
    """Add the cells of `text` to those of a line."""
    if text.isascii() and "\t" not in text:
        cells += text
        return
    for character in text:
        if character == "\t":
            cells += ["\t", *[""] * (TAB - len(cells) % TAB - 1)]
            continue
        match get_character_cell_size(character):
            case 0 if _add_mark(cells, len(cells), character):
                pass
            case 0:
                cells.append(_BLANK + character)
            case 2:
                cells += [character, ""]
            case _:
                cells.append(character)


def _add_mark(cells: list[str], end: int, mark: str) -> bool:
    """Put a mark on the last character before cell `end`, if there is one."""
    while end and not cells[end - 1]:
        end -= 1
    if end:
        cells[end - 1] += mark
    return end > 0
