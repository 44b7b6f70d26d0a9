"""A session's state as plain values and back, so that a long recording need not be folded from its start.

What a recording says anyway is not in them: the values that come back hold an empty `output`, no requests
and no replies, and whoever restores a state puts in where those are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

from agentscope_tui.events import RetryScheduled
from agentscope_tui.session.exchanges import Exchanges
from agentscope_tui.session.runner_view import MAX_LINES, RunnerView
from agentscope_tui.session.state import SessionState
from agentscope_tui.session.tally import Tally
from agentscope_tui.session.views import CallView, Entry, SteerView
from agentscope_tui.tools.spec import Stream

FOLD = 2
"""To be raised when the same events make another state than before: what was saved is then of no use."""


@dataclass
class SavedState:
    """All of a `SessionState` but what the recording says. Positions are those of `entries` and `calls`."""

    tally: Tally
    mode: Literal["step", "run"]
    fine: bool
    calls_used: int
    actions_used: int
    retry: RetryScheduled | None
    answer: str | None
    last_seq: int
    recorded: bool
    runner: RunnerView
    runner_log: list[tuple[Stream, str]]
    overridden: dict[str, Any]
    steers: list[SteerView]
    entries: Sequence[Entry]
    calls: Sequence[CallView]
    call_places: dict[str, int]
    entry_places: list[int]
    answer_places: dict[int, int]
    streaming: list[int]
    reasoning: dict[int, int]
    proposals: list[tuple[int, int, int]]
    """Call, index in it, position."""
    pauses: dict[int, int]


def exchanges_of(state: SessionState) -> Exchanges:
    """The requests and replies of a state, for who leaves them in the recording."""
    return state._exchanges


def saved(state: SessionState) -> SavedState:
    """The values of a state. They share its parts: it must not change before they are written down."""
    timeline, answers, runner = state._timeline, state._answers, state.runner
    return SavedState(
        tally=Tally(**{field.name: getattr(state, field.name) for field in fields(Tally)}),
        mode=state.mode,
        fine=state.fine,
        calls_used=state.calls_used,
        actions_used=state.actions_used,
        retry=state.retry,
        answer=state.answer,
        last_seq=state.last_seq,
        recorded=state.recorded,
        runner=RunnerView(
            runner.hello, runner.profile, runner.patience, runner.answering, logged=runner.logged
        ),
        runner_log=[*runner.log],
        overridden=state._overridden,
        steers=state._steers.views,
        entries=timeline.entries,
        calls=timeline.calls,
        call_places=timeline._call_places,
        entry_places=timeline._entry_places,
        answer_places=answers._places,
        streaming=sorted(answers._streaming),
        reasoning=answers._reasoning,
        proposals=[(call, index, place) for (call, index), place in answers._proposals.items()],
        pauses=state._pauses,
    )


def restored(values: SavedState) -> SessionState:
    """A state of these values; `started`, outputs, requests and replies are still to be put in.

    Raises:
        ValueError: they do not fit together.
    """
    _check(values)
    state = SessionState()
    for field in fields(Tally):
        setattr(state, field.name, getattr(values.tally, field.name))
    for name in ("mode", "fine", "calls_used", "actions_used", "retry", "answer", "last_seq", "recorded"):
        setattr(state, name, getattr(values, name))
    state.runner = values.runner
    state.runner.log.extend(values.runner_log[-MAX_LINES:])
    state._overridden = values.overridden
    state._steers.views = values.steers
    timeline, answers = state._timeline, state._answers
    timeline.entries, timeline.calls = [*values.entries], [*values.calls]
    timeline._call_places, timeline._entry_places = values.call_places, values.entry_places
    answers._places, answers._streaming = values.answer_places, set(values.streaming)
    answers._reasoning = values.reasoning
    answers._proposals = {(call, index): place for call, index, place in values.proposals}
    state._pauses = values.pauses
    return state


def _check(values: SavedState) -> None:
    """Whether every position is one: a stranger may have written them."""
    entries, calls = range(len(values.entries)), range(len(values.calls))
    in_entries = [
        *values.entry_places,
        *values.answer_places.values(),
        *values.reasoning.values(),
        *values.pauses.values(),
    ]
    in_calls = [*values.call_places.values(), *(place for _, _, place in values.proposals)]
    shown = {entry.call_id for entry in values.entries if entry.kind == "tool"}
    if (
        not all(place in entries for place in in_entries)
        or not all(place in calls for place in in_calls)
        or len(values.entry_places) != len(values.calls)
        or not shown <= set(values.call_places)
        or not set(values.streaming) <= set(values.answer_places)
    ):
        raise ValueError("the saved state does not fit together")
