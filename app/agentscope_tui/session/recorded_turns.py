"""What a recording says was asked and answered, turn by turn: what a replay gives again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from agentscope_tui.events import (
    AssistantMessage,
    ErrorOccurred,
    Graded,
    LlmRequestSent,
    Paused,
    Resumed,
    SessionEvent,
    StateChanged,
    Steer,
    ToolCallStarted,
    ToolResult,
    UserMessageSent,
)
from agentscope_tui.models.chat import Completion
from agentscope_tui.session.tool_calls import SUBMIT


@dataclass
class RecordedCall:
    """One model call: the `completion` that the runner got, or the `failure` that it got instead.

    Neither: the call was cut off, after `partial` of its text. `results` are those of the tool calls that
    ran or that the user refused, in order; `steers` the texts that its request was the first to carry.
    """

    number: int
    completion: Completion | None = None
    failure: str = ""
    partial: str = ""
    results: list[ToolResult] = field(default_factory=list)
    steers: list[str] = field(default_factory=list)


@dataclass
class RecordedTurn:
    """One turn. `over` is False for the one in which the recording ends."""

    text: str
    calls: list[RecordedCall] = field(default_factory=list)
    rewards: list[Graded] = field(default_factory=list)
    over: bool = False
    interrupted: bool = False


def recorded_turns(events: Iterable[SessionEvent]) -> list[RecordedTurn]:
    """The turns that a session's events tell of."""
    turns: list[RecordedTurn] = []
    calls: dict[int, RecordedCall] = {}
    held: dict[int, Paused] = {}
    asked: set[str] = set()
    for event in events:
        match event:
            case UserMessageSent():
                turns.append(RecordedTurn(event.text))
            case LlmRequestSent() if event.call not in calls:
                calls[event.call] = RecordedCall(event.call)
                turns[-1].calls.append(calls[event.call])
            case Steer(status="in_call", call=int() as number):
                calls[number].steers.append(event.text)
            case AssistantMessage():
                _note_reply(calls[event.call], event)
            case ErrorOccurred(source="model", call=int() as number):
                calls[number].failure = event.message
            case Paused(step="completion" | "tool_call"):
                held[event.hold] = event
            case Resumed(decision="refuse") if event.hold in held:
                step = held[event.hold]
                if step.step == "completion":
                    calls[step.call].failure = event.reason or "refused by the user"
                asked.add(step.call_id or "")
            case ToolCallStarted(own=False) if event.name != SUBMIT:
                asked.add(event.call_id)
            case ToolResult(call=number) if event.call_id in asked and number in calls:
                _note_result(calls[number], event)
            case Graded(turn=number):
                turns[number - 1].rewards.append(event)
            case StateChanged(status="idle", outcome=str() as outcome):
                turns[-1].over, turns[-1].interrupted = True, outcome == "interrupted"
            case _:
                pass
    for turn in turns:
        _cut_off(turn)
    return turns


def _note_reply(call: RecordedCall, event: AssistantMessage) -> None:
    if event.partial:
        call.partial = event.text
        return
    call.failure = ""
    call.completion = Completion(
        text=event.text,
        reasoning=event.reasoning,
        tool_calls=tuple(event.tool_calls),
        finish_reason=event.finish_reason,
    )


def _note_result(call: RecordedCall, event: ToolResult) -> None:
    places = [place for place, known in enumerate(call.results) if known.call_id == event.call_id]
    if places:
        call.results[places[0]] = event
    else:
        call.results.append(event)


def _cut_off(turn: RecordedTurn) -> None:
    """Forget what the end of the recording left half done: that is done anew, not replayed."""
    if turn.over:
        return
    turn.calls = [call for call in turn.calls if call.completion is not None or call.failure]
    for call in turn.calls:
        call.results = [result for result in call.results if result.status != "interrupted"]
