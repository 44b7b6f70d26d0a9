"""Sessions as a table of plain text, cut to fit a terminal or whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from agentscope_tui import text_table
from agentscope_tui.figures import dollars, thousands
from agentscope_tui.store.session_row import SessionRow
from agentscope_tui.store.session_tree import Branch
from agentscope_tui.text_table import Column


def table_of(branches: Sequence[Branch], width: int | None, *, as_tree: bool) -> Iterator[str]:
    """The lines, of at most `width` cells; with None nothing is left out, and nothing cut."""
    return text_table.table_of(branches, _columns(as_tree, whole=width is None), width)


def state_of(row: SessionRow) -> str:
    """How a session stands, in words; one whose turn is over may still be open in an agentscope."""
    is_open = row.status == "running" and row.state in ("idle", "done", "failed", "stopped", "limit")
    return f"{row.state}, open" if is_open else row.state


def model_name(model: str) -> str:
    """A model's name; of one that is a file, only the file's name."""
    provider, colon, name = model.partition(":")
    return f"{provider}{colon}{Path(name).name}" if provider in ("scripted", "replay") else model


def _columns(as_tree: bool, *, whole: bool) -> list[Column[Branch]]:
    """Those of a table that is cut to fit, or of a `whole` one."""
    name: list[Column[Branch]] = [Column("name", 0, lambda branch: branch.row.name, most=40)] if whole else []
    forks: list[Column[Branch]] = [
        Column("±", 3, lambda branch: branch.difference, right=True),
        Column("change", 2, lambda branch: _change(branch.row), most=40),
    ]
    return [
        Column("when", 4, lambda branch: _when(branch.row.when, whole=whole)),
        Column("session", 0, lambda branch: branch.lead + _called(branch.row, whole=whole), most=50),
        *name,
        Column("row", 5, lambda branch: "" if branch.row.row is None else str(branch.row.row), right=True),
        Column("state", 1, lambda branch: state_of(branch.row)),
        Column("calls", 3, lambda branch: str(branch.row.calls), right=True),
        Column("tokens", 6, lambda branch: thousands(branch.row.tokens), right=True),
        Column("reward", 2, lambda branch: _number(branch.row.reward), right=True),
        *(forks if as_tree else ()),
        Column(
            "cost", 9, lambda branch: "" if branch.row.cost is None else dollars(branch.row.cost), right=True
        ),
        Column("dataset", 8, lambda branch: _dataset(branch.row, whole=whole), most=20),
        Column("model", 7, lambda branch: branch.row.model if whole else model_name(branch.row.model)),
        Column("agent", 10, lambda branch: branch.row.agent, most=20),
        Column("prompt", 11, lambda branch: branch.row.prompt, most=300),
    ]


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
