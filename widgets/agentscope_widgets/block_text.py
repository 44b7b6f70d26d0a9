"""The text that blocks were rendered from, by place on the screen: for selecting, copying and searching."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.cells import cell_len

from .block_layout import BlockLayout, Place
from .blocks import INDENT, fold_mark, source_text
from .safe_text import safe_line
from .source_map import NOWHERE
from .text_rows import by_cell, fit_end
from .text_view import FAR, RowPlaces, TextPlace


class BlockText:
    """Two texts for each block of a layout: its title, and what it says. Lines and cells are the layout's."""

    def __init__(self, layout: BlockLayout) -> None:
        self._layout = layout

    @property
    def count(self) -> int:
        """How many texts there are."""
        return 2 * len(self._layout.blocks)

    def text_at(self, number: int) -> str:
        """A title, on one line; or what a block says: all of it, unwrapped and safe, as it was written."""
        position, is_body = divmod(number, 2)
        block = self._layout.blocks[position]
        return source_text(block.body, block.format) if is_body else safe_line(block.title)

    def is_hidden(self, number: int) -> bool:
        """Whether the text is of a block that is not shown."""
        return self._layout.is_hidden(number // 2)

    def row_places(self, line: int) -> RowPlaces | None:
        """What a line of the layout shows; None for an empty line between blocks, or past the end."""
        at = self._layout.place(line)
        if at is None or at.line < 0:
            return None
        offsets = self._body_offsets(at) if at.line else self._title_offsets(at.position)
        return RowPlaces(2 * at.position + (at.line > 0), [*([NOWHERE] * INDENT), *offsets])

    def place_at(self, x: int, line: int) -> TextPlace | None:
        """The place at, or nearest to the right of, a cell; None past the last block.

        The empty line above a title is the end of the block before.
        """
        at = self._layout.place(line)
        if at is None:
            return None
        row = self.row_places(line)
        if row is None:
            return self.place_at(FAR, line - 1)
        to_the_right = next((offset for offset in row.offsets[x:] if offset != NOWHERE), None)
        if to_the_right is not None:
            return TextPlace(row.text, to_the_right)
        rows = self._layout.offsets(at.position)[: at.line] if at.line else [row.offsets]
        before = next((offset for row in reversed(rows) for offset in reversed(row) if offset != NOWHERE), -1)
        return TextPlace(row.text, before + 1)

    def cell_of(self, place: TextPlace) -> tuple[int, int] | None:
        """The cell and the line where a place is, or what comes next after it, else the last before it.

        None: its block is hidden or folded.
        """
        position, is_body = divmod(place.text, 2)
        if position >= len(self._layout.blocks) or self._layout.is_hidden(position):
            return None
        line = self._layout.title_line(position)
        if not is_body:
            return _cell_in(self._title_offsets(position), place.offset) + INDENT, line
        if self._layout.is_folded(position):
            return None
        rows = self._layout.offsets(position)
        with_it = (number for number, row in enumerate(rows, 1) if max(row, default=NOWHERE) >= place.offset)
        shown = (number for number in range(len(rows), 0, -1) if max(rows[number - 1], default=NOWHERE) >= 0)
        number = next(with_it, None) or next(shown, None)
        if number is None:
            return INDENT, line
        return _cell_in(rows[number - 1], place.offset) + INDENT, line + number

    def pieces(self, start: TextPlace, end: TextPlace) -> Iterator[str]:
        """The source from one place up to a later one; hidden blocks are left out."""
        first = True
        for number in range(start.text, end.text + 1):
            text = self.text_at(number)
            if self.is_hidden(number) or (number % 2 and not text):
                continue
            text = text[: end.offset] if number == end.text else text
            text = text[start.offset :] if number == start.text else text
            yield text if first else ("\n" if number % 2 else "\n\n") + text
            first = False

    def _title_offsets(self, position: int) -> list[int]:
        block, width = self._layout.blocks[position], self._layout.body_width
        mark = fold_mark(block, folded=self._layout.is_folded(position))
        title = safe_line(block.title)
        shown = fit_end(mark + title, width)
        kept = title if shown == mark + title else shown[len(mark) : shown.rindex("…")]
        return [*([NOWHERE] * cell_len(mark)), *by_cell(kept, range(len(kept)))]

    def _body_offsets(self, at: Place) -> Sequence[int]:
        rows = self._layout.offsets(at.position)
        return rows[at.line - 1] if at.line <= len(rows) else ()


def _cell_in(offsets: Sequence[int], wanted: int) -> int:
    """The cell of a row that shows an offset, or the next one after it, else the last that shows any."""
    shown = [(offset, cell) for cell, offset in enumerate(offsets) if offset != NOWHERE]
    after = [pair for pair in shown if pair[0] >= wanted]
    return min(after)[1] if after else max(shown)[1] if shown else 0
