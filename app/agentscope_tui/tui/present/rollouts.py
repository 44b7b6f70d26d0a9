"""The sessions of one row as lines of a list: reward, size, and a strip with a cell for each call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agentscope_tui.figures import seconds, thousands
from agentscope_tui.session.rollouts import Cell, Statistics
from agentscope_tui.session.totals import Totals
from agentscope_tui.tui.present.rows import LOOKS
from agentscope_widgets.row_columns import Column
from agentscope_widgets.row_list import RowCells

COLUMNS = (
    Column("session", "session", least=10, most=30),
    Column("state", "state", least=7, most=12, style="tone"),
    Column("reward", "reward", least=4, most=8, right=True, style="tone"),
    Column("calls", "calls", least=2, most=6, right=True, style="muted"),
    Column("tokens", "tokens", least=4, most=7, right=True, style="muted"),
    Column("time", "time", least=4, most=7, right=True, style="muted"),
    Column("strip", "calls, side by side", least=20, most=400),
)
GLYPHS: Mapping[Cell, str] = {"text": "○", "tool": "▪", "submit": "◆", "error": "✗", "interrupted": "■"}
LEGEND = "│ here they part · ▪ tools · ○ text · ◆ submit · ✗ error · ■ cut off"
_COMMON_SHOWN = 12
"""Calls before they part that are shown one by one."""


def strip_text(strip: Sequence[Cell], common: int) -> str:
    """A strip as text: the first call that differs stands in the same column for all."""
    cells = [GLYPHS[cell] for cell in strip]
    before = [f"═{common}═"] if common > _COMMON_SHOWN else cells[:common]
    return "".join([*before, *(["│"] if common else []), *cells[common:]])


def rollout_cells(place: int, totals: Totals, name: str, strip: str, *, marked: bool) -> RowCells:
    """A session's cells."""
    glyph, tone = LOOKS[totals.outcome]
    texts = {
        "index": str(place + 1),
        "session": name or totals.session_id,
        "state": f"{glyph} {totals.outcome}",
        "reward": "" if totals.reward is None else f"{totals.reward:g}",
        "calls": str(totals.calls),
        "tokens": thousands(totals.input_tokens + totals.output_tokens),
        "time": seconds(totals.worked),
        "strip": strip,
    }
    return RowCells(place, texts, tone, marked)


def statistics_lines(found: Statistics, names: Sequence[str]) -> list[str]:
    """What the rewards come to; `names` are those of the sessions."""
    many = f"{found.sessions} session{'s' * (found.sessions != 1)}"
    lines = [f"{many} · {found.graded} graded · {found.passed} passed"]
    if found.mean is not None and found.best is not None and found.worst is not None:
        deviation = "" if found.deviation is None else f" ± {found.deviation:.3g}"
        lines[0] += f" · mean {found.mean:.3g}{deviation}"
        chances = [(k, found.pass_at(k)) for k in _powers(found.graded)]
        lines.append(" · ".join(f"pass@{k} {chance:.2f}" for k, chance in chances if chance is not None))
        if found.best != found.worst:
            lines[1] += f" · best {names[found.best]} · worst {names[found.worst]}"
    return lines


def _powers(most: int) -> list[int]:
    """1, 2, 4 … up to `most`, and `most` itself."""
    return sorted({*(1 << power for power in range(most.bit_length())), most})
