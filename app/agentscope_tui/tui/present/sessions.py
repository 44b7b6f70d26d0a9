"""Recorded sessions as cells of a list: how each stands, what was changed in a fork, and what came of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from agentscope_tui.figures import dollars, thousands
from agentscope_tui.session.tally import Tally
from agentscope_tui.session_table import model_name, state_of
from agentscope_tui.store.session_row import SessionRow
from agentscope_tui.store.session_tree import Branch
from agentscope_tui.tui.present.rows import LOOKS
from agentscope_widgets.row_columns import Column
from agentscope_widgets.row_list import RowCells

COLUMNS = (
    Column("session", "session", least=10, most=40),
    Column("state", "state", least=7, most=14, style="tone"),
    Column("reward", "reward", least=4, most=8, right=True, style="tone"),
    Column("difference", "±", least=2, most=6, right=True),
    Column("change", "change", least=6, most=36),
    Column("calls", "calls", least=2, most=6, right=True, style="muted"),
    Column("tokens", "tokens", least=4, most=7, right=True, style="muted"),
    Column("cost", "cost", least=4, most=8, right=True, style="muted"),
    Column("when", "when", least=11, most=11, style="muted"),
    Column("model", "model", least=5, most=24, style="muted"),
    Column("prompt", "prompt", most=60),
)
HERE = "▸ "
"""Before the name of a session that is open in this process."""

SORTED_BY: Mapping[str, Callable[[SessionRow], str | float | None]] = {
    "index": lambda row: row.row,
    "session": lambda row: row.name or row.id,
    "state": lambda row: row.state,
    "reward": lambda row: row.reward,
    "change": lambda row: row.change,
    "calls": lambda row: row.calls,
    "tokens": lambda row: row.tokens,
    "cost": lambda row: row.cost,
    "when": lambda row: row.created,
    "model": lambda row: row.model,
    "prompt": lambda row: row.prompt,
}
"""What the columns sort by, and the first one, by key; what has no value is None."""


def session_cells(branch: Branch, live: Tally | None, *, marked: bool) -> RowCells:
    """A session's cells; `live` is how one stands that is open in this process."""
    row = branch.row
    state, reward, calls, tokens, cost = row.state, row.reward, row.calls, row.tokens, row.cost
    if live is not None:
        state, reward, calls, cost = live.word, live.reward, live.call, live.cost
        tokens = live.input_tokens + live.output_tokens
    glyph, tone = LOOKS[state]
    words = state_of(row) if live is None else live.word
    texts = {
        "index": "" if row.row is None else str(row.row),
        "session": f"{branch.lead}{HERE if live is not None else ''}{row.name or row.id}",
        "state": f"{glyph} {words}",
        "reward": "" if reward is None else f"{reward:g}",
        "difference": branch.difference,
        "change": change_of(branch),
        "calls": str(calls or ""),
        "tokens": thousands(tokens) if tokens else "",
        "cost": "" if cost is None else dollars(cost),
        "when": f"{row.when:%m-%d %H:%M}",
        "model": model_name(row.model),
        "prompt": row.prompt,
    }
    return RowCells(row.row or 0, texts, tone, marked)


def change_of(branch: Branch) -> str:
    """What is different in a fork, and from which call on; of which session, where that is not above it."""
    row = branch.row
    if not row.parent:
        return ""
    words = [f"#{row.parent_call}"] if row.parent_call is not None else []
    if branch.parent is None:
        words.append(f"of {row.parent}")
    return " ".join([*words, row.change])
