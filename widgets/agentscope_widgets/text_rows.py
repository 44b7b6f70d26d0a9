"""Logical lines of text, plain or styled, as rows that fit a width in cells."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.cells import cell_len, get_character_cell_size
from rich.segment import Segment
from rich.style import Style

Row = list[Segment]
"""One row of the screen: styled pieces without control characters, no wider than it was made for."""

TAB = 4
"""Columns between tab stops."""


def break_offsets(text: str, width: int, *, words: bool = True) -> list[int]:
    """Where the rows of `text` (one line, safe, no tabs) start so that each fits `width` cells.

    Always starts with 0. Breaks after a space where there is one, else inside the word; with `words`
    off always at the width, as a terminal does.
    """
    width = max(1, width)
    starts = [0]
    size = len(text)
    narrow = text.isascii()
    if narrow and size <= width:
        return starts
    position = 0
    while True:
        end = position + width if narrow else _fitting_end(text, position, width)
        if end >= size:
            return starts
        if words:
            space = text.rfind(" ", position, end + 1)
            if space >= position and text[position:space].strip():
                end = space + 1
                if end >= size:
                    return starts
        position = end
        starts.append(position)


def _fitting_end(text: str, start: int, width: int) -> int:
    """The largest end such that `text[start:end]` fits; a character wider than the width stands alone."""
    used = 0
    for index in range(start, len(text)):
        cells = get_character_cell_size(text[index])
        used += cells
        if used > width and index > start:
            return index
    return len(text)


def wrap_line(text: str, width: int, style: Style, *, words: bool = True) -> list[Row]:
    """One safe line as rows in one style; an empty line is one empty row.

    With `words` the blanks at the end of a row are dropped.
    """
    text = without_tabs(text)
    starts = break_offsets(text, width, words=words)
    parts = [text[start:end] for start, end in zip(starts, [*starts[1:], len(text)], strict=True)]
    if words:
        parts = [part.rstrip(" ") for part in parts]
    return [[Segment(part, style)] if part else [] for part in parts]


def wrap_runs(runs: Sequence[Segment], width: int, *, words: bool = True) -> list[Row]:
    """One line of styled pieces (safe text, no newlines) as rows, as `wrap_line` does."""
    runs = expand_tabs(runs)
    text = "".join(run.text for run in runs)
    starts = break_offsets(text, width, words=words)
    rows: list[Row] = [[] for _ in starts]
    ends = [*starts[1:], len(text)]
    index = offset = 0
    for piece, style, _ in runs:
        taken = 0
        while taken < len(piece):
            take = min(len(piece) - taken, ends[index] - offset)
            rows[index].append(Segment(piece[taken : taken + take], style))
            taken += take
            offset += take
            index += offset == ends[index] and index + 1 < len(ends)
    return [_trimmed(row) for row in rows] if words else rows


def wrap_lines(lines: Iterable[Sequence[Segment]], width: int) -> list[Row]:
    """Lines of styled pieces as rows, as `wrap_runs` makes them of each."""
    return [row for line in lines for row in wrap_runs(line, width)]


def by_cell(text: str, values: Iterable[int]) -> list[int]:
    """For each cell of `text` (safe, no tabs) the value of the character in it."""
    if text.isascii():
        return list(values)
    return [
        value
        for character, value in zip(text, values, strict=True)
        for _ in range(get_character_cell_size(character))
    ]


def expand_tabs(runs: Sequence[Segment]) -> Sequence[Segment]:
    """The same pieces with tabs as spaces up to the next tab stop."""
    if not any("\t" in run.text for run in runs):
        return runs
    expanded: Row = []
    column = 0
    for text, style, _ in runs:
        shown = without_tabs(text, column)
        expanded.append(Segment(shown, style))
        column += cell_len(shown)
    return expanded


def without_tabs(text: str, column: int = 0) -> str:
    """`text`, which starts at cell `column` of its line, with spaces up to the next tab stop for each tab."""
    if "\t" not in text:
        return text
    *parts, last = text.split("\t")
    shown = ""
    for part in parts:
        column += cell_len(part)
        blanks = TAB - column % TAB
        shown += part + " " * blanks
        column += blanks
    return shown + last


def split_lines(runs: Iterable[Segment]) -> list[Row]:
    """Styled pieces with newlines as logical lines."""
    lines: list[Row] = [[]]
    for text, style, _ in runs:
        first, *rest = text.split("\n")
        if first:
            lines[-1].append(Segment(first, style))
        lines.extend([Segment(line, style)] if line else [] for line in rest)
    return lines


def fit(text: str, width: int) -> str:
    """Exactly `width` cells of `text` (one safe line): cut with `…`, or filled with spaces."""
    if width > 0 and text.removesuffix("…").isascii():
        return text.ljust(width) if len(text) <= width else text[: width - 1] + "…"
    cells = cell_len(text)
    if cells <= width:
        return text + " " * (width - cells)
    if width < 1:
        return ""
    cut = text[: _fitting_end(text, 0, width - 1)]
    if cell_len(cut) >= width:
        cut = ""
    return cut + "…" + " " * (width - 1 - cell_len(cut))


def fit_end(text: str, width: int) -> str:
    """`text` (one safe line), cut with `…` where it is wider than `width`."""
    return text if cell_len(text) <= width else fit(text, width)


def _trimmed(row: Row) -> Row:
    while row and row[-1].text.endswith(" "):
        last = row.pop()
        if text := last.text.rstrip(" "):
            row.append(Segment(text, last.style))
    return row
