"""Dataset rows as cells of the rows pane: what the file says, and how the row's session stands."""

from __future__ import annotations

from collections.abc import Mapping

from agentscope_tui.datasets.task import RowError, Task
from agentscope_tui.events import TurnOutcome
from agentscope_tui.session.state import SessionState
from agentscope_widgets.look import Tone
from agentscope_widgets.row_list import RowCells

_OUTCOMES: Mapping[TurnOutcome, tuple[str, str, Tone]] = {
    "completed": ("✓", "done", "success"),
    "failed": ("✗", "failed", "error"),
    "interrupted": ("■", "stopped", "warning"),
    "limit": ("▲", "limit", "warning"),
}


def row_state(state: SessionState) -> tuple[str, str, Tone]:
    """Glyph, word and tone for how a session stands."""
    if state.status == "failed":
        return "✗", "failed", "error"
    if any(hold.step == "failed_call" for hold in state.holds):
        return "✗", "waiting", "error"
    if state.holds:
        return "‖", "paused", "warning"
    match state.status:
        case "starting":
            return "◌", "starting", "accent"
        case "running":
            return "●", "running", "accent"
        case "interrupting":
            return "■", "stopping", "warning"
        case _:
            return _OUTCOMES[state.outcome] if state.outcome else ("○", "idle", "muted")


def cells_of(row: Task | RowError, state: SessionState | None, problem: str | None) -> RowCells:
    """A row's cells; `problem` is why its session could not be opened."""
    if isinstance(row, RowError):
        return RowCells(row.index, "✗", "bad row", "", "", row.reason, "error")
    if problem is not None:
        return RowCells(row.index, "✗", "error", "", "", row.prompt, "error")
    if state is None:
        return RowCells(row.index, "", "", "", "", row.prompt, "normal")
    glyph, word, tone = row_state(state)
    reward = "error" if state.grade_error else "" if state.reward is None else f"{state.reward:g}"
    return RowCells(row.index, glyph, word, str(state.call or ""), reward, row.prompt, tone)
