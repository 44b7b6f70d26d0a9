"""Dataset rows as cells of the rows pane: what the file says, and how the row's session stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Literal

from agentscope_tui.datasets.fields import NoField, as_text, lookup
from agentscope_tui.datasets.raw import RawRow
from agentscope_tui.datasets.record import BAD_ROW, Standing
from agentscope_tui.datasets.task import RowError, Task
from agentscope_tui.figures import seconds, thousands
from agentscope_tui.session.state import SessionState
from agentscope_tui.session.tally import Tally, Word
from agentscope_tui.store.session_row import SessionRow
from agentscope_tui.tui.batches import RowRollouts
from agentscope_tui.tui.present.runs import rollout_texts, word_of
from agentscope_widgets.look import Tone
from agentscope_widgets.row_columns import Column
from agentscope_widgets.row_list import RowCells

PROMPT = Column("prompt", "prompt", most=40)
COLUMNS = (
    Column("state", "state", least=7, most=14, style="tone"),
    Column("calls", "calls", least=2, most=8, right=True, style="muted", narrow="joined"),
    Column("reward", "reward", least=4, most=8, right=True, style="tone"),
    Column("duration", "time", least=5, most=8, right=True, style="muted", narrow="hidden"),
    Column("sessions", "sess.", least=2, most=8, right=True, style="muted", narrow="hidden"),
    PROMPT,
)
"""The columns of every dataset, as they stand at first; `dataset_column` makes the others."""
OF_RUNS = (
    Column("tokens", "tokens", least=4, most=8, right=True, style="muted", narrow="hidden"),
    Column("passes", "pass@k", least=8, most=24, style="muted", narrow="hidden"),
)
"""Columns that are shown once rows are run: the second, once a row is run several times."""

LOOKS: Mapping[Word | Literal["cut off"], tuple[str, Tone]] = {
    "starting": ("◌", "accent"),
    "running": ("●", "accent"),
    "paused": ("‖", "warning"),
    "waiting": ("✗", "error"),
    "stopping": ("■", "warning"),
    "idle": ("○", "muted"),
    "ended": ("○", "muted"),
    "done": ("✓", "success"),
    "failed": ("✗", "error"),
    "stopped": ("■", "warning"),
    "limit": ("▲", "warning"),
    "cut off": ("■", "warning"),
}
"""Glyph and tone for how a session stands."""
_OF_ROW = "row."
OF_GRADER = "reward."
NOT_OPENED = "error"
"""The state of a row whose session could not be opened."""


def dataset_column(path: str) -> Column:
    """The column for a field of the dataset's rows."""
    return Column(_OF_ROW + path, path)


def metric_column(name: str) -> Column:
    """The column for what graders give beside the reward."""
    return Column(OF_GRADER + name, name, most=8, right=True, narrow="hidden")


def row_state(state: Tally) -> tuple[str, str, Tone]:
    """Glyph, word and tone for how a session stands."""
    glyph, tone = LOOKS[state.word]
    return glyph, state.word, tone


def standing_of(state: Tally, now: datetime, sessions: int | None = None) -> Standing:
    """How a session stands, in the values that filters and orders see."""
    duration = None
    if state.turn_started is not None:
        duration = ((state.turn_ended or now) - state.turn_started).total_seconds()
    tokens = state.input_tokens + state.output_tokens
    return Standing(
        state.word, state.call or None, state.reward, duration, sessions, tokens or None, state.metrics
    )


def standing_of_recorded(newest: SessionRow, sessions: int) -> Standing:
    """How the newest of a row's recorded sessions stands."""
    return Standing(
        newest.state,
        newest.calls or None,
        newest.reward,
        newest.fact("duration"),
        sessions,
        newest.tokens or None,
        newest.numbers,
    )


def cells_of(
    row: Task | RowError,
    raw: RawRow | RowError,
    keys: Sequence[str],
    *,
    session: SessionState | None,
    recorded: SessionRow | None = None,
    rollouts: RowRollouts | None = None,
    standing: Standing | None,
    marked: bool,
) -> RowCells:
    """A row's cells for the columns with these keys.

    `rollouts` is what a run makes of it, `session` the one that is open, `recorded` the newest on disk: the
    first that is given is shown. `standing` without any of them says that the row could not be opened.
    """
    texts = _fields(raw, keys)
    if standing is not None and standing.sessions:
        texts["sessions"] = str(standing.sessions)
    tone: Tone = "normal"
    if isinstance(row, RowError):
        tone = "error"
        # The reason is to be seen whatever columns there are.
        reason_in = next((key for key in keys if key == PROMPT.key or key.startswith(_OF_ROW)), PROMPT.key)
        texts |= {"state": f"✗ {BAD_ROW}", reason_in: row.reason}
    else:
        texts["prompt"] = row.prompt
        if standing is not None:
            texts |= {f"{OF_GRADER}{name}": f"{value:.3g}" for name, value in standing.metrics.items()}
        if standing is not None and standing.tokens:
            texts["tokens"] = thousands(standing.tokens)
        if rollouts is not None and standing is not None:
            glyph, tone = LOOKS[word_of(rollouts)]
            texts |= rollout_texts(rollouts, standing, glyph)
        elif session is not None:
            glyph, word, tone = row_state(session)
            texts |= {"state": f"{glyph} {word}", **_standing(session, standing)}
        elif standing is not None and standing.state != NOT_OPENED and recorded is not None:
            tone = "muted"
            texts |= _recorded(recorded)
        elif standing is not None and standing.state is None:
            texts["reward"] = "" if standing.reward is None else f"{standing.reward:g}"
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


def _recorded(newest: SessionRow) -> dict[str, str]:
    texts = {"state": f"{LOOKS[newest.state][0]} {newest.state}", "calls": str(newest.calls or "")}
    if newest.reward is not None:
        texts["reward"] = f"{newest.reward:g}"
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
