"""The places of a recording that a user wants to go to: turns, answers, errors, steers, rewards."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

from agentscope_tui.events import (
    AssistantMessage,
    ErrorOccurred,
    Graded,
    Interrupted,
    LimitReached,
    LlmRequestSent,
    SessionEnded,
    SessionEvent,
    Steer,
    ToolResult,
    UserMessageSent,
)

MarkKind: TypeAlias = Literal[
    "turn", "request", "answer", "error", "steer", "reward", "interrupted", "limit", "end"
]


class Mark(NamedTuple):
    """Event number `seq`, at byte `start` of the recording. An `answer` ends a call, also one that failed."""

    seq: int
    start: int
    kind: MarkKind
    call: int | None = None


def marks_of(event: SessionEvent, start: int) -> list[Mark]:
    """The marks at an event; most have none."""
    match event:
        case UserMessageSent():
            return [Mark(event.seq, start, "turn")]
        case LlmRequestSent(attempt=1):
            return [Mark(event.seq, start, "request", event.call)]
        case AssistantMessage(edited=False):
            return [Mark(event.seq, start, "answer", event.call)]
        case ErrorOccurred(source="model", call=int()):
            error = Mark(event.seq, start, "error", event.call)
            return [error, error._replace(kind="answer")]
        case ErrorOccurred():
            return [Mark(event.seq, start, "error", event.call)]
        case ToolResult(status="failed", edited=False):
            return [Mark(event.seq, start, "error", event.call)]
        case Steer(status="in_call"):
            return [Mark(event.seq, start, "steer", event.call)]
        case Graded():
            return [Mark(event.seq, start, "error" if event.reward is None else "reward")]
        case Interrupted():
            return [Mark(event.seq, start, "interrupted", event.model_call)]
        case LimitReached():
            return [Mark(event.seq, start, "limit")]
        case SessionEnded():
            return [Mark(event.seq, start, "end")]
        case _:
            return []
