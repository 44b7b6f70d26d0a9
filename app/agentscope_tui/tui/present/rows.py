"""Dataset rows as cells of the rows pane: what the file says, and how the row's session stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from agentscope_tui.datasets.fields import NoField, as_text, lookup
from agentscope_tui.datasets.raw import RawRow
from agentscope_tui.datasets.record import BAD_ROW, Standing
from agentscope_tui.datasets.task import RowError, Task
from agentscope_tui.events import TurnOutcome
from agentscope_tui.session.state import SessionState
from agentscope_tui.tui.present.words import seconds
from agentscope_widgets.look import Tone
from agentscope_widgets.row_columns import Column
from agentscope_widgets.row_list import RowCells

PROMPT = Column("prompt", "prompt", most=40)
COLUMNS = (
    Column("state", "state", least=7, most=14, style="tone"),
    Column("calls", "calls", least=2, most=8, right=True, style="muted", narrow="joined"),
    Column("reward", "reward", least=4, most=8, right=True, style="tone"),
    Column("duration", "time", least=5, most=8, right=True, style="muted", narrow="hidden"),
    PROMPT,
)
"""The columns of every dataset, as they stand at first; `dataset_column` makes the others."""

_OUTCOMES: Mapping[TurnOutcome, tuple[str, str, Tone]] = {
    "completed": ("✓", "done", "success"),
    "failed": ("✗", "failed", "error"),
    "interrupted": ("■", "stopped", "warning"),
    "limit": ("▲", "limit", "warning"),
}
_OF_ROW = "row."
NOT_OPENED = "error"
"""The state of a row whose session could not be opened."""


def dataset_column(path: str) -> Column:
    """The column for a field of the dataset's rows."""
    return Column(_OF_ROW + path, path)


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


def standing_of(state: SessionState, now: datetime) -> Standing:
    """How a session stands, in the values that filters and orders see."""
    _, word, _ = row_state(state)
    duration = None
    if state.turn_started is not None:
        duration = ((state.turn_ended or now) - state.turn_started).total_seconds()
    return Standing(word, state.call or None, state.reward, duration)


def cells_of(
    row: Task | RowError,
    raw: RawRow | RowError,
    keys: Sequence[str],
    *,
    session: SessionState | None,
    standing: Standing | None,
    marked: bool,
) -> RowCells:
    """A row's cells for the columns with these keys; `standing` without a session says it was not opened."""
    texts = _fields(raw, keys)
    tone: Tone = "normal"
    if isinstance(row, RowError):
        tone = "error"
        # The reason is to be seen whatever columns there are.
        reason_in = next((key for key in keys if key == PROMPT.key or key.startswith(_OF_ROW)), PROMPT.key)
        texts |= {"state": f"✗ {BAD_ROW}", reason_in: row.reason}
    else:
        texts["prompt"] = row.prompt
        if session is not None:
            glyph, word, tone = row_state(session)
            texts |= {"state": f"{glyph} {word}", **_standing(session, standing)}
        elif standing is not None:
            tone = "error"
            texts["state"] = f"✗ {standing.state}"
    return RowCells(row.index, texts, tone, marked)


def _fields(raw: RawRow | RowError, keys: Sequence[str]) -> dict[str, str]:
    if isinstance(raw, RowError):
        return {}
    texts: dict[str, str] = {}
    for key in keys:
        if key.startswith(_OF_ROW):
            try:
                texts[key] = as_text(lookup(raw.value, key.removeprefix(_OF_ROW)))
            except NoField:
                continue
    return texts


def _standing(session: SessionState, standing: Standing | None) -> dict[str, str]:
    texts = {"calls": str(session.call or "")}
    if session.grade_error:
        texts["reward"] = "error"
    elif session.reward is not None:
        texts["reward"] = f"{session.reward:g}"
    if standing is not None and standing.duration is not None:
        texts["duration"] = seconds(standing.duration)
    return texts
