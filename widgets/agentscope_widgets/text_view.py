"""A view of text that is wrapped and rendered: which place of the source a cell shows, and what is marked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from rich.cells import get_character_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from .line_view import ScrollingView
from .source_map import NOWHERE

FAR = 1_000_000_000
"""A cell to the right of every row."""


class TextPlace(NamedTuple):
    """A place in the source of a view: the number of a text, and an offset in it. Places are in order."""

    text: int
    offset: int


class RowPlaces(NamedTuple):
    """What one row shows: a text, and for each cell of the view the offset in it, or `NOWHERE`."""

    text: int
    offsets: Sequence[int]

    @property
    def stops(self) -> list[tuple[int, int]]:
        """The characters from left to right: first cell and offset."""
        cells = [(x, offset) for x, offset in enumerate(self.offsets) if offset != NOWHERE]
        return cells[:1] + [cell for before, cell in pairwise(cells) if cell[1] != before[1]]


class Mark(NamedTuple):
    """The text from one place up to another, drawn in a style over its own."""

    start: TextPlace
    end: TextPlace
    style: Style


class TextView(ScrollingView):
    """Knows its source: texts, unwrapped and safe, numbered from 0. A subclass says what is where; here
    there is none.

    A line is one of the content, counted from its start; a cell (x) is one of the view.
    """

    @property
    def text_count(self) -> int:
        """How many texts there are."""
        return 0

    def text_at(self, number: int) -> str:
        """A text, all of it."""
        return ""

    def row_places(self, line: int) -> RowPlaces | None:
        """What a line shows; None if no text."""
        return None

    def place_at(self, x: int, line: int) -> TextPlace | None:
        """The place at, or nearest to the right of, a cell; to the right of all text the end of the row.

        None: there is no text on this line.
        """
        return None

    def cell_of(self, place: TextPlace) -> tuple[int, int] | None:
        """The cell and the line that show a place, or what comes after it; None while it is folded away."""
        return None

    def reveal(self, place: TextPlace) -> None:
        """Bring a place into sight, out of a fold if it is in one; the view does not follow any more."""

    def pieces(self, start: TextPlace, end: TextPlace) -> Iterable[str]:
        """The source from one place up to a later one, in pieces that each take little time."""
        return ()

    def source_line(self, place: TextPlace) -> tuple[TextPlace, TextPlace]:
        """The start and the end of the line of source text around a place."""
        start, end = line_bounds(self.text_at(place.text), place.offset)
        return TextPlace(place.text, start), TextPlace(place.text, end)

    def after(self, place: TextPlace) -> TextPlace:
        """The end of the character at a place, with its combining marks; a line break has none."""
        number, offset = place
        text = self.text_at(number)
        if text[offset : offset + 1] in ("", "\n"):
            return place
        offset += 1
        while offset < len(text) and text[offset] not in "\n\t" and not get_character_cell_size(text[offset]):
            offset += 1
        return TextPlace(number, offset)

    def in_hand(self) -> tuple[TextPlace, TextPlace] | None:
        """Start and end of what the user looks at when nothing is selected; None: there is nothing."""
        return None

    def has_marks(self) -> bool:
        """Whether anything may be marked anywhere: only then is it asked what rows show."""
        return False

    def marks(self, row: RowPlaces) -> Iterable[Mark]:
        """What to mark in a row, the topmost last; marks elsewhere do no harm."""
        return ()

    def marked(self, strip: Strip, y: int) -> Strip:
        if not self.has_marks():
            return strip
        row = self.row_places(self.scroll_offset.y + y)
        if row is None:
            return strip
        for mark in self.marks(row):
            strip = _drawn(strip, row, mark)
        return strip


def line_bounds(text: str, offset: int) -> tuple[int, int]:
    """Where the line of a text around an offset starts and ends."""
    end = text.find("\n", offset)
    return text.rfind("\n", 0, offset) + 1, end if end >= 0 else len(text)


def _drawn(strip: Strip, row: RowPlaces, mark: Mark) -> Strip:
    """The strip with a mark from the first to the last cell that shows some of it."""
    if not mark.start.text <= row.text <= mark.end.text:
        return strip
    low = mark.start.offset if mark.start.text == row.text else 0
    cells = [
        x
        for x, offset in enumerate(row.offsets)
        if offset >= low and (mark.end.text > row.text or offset < mark.end.offset)
    ]
    if not cells:
        return strip
    start, end = cells[0], cells[-1] + 1
    inside = [
        Segment(text, (style or Style.null()) + mark.style) for text, style, _ in strip.crop(start, end)
    ]
    return Strip([*strip.crop(0, start), *inside, *strip.crop(end)], strip.cell_length)
