"""Sessions as a table of plain text, cut to fit a terminal or whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from rich.cells import cell_len, set_cell_size

from agentscope_tui.figures import dollars, thousands
from agentscope_tui.printable import printable
from agentscope_tui.store.session_row import SessionRow
from agentscope_tui.store.session_tree import Branch

_GAP = "  "
_NARROWEST = 8
"""Cells of a column that is cut to fit."""


class _Column(NamedTuple):
    """`need` orders the columns: those with the highest go where there is no room."""

    title: str
    need: int
    text: Callable[[Branch], str]
    right: bool = False
    most: int = 24


def table_of(branches: Sequence[Branch], width: int | None, *, as_tree: bool) -> Iterator[str]:
    """The lines, of at most `width` cells; with None nothing is left out, and nothing cut."""
    if not branches:
        return
    columns = _columns(as_tree, whole=width is None)
    texts = {column: [printable(column.text(branch)) for branch in branches] for column in columns}
    shown = [column for column in columns if width is None or any(texts[column])]
    widths = {column: max(map(cell_len, (column.title, *texts[column]))) for column in shown}
    if width is not None:
        widths = {column: min(cells, column.most) for column, cells in widths.items()}
        widths = _fitting(widths, width)
    for number in range(-1, len(branches)):
        cells = []
        for column, room in widths.items():
            text = column.title if number < 0 else texts[column][number]
            if (cut := cell_len(text)) > room:
                text, cut = set_cell_size(text, room - 1) + "…", room
            blanks = " " * (room - cut)
            cells.append(blanks + text if column.right else text + blanks)
        yield _GAP.join(cells).rstrip()


def state_of(row: SessionRow) -> str:
    """How a session stands, in words; one whose turn is over may still be open in an agentscope."""
    is_open = row.status == "running" and row.state in ("idle", "done", "failed", "stopped", "limit")
    return f"{row.state}, open" if is_open else row.state


def model_name(model: str) -> str:
    """A model's name; of one that is a file, only the file's name."""
    provider, colon, name = model.partition(":")
    return f"{provider}{colon}{Path(name).name}" if provider in ("scripted", "replay") else model


def _columns(as_tree: bool, *, whole: bool) -> list[_Column]:
    """Those of a table that is cut to fit, or of a `whole` one."""
    name = [_Column("name", 0, lambda branch: branch.row.name, most=40)] if whole else []
    forks = [
        _Column("±", 3, lambda branch: branch.difference, right=True),
        _Column("change", 2, lambda branch: _change(branch.row), most=40),
    ]
    return [
        _Column("when", 4, lambda branch: _when(branch.row.when, whole=whole)),
        _Column("session", 0, lambda branch: branch.lead + _called(branch.row, whole=whole), most=50),
        *name,
        _Column("row", 5, lambda branch: "" if branch.row.row is None else str(branch.row.row), right=True),
        _Column("state", 1, lambda branch: state_of(branch.row)),
        _Column("calls", 3, lambda branch: str(branch.row.calls), right=True),
        _Column("tokens", 6, lambda branch: thousands(branch.row.tokens), right=True),
        _Column("reward", 2, lambda branch: _number(branch.row.reward), right=True),
        *(forks if as_tree else ()),
        _Column(
            "cost", 9, lambda branch: "" if branch.row.cost is None else dollars(branch.row.cost), right=True
        ),
        _Column("dataset", 8, lambda branch: _dataset(branch.row, whole=whole), most=20),
        _Column("model", 7, lambda branch: branch.row.model if whole else model_name(branch.row.model)),
        _Column("agent", 10, lambda branch: branch.row.agent, most=20),
        _Column("prompt", 11, lambda branch: branch.row.prompt, most=300),
    ]


def _fitting(widths: dict[_Column, int], width: int) -> dict[_Column, int]:
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


def _called(row: SessionRow, *, whole: bool) -> str:
    return row.id if whole else row.name or row.id


def _change(row: SessionRow) -> str:
    if not row.parent:
        return ""
    at = "" if row.parent_call is None else f"#{row.parent_call} "
    return f"{at}{row.change}"


def _dataset(row: SessionRow, *, whole: bool) -> str:
    return row.dataset if whole else Path(row.dataset).name


def _when(at: datetime, *, whole: bool) -> str:
    if whole:
        return f"{at:%Y-%m-%d %H:%M:%S}"
    return f"{at:%m-%d %H:%M}" if at.year == datetime.now(UTC).astimezone().year else f"{at:%Y-%m-%d}"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:g}"
