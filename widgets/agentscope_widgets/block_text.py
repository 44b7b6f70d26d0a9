"""The text that blocks were rendered from, by place on the screen: for selecting, copying and searching."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .block_layout import BlockLayout, Place
from .blocks import INDENT, Block, source_text
from .safe_text import safe_line
from .source_map import NOWHERE


class TextPlace(NamedTuple):
    """A place in the text of a block: its position, and an offset in `text_of` of it. Places are in order."""

    position: int
    offset: int


class BlockText:
    """The source texts of the blocks of a layout; lines and cells are those of the layout."""

    def __init__(self, layout: BlockLayout) -> None:
        self._layout = layout

    def text_of(self, position: int) -> str:
        """What a block says: all of it, unwrapped and safe, in the form in which it was written."""
        block = self._layout.blocks[position]
        return source_text(block.body, block.format)

    def cell_offsets(self, line: int) -> Sequence[int]:
        """For each cell of a line, from the left edge of the view, the offset in the `text_of` its block.

        `NOWHERE` for a cell that shows no character of the text; a title has no offsets.
        """
        place = self._layout.place(line)
        return self._offsets(place) if place else []

    def at(self, line: int, cell: int) -> TextPlace | None:
        """The place in the text at, or nearest to the right of, a cell; None past the last block.

        A title, and the empty line above it, is the start of the block's text.
        """
        place = self._layout.place(line)
        if place is None:
            return None
        if place.line < 1:
            return TextPlace(place.position, 0)
        offsets = self._offsets(place)
        to_the_right = next((offset for offset in offsets[cell:] if offset != NOWHERE), None)
        if to_the_right is not None:
            return TextPlace(place.position, to_the_right)
        rows = self._layout.offsets(place.position)
        before = [offset for row in rows[: place.line] for offset in row if offset != NOWHERE]
        return TextPlace(place.position, before[-1] + 1 if before else 0)

    def between(self, start: TextPlace, end: TextPlace) -> str:
        """The source text from one place up to another, whichever comes first.

        Over several blocks each that begins in it has its title above; hidden ones are left out.
        """
        start, end = sorted((start, end))
        if start.position == end.position:
            return self.text_of(start.position)[start.offset : end.offset]
        parts: list[str] = []
        for position in range(start.position, end.position + 1):
            if self._layout.is_hidden(position):
                continue
            text = self.text_of(position)
            text = text[: end.offset] if position == end.position else text
            if position == start.position and start.offset:
                parts.append(text[start.offset :])
            else:
                parts.append(_titled(self._layout.blocks[position], text))
        return "\n\n".join(parts)

    def _offsets(self, place: Place) -> Sequence[int]:
        if place.line < 1:
            return []
        rows = self._layout.offsets(place.position)
        row = rows[place.line - 1] if place.line <= len(rows) else ()
        return [*([NOWHERE] * INDENT), *row]


def _titled(block: Block, text: str) -> str:
    title = safe_line(block.title)
    return f"{title}\n{text}" if text else title
