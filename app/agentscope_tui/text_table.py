"""Tables of plain text, cut to fit a terminal or whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from rich.cells import cell_len, set_cell_size

from agentscope_tui.printable import printable

T = TypeVar("T")

_GAP = "  "
_NARROWEST = 8
"""Cells of a column that is cut to fit."""


@dataclass(frozen=True, eq=False)
class Column(Generic[T]):
    """`need` orders the columns: those with the highest go where there is no room. `text` is what one has in
    it, in at most `most` cells where the table is cut."""

    title: str
    need: int
    text: Callable[[T], str]
    right: bool = False
    most: int = 24


def table_of(items: Sequence[T], columns: Sequence[Column[T]], width: int | None) -> Iterator[str]:
    """The lines, of at most `width` cells; with None nothing is left out, and nothing cut."""
    if not items:
        return
    texts = {column: [printable(column.text(item)) for item in items] for column in columns}
    shown = [column for column in columns if width is None or any(texts[column])]
    widths = {column: max(map(cell_len, (column.title, *texts[column]))) for column in shown}
    if width is not None:
        widths = {column: min(cells, column.most) for column, cells in widths.items()}
        widths = _fitting(widths, width)
    for number in range(-1, len(items)):
        cells = []
        for column, room in widths.items():
            text = column.title if number < 0 else texts[column][number]
            if (cut := cell_len(text)) > room:
                text, cut = set_cell_size(text, room - 1) + "…", room
            blanks = " " * (room - cut)
            cells.append(blanks + text if column.right else text + blanks)
        yield _GAP.join(cells).rstrip()


def _fitting(widths: dict[Column[T], int], width: int) -> dict[Column[T], int]:
    """The columns that fit side by side, and how wide: the last that is to go takes what room there is."""
    fitting = dict(widths)
    while sum(fitting.values()) + len(_GAP) * (len(fitting) - 1) > width and len(fitting) > 1:
        goes = max(fitting, key=lambda column: column.need)
        del fitting[goes]
        room = width - sum(fitting.values()) - len(_GAP) * len(fitting)
        if room >= _NARROWEST and not goes.right:
            fitting[goes] = min(widths[goes], room)
            break
    return {column: min(fitting[column], width) for column in widths if column in fitting}
