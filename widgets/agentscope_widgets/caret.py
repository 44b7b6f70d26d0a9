"""Where a caret goes in a view of text: by character, word, row and page, over what is shown."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from .text_view import FAR, TextPlace, TextView, line_bounds

_WORD = re.compile(r"(?:[~.]*/)?\w+(?:[-./:@+]+\w+)*/?")
"""What a double click takes: a word, a path, a name with dots or dashes."""


def characters(view: TextView, place: TextPlace, step: int) -> Iterator[TextPlace]:
    """The characters that are shown after a place (`step` 1), or before it (-1), in that order."""
    at = view.cell_of(place)
    if at is None:
        return
    start, line = at
    row = view.row_places(line)
    if row is not None:
        beyond = (offset for cell, offset in row.stops[::step] if (cell - start) * step > 0)
        yield from (TextPlace(row.text, offset) for offset in beyond)
    line += step
    while 0 <= line < view.virtual_size.height:
        row = view.row_places(line)
        if row is not None:
            yield from (TextPlace(row.text, offset) for _, offset in row.stops[::step])
        line += step


def by_character(view: TextView, place: TextPlace, step: int) -> TextPlace:
    """The next character, or the one before; at the end the place itself."""
    return next(characters(view, place, step), place)


def by_word(view: TextView, place: TextPlace, step: int) -> TextPlace:
    """The start of the next word, or of the one before; without one the last or the first character."""
    is_word = _WordTest(view)
    last = place
    if step > 0:
        for following in characters(view, place, 1):
            if is_word(following) and not (is_word(last) and _adjacent(last, following)):
                return following
            last = following
        return last
    for before in characters(view, place, -1):
        if last != place and is_word(last) and not (is_word(before) and _adjacent(before, last)):
            return last
        last = before
    return last


def by_rows(view: TextView, place: TextPlace, rows: int, cell: int) -> TextPlace:
    """The character at or left of a cell, so many rows further down (up if negative)."""
    at = view.cell_of(place)
    if at is None:
        return place
    step = 1 if rows > 0 else -1
    line = max(0, min(at[1] + rows, view.virtual_size.height - 1))
    return nearest(view, line, cell, step) or nearest(view, line, cell, -step) or place


def nearest(view: TextView, line: int, cell: int, step: int) -> TextPlace | None:
    """The character at or left of a cell, on the first line from `line` on (back if -1) that shows text."""
    while 0 <= line < view.virtual_size.height:
        row = view.row_places(line)
        if row is not None and (stops := row.stops):
            index = max(0, bisect_right(stops, cell, key=lambda stop: stop[0]) - 1)
            return TextPlace(row.text, stops[index][1])
        line += step
    return None


def row_edge(view: TextView, place: TextPlace, step: int) -> TextPlace:
    """The last character of the row that shows a place, or the first."""
    at = view.cell_of(place)
    return (nearest(view, at[1], FAR if step > 0 else -FAR, 1) if at else None) or place


def edge(view: TextView, step: int) -> TextPlace | None:
    """The last character of all that is shown, or the first."""
    if step > 0:
        return nearest(view, view.virtual_size.height - 1, FAR, -1)
    return nearest(view, 0, -FAR, 1)


def word_around(view: TextView, place: TextPlace) -> tuple[TextPlace, TextPlace]:
    """The start and the end of the word at a place; elsewhere the one character."""
    text = view.text_at(place.text)
    for match in _WORD.finditer(text, *line_bounds(text, place.offset)):
        if match.start() <= place.offset < match.end():
            return TextPlace(place.text, match.start()), TextPlace(place.text, match.end())
    return place, view.after(place)


class _WordTest:
    """Tells whether the character at a place belongs to a word; keeps the text that it was asked for last."""

    def __init__(self, view: TextView) -> None:
        self._view = view
        self._number = -1
        self._text = ""

    def __call__(self, place: TextPlace) -> bool:
        if place.text != self._number:
            self._number, self._text = place.text, self._view.text_at(place.text)
        character = self._text[place.offset : place.offset + 1]
        return character.isalnum() or character == "_"


def _adjacent(one: TextPlace, other: TextPlace) -> bool:
    return other == TextPlace(one.text, one.offset + 1)
