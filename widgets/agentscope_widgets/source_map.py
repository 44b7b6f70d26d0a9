"""Which character of a text is shown in which cell: found by comparing the text with its rendered rows.

Rendering drops markup and colours, breaks lines, adds bullets, borders and padding, but keeps the words in
their order. So the words of the rows are looked for in the text one after the other, and nothing that renders
has to know of it. What is found is exact for plain text; where Markdown shows what was never written, a cell
has no offset.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import unescape

from .markdown_rows import shows_info
from .text_rows import Row, by_cell

NOWHERE = -1
"""The offset of a cell that shows no character of the text: a bullet, padding, the number of a list item."""

_WORD = re.compile(r"[^\W_]+")
_PARTS = re.compile(r"[^\W_]+|\S")
_FENCE = re.compile(r"[ \t>]*(?:`{3,}|~{3,})([^\n]*)")
_BLANKS = re.compile(r"\s*")
_ENTITY = re.compile(r"&(?:#\w{1,8}|\w{1,32});")
_REACH = 4_000
"""Characters of markup that are passed over, and in which a word that is not next is looked for."""
_SURE = 3
"""Characters of a word that is long enough to be found out of order, as in the cells of a table."""


def character_end(source: str, offset: int) -> int:
    """The end of what stands in Markdown for the one character at an offset: `&amp;` is one."""
    entity = _ENTITY.match(source, offset)
    return entity.end() if entity and len(unescape(entity[0])) == 1 else offset + 1


class SourceMap:
    """The offsets of one text's rows; after a change only those rows are compared that are other objects."""

    def __init__(self) -> None:
        self._rows: list[Row] = []
        self._offsets: list[list[int]] = []
        self._starts: list[int] = []
        self._source = ""

    def offsets(self, rows: Sequence[Row], source: str) -> Sequence[Sequence[int]]:
        """For each row the offset in `source` of the character in each of its cells, or `NOWHERE`."""
        kept = self._kept(rows, source)
        finder = _Finder(source, self._starts[kept] if kept < len(self._starts) else 0)
        del self._offsets[kept:], self._starts[kept:]
        for row in rows[kept:]:
            self._starts.append(finder.position)
            self._offsets.append(_row_offsets("".join(run.text for run in row), finder))
        self._rows, self._source = list(rows), source
        return self._offsets

    def _kept(self, rows: Sequence[Row], source: str) -> int:
        """How many rows are still what they were; the last of them is looked at again."""
        kept = 0
        while kept < min(len(rows), len(self._rows)) and rows[kept] is self._rows[kept]:
            kept += 1
        kept = max(0, kept - 1)
        known = self._source[: self._starts[kept]] if kept else ""
        return kept if source.startswith(known) else 0


def _row_offsets(text: str, finder: _Finder) -> list[int]:
    by_character = [NOWHERE] * len(text)
    end = 0
    words = text.strip(" ")
    if (offset := finder.find_whole(words)) != NOWHERE:
        # Most rows have no markup in them.
        start = len(text) - len(text.lstrip(" "))
        by_character[start : start + len(words)] = range(offset, offset + len(words))
        _fill_blanks(by_character, 0, start, finder.source)
        end = start + len(words)
    for match in _PARTS.finditer(text, end):
        start = match.start()
        while start < match.end():
            offset, length = finder.find(text[start : match.end()])
            if offset != NOWHERE:
                by_character[start : start + length] = range(offset, offset + length)
            start += length
        _fill_blanks(by_character, end, match.start(), finder.source)
        end = match.end()
    _fill_blanks(by_character, end, len(text), finder.source)
    return by_cell(text, by_character)


def _fill_blanks(offsets: list[int], start: int, end: int, source: str) -> None:
    """The blanks of a row are those between the words beside them, as far as there are that many."""
    before = offsets[start - 1] if start else NOWHERE
    after = offsets[end] if end < len(offsets) else NOWHERE
    if start == end or before == after == NOWHERE:
        return
    if before == NOWHERE:
        gap = range(after - (end - start), after)
    elif after > before:
        gap = range(before + 1, after)
    else:
        gap = range(before + 1, before + 1 + end - start)
    blanks = [offset for offset in gap if 0 <= offset < len(source) and source[offset] in " \t"]
    cells = range(end - 1, start - 1, -1) if before == NOWHERE else range(start, end)
    for cell, offset in zip(cells, blanks[:: cells.step], strict=False):
        offsets[cell] = offset


class _Finder:
    """Finds words in a text, each after the one before."""

    def __init__(self, source: str, position: int) -> None:
        self.source = source
        self.position = position
        """Where the next part is looked for."""

    def find_whole(self, words: str) -> int:
        """Where all these words are, if nothing but white space is before them; else `NOWHERE`."""
        start = _BLANKS.match(self.source, self.position)
        if not words or start is None or not self.source.startswith(words, start.end()):
            return NOWHERE
        self.position = start.end() + len(words)
        return start.end()

    def find(self, part: str) -> tuple[int, int]:
        """Where the part is, or `NOWHERE`, and how many of its characters are there."""
        offset, length, end = self._next(part)
        if offset == NOWHERE and len(part) >= _SURE:
            offset = self._nearby(part)
            end = offset + length
        if offset != NOWHERE:
            self.position = end
        return offset, length

    def _next(self, part: str) -> tuple[int, int, int]:
        """The part, or its beginning, with nothing but markup between it and the one before; and its end."""
        source, position = self.source, self.position
        end = min(len(source), position + _REACH)
        while position < end:
            character = source[position]
            if (
                character == "&"
                and (entity := _ENTITY.match(source, position))
                and unescape(entity[0]) == part
            ):
                return position, len(part), entity.end()
            if source.startswith(part, position):
                return position, len(part), position + len(part)
            if word := _WORD.match(source, position):
                # Emphasis may begin or end inside a word.
                length = len(word[0]) if part.startswith(word[0]) else 0
                return (position, length, position + length) if length else (NOWHERE, len(part), 0)
            fence = _FENCE.match(source, position) if source[position - 1 : position] in ("", "\n") else None
            position = fence.end() if fence and not shows_info(fence[1].strip()) else position + 1
        return NOWHERE, len(part), 0

    def _nearby(self, part: str) -> int:
        position = self.position
        after = self.source.find(part, position, position + _REACH)
        if after != NOWHERE:
            return after
        return self.source.find(part, self.source.rfind("\n", 0, position) + 1, position)
