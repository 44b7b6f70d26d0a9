"""The blocks of a view as its source: two texts each, a title and what the block says."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from .block_bodies import BlockBodies
from .block_layout import BlockLayout
from .block_text import BlockText
from .blocks import Block
from .searching_view import SearchingView
from .source_map import character_end
from .text_search import Passage
from .text_view import RowPlaces, TextPlace


class BlockSource(SearchingView):
    """A view of blocks in a layout, whose text can be selected and searched."""

    BODIES: ClassVar[type[BlockBodies]] = BlockBodies
    """What renders the bodies of its blocks."""

    def __init__(self, *, placeholder: str = "", id: str | None = None, classes: str | None = None) -> None:
        super().__init__(placeholder=placeholder, id=id, classes=classes)
        self._layout = BlockLayout(lambda: self.look, self.BODIES)
        self._text = BlockText(self._layout)
        self._selected: list[str] = []
        """For each place of the selection the key of its block."""

    @property
    def blocks(self) -> Sequence[Block]:
        """The blocks shown, in order."""
        return self._layout.blocks

    def is_hidden(self, position: int) -> bool:
        """Whether a block is of a kind that is not shown."""
        return self._layout.is_hidden(position)

    @property
    def text_count(self) -> int:
        return self._text.count

    def text_at(self, number: int) -> str:
        return self._text.text_at(number)

    def passage(self, number: int) -> Passage:
        return ["" if self.is_hidden(number // 2) else self.text_at(number)]

    def row_places(self, line: int) -> RowPlaces | None:
        return self._text.row_places(line)

    def place_at(self, x: int, line: int) -> TextPlace | None:
        return self._text.place_at(x, line)

    def cell_of(self, place: TextPlace) -> tuple[int, int] | None:
        return self._text.cell_of(place)

    def pieces(self, start: TextPlace, end: TextPlace) -> Iterable[str]:
        return self._text.pieces(start, end)

    def after(self, place: TextPlace) -> TextPlace:
        after = super().after(place)
        if after != place and place.text % 2 and self.blocks[place.text // 2].format == "markdown":
            return max(after, TextPlace(place.text, character_end(self.text_at(place.text), place.offset)))
        return after

    def source_line(self, place: TextPlace) -> tuple[TextPlace, TextPlace]:
        """The line of text around a place; a title stands for its block."""
        if place.text % 2:
            return super().source_line(place)
        body = place.text + 1
        return TextPlace(place.text, 0), TextPlace(body, len(self.text_at(body)))

    def selection_changed(self) -> None:
        super().selection_changed()
        self._selected = [self.blocks[place.text // 2].key for place in self.places]

    def text_put(self, position: int, old: Block | None) -> None:
        """The block at a position was put there in place of `old`: search and selection take that in."""
        block = self.blocks[position]
        if block.key in self._selected:
            # Something may have come before a block in which text is selected.
            selected = zip(self.places, self._selected, strict=True)
            self.replace_places(
                TextPlace(2 * position + place.text % 2, place.offset) if key == block.key else place
                for place, key in selected
            )
        if old is None or _source(old) != _source(block):
            self.texts_changed(2 * position, 2 * position + 2)


def _source(block: Block) -> tuple[str, ...]:
    return block.kind, block.title, block.body, block.format
