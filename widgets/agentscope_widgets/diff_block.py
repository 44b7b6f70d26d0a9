"""A block that shows two texts line by line: side by side where there is room, else one below the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Literal, NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style

from .blocks import Block
from .line_layout import LineLayout
from .look import Look
from .source_map import NOWHERE
from .text_rows import Row, break_offsets, without_tabs

WIDE = 90
"""Cells from which on the two texts stand side by side."""

_DIVIDER = " │ "
_GLYPH = 2
"""Cells of the glyph before a line, and of the same in its body."""
_DIFFERS = Style(bold=True, underline=True)

DiffKind = Literal["title", "text", "note"]
Marks = Sequence[tuple[int, int]]


class DiffLine(NamedTuple):
    """A line of each text; None where one has none. Marks are the stretches that differ, as offsets.

    A `title` says what follows, a `note` what is left out. Text must be safe already: marks count its
    characters.
    """

    left: str | None
    right: str | None
    left_marks: Marks = ()
    right_marks: Marks = ()
    kind: DiffKind = "text"


@dataclass(frozen=True, slots=True)
class DiffBlock(Block):
    """`body` is `unified(lines)`: what is copied, searched and selected."""

    lines: tuple[DiffLine, ...] = ()


class _Text(NamedTuple):
    """One side of a line as it is drawn; `start` is where its text begins in the body."""

    glyph: str
    text: str
    start: int
    style: Style
    marks: Marks = ()


Drawn = tuple[Row, list[int]]
"""A row, and for each of its cells the offset in the body, or `NOWHERE`."""


def unified(lines: Sequence[DiffLine]) -> str:
    """The lines as one text, with `-` before those of the left one and `+` before those of the right."""
    return "\n".join(f"{glyph} {text}" for line in lines for glyph, text in _told(line))


def diff_rows(block: DiffBlock, width: int, look: Look) -> list[Row]:
    """The body of a block as rows of at most `width` cells."""
    return [row for row, _ in _drawn(block, width, look)]


def diff_offsets(block: DiffBlock, width: int, look: Look) -> list[list[int]]:
    """For each row of the body the offset of each cell in it, or `NOWHERE`.

    What is the same on both sides is at its place on the left one.
    """
    return [offsets for _, offsets in _drawn(block, width, look)]


def _told(line: DiffLine) -> Iterator[tuple[str, str]]:
    if line.left == line.right:
        yield " ", line.left or ""
        return
    if line.left is not None:
        yield "-", line.left
    if line.right is not None:
        yield "+", line.right


def _drawn(block: DiffBlock, width: int, look: Look) -> Iterator[Drawn]:
    start = 0
    for line in block.lines:
        left, right = _sides(line, start, look)
        start += sum(len(text) + _GLYPH + 1 for _, text in _told(line))
        if width >= WIDE and (line.kind == "text" or line.left != line.right):
            yield from _beside(left, right, (width - len(_DIVIDER)) // 2, look)
        else:
            yield from _one_below(left, right if line.left != line.right else None, width)


def _sides(line: DiffLine, start: int, look: Look) -> tuple[_Text | None, _Text | None]:
    """Both sides of a line whose body starts at an offset."""
    over = look.strong if line.kind == "title" else Style.null()
    if line.left == line.right:
        style = look.muted if line.kind == "note" else look.normal + over
        same = _Text(" ", line.left or "", start + _GLYPH, style)
        return same, same._replace(start=NOWHERE)
    left = right = None
    if line.left is not None:
        left = _Text("-", line.left, start + _GLYPH, look.error + over, line.left_marks)
        start += len(line.left) + _GLYPH + 1
    if line.right is not None:
        right = _Text("+", line.right, start + _GLYPH, look.success + over, line.right_marks)
    return left, right


def _beside(left: _Text | None, right: _Text | None, width: int, look: Look) -> Iterator[Drawn]:
    nothing: Drawn = ([], [])
    columns = (_wrapped(side, width) if side else [] for side in (left, right))
    for (row, offsets), (other, other_offsets) in zip_longest(*columns, fillvalue=nothing):
        blanks = width - sum(cell_len(text) for text, _, _ in row)
        divider = [Segment(" " * blanks), Segment(_DIVIDER, look.muted)]
        between = [NOWHERE] * (width - len(offsets) + len(_DIVIDER))
        yield [*row, *divider, *other], [*offsets, *between, *other_offsets]


def _one_below(left: _Text | None, right: _Text | None, width: int) -> Iterator[Drawn]:
    for side in (left, right):
        if side is not None:
            yield from _wrapped(side, width)


def _wrapped(side: _Text, width: int) -> Iterator[Drawn]:
    """One side in rows, each with its glyph."""
    shown = without_tabs(side.text)
    starts = break_offsets(shown, width - _GLYPH)
    places = LineLayout(side.text, None).columns(0)
    marks = [tuple(len(without_tabs(side.text[:end])) for end in mark) for mark in side.marks]
    cell = 0
    for start, end in zip(starts, [*starts[1:], len(shown)], strict=True):
        # The blank at which a row is broken may be beyond its width.
        drawn = shown[start:end].rstrip(" ")
        pieces = [*_pieces(shown, start, start + len(drawn), side.style, marks)]
        shows = places[cell : cell + cell_len(drawn)]
        found = [NOWHERE if side.start == NOWHERE else side.start + place for place in shows]
        yield [Segment(f"{side.glyph} ", side.style), *pieces], [*([NOWHERE] * _GLYPH), *found]
        cell += cell_len(shown[start:end])


def _pieces(
    text: str, start: int, end: int, style: Style, marks: Sequence[Sequence[int]]
) -> Iterator[Segment]:
    """The text from `start` up to `end`, with what is marked in it."""
    for mark_start, mark_end in marks:
        mark_start, mark_end = max(start, mark_start), min(end, mark_end)
        if mark_start < mark_end:
            if start < mark_start:
                yield Segment(text[start:mark_start], style)
            yield Segment(text[mark_start:mark_end], style + _DIFFERS)
            start = mark_end
    if start < end:
        yield Segment(text[start:end], style)
