"""A table as rows: columns as wide as they need, narrowed fairly when they do not fit, cells wrapped."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import NamedTuple

from rich.cells import cell_len
from rich.segment import Segment

from .look import Look
from .text_rows import Row, wrap_runs

_GAP = 2
_NARROWEST = 3


class Cell(NamedTuple):
    """One cell: styled text on one line, and `left`, `right`, `center` or nothing."""

    runs: Row
    align: str = ""

    @property
    def width(self) -> int:
        return sum(cell_len(text) for text, _, _ in self.runs)


def table_rows(lines: Sequence[Sequence[Cell]], width: int, look: Look) -> list[Row]:
    """The table, its first line the header, in at most `width` cells.

    With more columns than fit at all each line of the table is wrapped as text.
    """
    columns = max((len(line) for line in lines), default=0)
    if columns * (_NARROWEST + _GAP) - _GAP > width:
        return [row for line in lines for row in wrap_runs(_joined(line, look), width)]
    widths = _column_widths(lines, columns, width)
    rule: Row = [Segment("─" * (sum(widths) + _GAP * (columns - 1)), look.muted)]
    rows: list[Row] = []
    for index, line in enumerate(lines):
        wrapped = [wrap_runs(cell.runs, room) for cell, room in zip(line, widths, strict=False)]
        for pieces in zip_longest(*wrapped, fillvalue=[]):
            rows.append(_side_by_side(pieces, line, widths))
        if index == 0:
            rows.append(rule)
    return rows


def _column_widths(lines: Sequence[Sequence[Cell]], columns: int, width: int) -> list[int]:
    """What each column needs; while that is too much, the widest give way."""
    widths = [_NARROWEST] * columns
    for line in lines:
        for index, cell in enumerate(line):
            widths[index] = max(widths[index], cell.width)
    room = width - _GAP * (columns - 1)
    while (excess := sum(widths) - room) > 0:
        widest = max(widths)
        next_widest = max((size for size in widths if size < widest), default=_NARROWEST)
        sharing = [index for index, size in enumerate(widths) if size == widest]
        step = max(1, min(widest - next_widest, -(-excess // len(sharing))))
        for index in sharing[: -(-excess // step)]:
            widths[index] -= step
    return widths


def _side_by_side(pieces: Sequence[Row], cells: Sequence[Cell], widths: Sequence[int]) -> Row:
    row: Row = []
    for index, (piece, cell, width) in enumerate(zip(pieces, cells, widths, strict=False)):
        spare = max(0, width - sum(cell_len(text) for text, _, _ in piece))
        left = {"right": spare, "center": spare // 2}.get(cell.align, 0)
        last = index == len(cells) - 1
        row += [Segment(" " * left), *piece, Segment(" " * (0 if last else spare - left + _GAP))]
    return [segment for segment in row if segment.text]


def _joined(line: Sequence[Cell], look: Look) -> Row:
    row: Row = []
    for index, cell in enumerate(line):
        row += [*([Segment(" | ", look.muted)] if index else []), *cell.runs]
    return row
