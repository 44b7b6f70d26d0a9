"""What a recording says was asked and answered, turn by turn: what a replay gives again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

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
    UsageReported,
    UserMessageSent,
)
from agentscope_tui.models.chat import Completion, Usage
from agentscope_tui.session.exchanges import Exchanges
from agentscope_tui.session.request_diff import SentRequest
from agentscope_tui.session.tool_calls import SUBMIT
from agentscope_tui.tools.spec import ToolOutcome


def outcome_of(result: ToolResult) -> ToolOutcome:
    """What the tool gave, as it is given again."""
    return ToolOutcome(
        content=result.content,
        is_error=result.is_error,
        truncated=result.truncated,
        exit_code=result.exit_code,
    )


class SentMessage(NamedTuple):
    """A user message and its id."""

    msg_id: str
    text: str


@dataclass
class RecordedCall:
    """One model call: the `completion` that the runner got, or the `failure` that it got instead.

    Neither: the call was cut off, after `partial` of its text. `results` are those of the tool calls that
    ran or that the user refused, in order; `steers` the messages that its request was the first to carry.
    """

    number: int
    request: SentRequest
    completion: Completion | None = None
    failure: str = ""
    partial: str = ""
    results: list[ToolResult] = field(default_factory=list)
    steers: list[SentMessage] = field(default_factory=list)


@dataclass
class RecordedTurn:
    """One turn. `over` is False for the one in which the recording ends, `steers` are for the call after the
    last then."""

    message: SentMessage
    calls: list[RecordedCall] = field(default_factory=list)
    rewards: list[Graded] = field(default_factory=list)
    over: bool = False
    interrupted: bool = False
    steers: list[SentMessage] = field(default_factory=list)

    def until(self, call: int) -> RecordedTurn:
        """The turn as it was when call number `call` was about to be sent."""
        cut = next((known for known in self.calls if known.number >= call), None)
        return RecordedTurn(
            self.message,
            [known for known in self.calls if known.number < call],
            steers=cut.steers if cut is not None else self.steers,
        )


def recorded_turns(events: Iterable[SessionEvent], *, own_results: bool = False) -> list[RecordedTurn]:
    """The turns that a session's events tell of. With `own_results` those of tools that ran in the agent's
    process count too: for a runner that asks the host for all its tools."""
    turns: list[RecordedTurn] = []
    calls: dict[int, RecordedCall] = {}
    held: dict[int, Paused] = {}
    asked: set[str] = set()
    exchanges = Exchanges()
    for event in events:
        match event:
            case UserMessageSent():
                turns.append(RecordedTurn(SentMessage(event.msg_id, event.text)))
            case LlmRequestSent() if event.call not in calls and turns:
                exchanges.sent(event)
                request = SentRequest(event.call, event.digest, exchanges.request)
                calls[event.call] = RecordedCall(event.call, request)
                turns[-1].calls.append(calls[event.call])
            case Steer(status="in_call", call=int() as number) if number in calls:
                calls[number].steers.append(SentMessage(event.msg_id, event.text))
            case AssistantMessage() if event.call in calls:
                _note_reply(calls[event.call], event)
            case ErrorOccurred(source="model", call=int() as number) if number in calls:
                calls[number].failure = event.message
            case UsageReported() if event.call in calls:
                _note_usage(calls[event.call], event)
            case Paused(step="completion" | "tool_call"):
                held[event.hold] = event
            case Resumed(decision="refuse") if event.hold in held:
                step = held[event.hold]
                if step.step == "completion" and step.call in calls:
                    calls[step.call].failure = event.reason or "refused by the user"
                asked.add(step.call_id or "")
            case ToolCallStarted() if event.name != SUBMIT and (own_results or not event.own):
                asked.add(event.call_id)
            case ToolResult(call=number) if event.call_id in asked and number in calls:
                _note_result(calls[number], event)
            case Graded(turn=number, provisional=False) if 0 < number <= len(turns):
                turns[number - 1].rewards.append(event)
            case StateChanged(status="idle", outcome=str() as outcome) if turns:
                turns[-1].over, turns[-1].interrupted = True, outcome == "interrupted"
            case _:
                pass
    return [turn if turn.over else _without_loose_ends(turn) for turn in turns]


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
        reasoning_field=event.reasoning_field,
        extra=event.extra,
        usage=call.completion.usage if call.completion is not None else Usage(),
    )


def _note_usage(call: RecordedCall, event: UsageReported) -> None:
    if call.completion is not None:
        counted = event.model_dump(
            include={"input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens"}
        )
        usage = Usage(**counted, replayed=True)
        call.completion = call.completion.model_copy(update={"usage": usage})


def _note_result(call: RecordedCall, event: ToolResult) -> None:
    places = [place for place, known in enumerate(call.results) if known.call_id == event.call_id]
    if places:
        call.results[places[0]] = event
    else:
        call.results.append(event)


def _without_loose_ends(turn: RecordedTurn) -> RecordedTurn:
    """Forget what the end of the recording left half done: that is done anew, not replayed."""
    whole = [call for call in turn.calls if call.completion is not None or call.failure]
    return replace(
        turn,
        calls=[
            replace(call, results=[result for result in call.results if result.status != "interrupted"])
            for call in whole
        ],
        steers=[steer for call in turn.calls if call not in whole for steer in call.steers],
    )
