"""The line a program is writing: what is written over it, and what is left, as on a terminal."""

from __future__ import annotations

from rich.cells import get_character_cell_size
from rich.segment import Segment
from rich.style import Style

from .text_rows import Row, without_tabs


class TerminalLine:
    """Cells of one line and a cursor, at most `longest` cells; what comes after is only counted.

    A wide character takes two cells, the second of them empty; half of one overwritten is a space.
    """

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self.clear()

    def clear(self) -> None:
        """A new, empty line."""
        self._cells: list[str] = []
        self._styles: list[Style | None] = []
        self._column = 0
        self._omitted = 0

    @property
    def is_empty(self) -> bool:
        """Nothing was written."""
        return not self._cells

    def write(self, text: str, style: Style | None) -> None:
        """Safe text without newlines, from the cursor on, over what is there."""
        room = self._longest - self._column
        if len(text) > room:
            self._omitted += len(text) - max(0, room)
            text = text[: max(0, room)]
        if not text:
            return
        text = without_tabs(text, self._column)
        cells = list(text) if text.isascii() else _cells(text)
        end = self._column + len(cells)
        self._fill_to_cursor()
        self._split_wide(self._column)
        self._split_wide(end)
        self._cells[self._column : end] = cells
        self._styles[self._column : end] = [style] * len(cells)
        self._column = end

    def carriage_return(self) -> None:
        """The cursor goes to the start of the line."""
        self._column = 0

    def backspace(self) -> None:
        """The cursor goes back by one cell."""
        self._column = max(0, self._column - 1)

    def erase(self, sequence: str) -> None:
        """Erase in line: from the cursor to the end, to the start (`1K`) or all of it (`2K`)."""
        kind = sequence[-2]
        self._fill_to_cursor()
        self._split_wide(self._column)
        if kind in "12":
            self._cells[: self._column] = [" "] * self._column
            self._styles[: self._column] = [None] * self._column
        if kind != "1":
            del self._cells[self._column :], self._styles[self._column :]
            self._omitted = 0

    def runs(self) -> Row:
        """The line as styled pieces."""
        row: Row = []
        start = 0
        size = len(self._cells)
        for index in range(1, size + 1):
            if index == size or self._styles[index] is not self._styles[start]:
                row.append(Segment("".join(self._cells[start:index]), self._styles[start]))
                start = index
        if self._omitted:
            row.append(Segment(f"… {self._omitted:,} more characters"))
        return row

    def _split_wide(self, column: int) -> None:
        """If a wide character lies across `column`, both of its halves become spaces."""
        if 0 < column < len(self._cells) and self._cells[column] == "":
            self._cells[column - 1] = self._cells[column] = " "

    def _fill_to_cursor(self) -> None:
        missing = self._column - len(self._cells)
        self._cells += [" "] * missing
        self._styles += [None] * missing


def _cells(text: str) -> list[str]:
    cells: list[str] = []
    for character in text:
        match get_character_cell_size(character):
            case 0 if cells:
                cells[-1 if cells[-1] else -2] += character
            case 0:
                cells.append(" " + character)
            case 2:
                cells += [character, ""]
            case _:
                cells.append(character)
    return cells
