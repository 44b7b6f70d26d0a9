"""Where the characters of one wrapped line stand, and which character is at a cell."""

from __future__ import annotations

from bisect import bisect_right

from rich.cells import cell_len, get_character_cell_size

from .text_rows import TAB, break_offsets, by_cell, without_tabs


class LineLayout:
    """A line of safe text (with its tabs) in rows of `width` cells, as a terminal breaks it; None: one row.

    A column is an index in the text, from 0 to its length.
    """

    def __init__(self, text: str, width: int | None) -> None:
        self._text = text
        self._shown = without_tabs(text)
        self._width = width
        self._starts = [0] if width is None else break_offsets(self._shown, width, words=False)

    def is_of(self, text: str, width: int | None) -> bool:
        """Whether this is the layout of this very text at this width."""
        return text is self._text and width == self._width

    @property
    def rows(self) -> int:
        """The rows that the line takes."""
        return len(self._starts)

    def column_at(self, row: int, cell: int) -> int:
        """The column of the character at a cell; right of the text it is the end of the row."""
        row = min(row, self.rows - 1)
        start, end = (*self._starts, len(self._shown))[row : row + 2]
        if self._shown.isascii():
            index = min(start + cell, end)
        else:
            index = start
            while index < end and cell >= (size := get_character_cell_size(self._shown[index])):
                cell -= size
                index += 1
        if self._shown == self._text:
            return index
        return bisect_right(range(len(self._text) + 1), index, key=self._shown_index) - 1

    def columns(self, row: int) -> list[int]:
        """For each cell of a row the column of the character in it."""
        start, end = (*self._starts, len(self._shown))[row : row + 2] if row < self.rows else (0, 0)
        columns = range(len(self._text)) if self._shown == self._text else self._tabbed_columns()
        return by_cell(self._shown[start:end], columns[start:end])

    def cell_of(self, column: int) -> tuple[int, int]:
        """The row and the cell where the character at a column starts."""
        index = self._shown_index(min(column, len(self._text)))
        row = bisect_right(self._starts, index) - 1
        return row, cell_len(self._shown[self._starts[row] : index])

    def _tabbed_columns(self) -> list[int]:
        """The column of each shown character, where a tab is several."""
        columns: list[int] = []
        cell = 0
        for column, character in enumerate(self._text):
            blanks = TAB - cell % TAB if character == "\t" else 1
            cell += blanks if character == "\t" else get_character_cell_size(character)
            columns += [column] * blanks
        return columns

    def _shown_index(self, column: int) -> int:
        return len(without_tabs(self._text[:column]))
