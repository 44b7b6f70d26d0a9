"""What a session came to, in numbers that can be compared."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from agentscope_tui.session.state import SessionState
from agentscope_tui.session.tally import Word


@dataclass(frozen=True, slots=True)
class Totals:
    """`seconds` is from the first message to the last thing that happened, without the waits of steps that
    were held; `worked` what models and tools took of it, by their own account. `outcome` is how it
    stands."""

    session_id: str
    row: int | None
    model: str
    runner: str
    calls: int
    tool_calls: int
    input_tokens: int
    output_tokens: int
    cost: float | None
    seconds: float
    worked: float
    reward: float | None
    outcome: Word
    answer: str | None
    parent: str
    parent_call: int | None
    change: str


def totals_of(state: SessionState) -> Totals:
    """The numbers of a session as it is by now."""
    started = state.started
    return Totals(
        session_id=started.session_id if started else "",
        row=started.row if started else None,
        model=state.model,
        runner=started.runner if started else "",
        calls=state.call,
        tool_calls=len(state.calls),
        input_tokens=state.input_tokens,
        output_tokens=state.output_tokens,
        cost=state.cost,
        seconds=_seconds(state),
        worked=_worked(state),
        reward=state.reward,
        outcome=state.word,
        answer=state.answer,
        parent=started.parent if started else "",
        parent_call=started.parent_call if started else None,
        change=started.change if started else "",
    )


def _seconds(state: SessionState) -> float:
    first = next((entry.at for entry in state.entries if entry.kind == "user"), None)
    if first is None:
        return 0.0
    held = sum(entry.duration or 0.0 for entry in state.entries if entry.kind == "paused")
    return max(0.0, (_last(state) - first).total_seconds() - held)


def _last(state: SessionState) -> datetime:
    """When the last thing happened. A session that was left open long after its turn took no longer."""
    last = max(entry.at for entry in state.entries if entry.kind != "ended")
    return max(last, state.turn_ended) if state.turn_ended else last


def _worked(state: SessionState) -> float:
    models = sum(entry.duration or 0.0 for entry in state.entries if entry.kind == "assistant")
    return models + sum(call.duration or 0.0 for call in state.calls)
