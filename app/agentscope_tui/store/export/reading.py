"""A session read to be told to people: its transcript, what each call took, and the order of the telling."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime

from agentscope_tui.events import (
    AssistantMessage,
    LlmRequestSent,
    SessionEvent,
    SessionStarted,
    ToolOutput,
    UsageReported,
)
from agentscope_tui.figures import dollars, named, seconds
from agentscope_tui.session.state import SessionState
from agentscope_tui.session.steering import text_of
from agentscope_tui.session.views import ENDED_GLYPHS, CallView, Entry
from agentscope_tui.store.export.source import STREAMED, Source

_RUNNING = "●"
_DECIDED = {"edit": "edited", "refuse": "refused", "interrupted": "interrupted"}


@dataclass
class ModelCall:
    """What a model call took. Times are of its last attempt; `duration` is None while it is unanswered."""

    number: int
    model: str
    at: datetime
    duration: float | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cost: float | None = None

    @property
    def facts(self) -> list[str]:
        """In words, as far as known."""
        facts = [seconds(self.duration)] if self.duration is not None else []
        if self.input_tokens or self.output_tokens:
            cached = f" ({self.cached_tokens:,} cached)" if self.cached_tokens else ""
            facts.append(f"{self.input_tokens:,}{cached} → {self.output_tokens:,} tok")
        return facts + ([dollars(self.cost)] if self.cost is not None else [])


@dataclass(frozen=True)
class Turn:
    """A turn begins here."""

    number: int


@dataclass
class Reading:
    """A session that was read."""

    source: Source
    state: SessionState = field(default_factory=SessionState)
    calls: dict[int, ModelCall] = field(default_factory=dict)
    ended: datetime | None = None

    @property
    def started(self) -> SessionStarted:
        return self.state.started or SessionStarted(version="")

    @property
    def system(self) -> str:
        """The system prompt: the session's, else the one that the agent sent first itself."""
        if self.started.system:
            return self.started.system
        sent = self.state.request_messages(1)
        return "\n\n".join(text_of(one) for one in sent if one.get("role") in ("system", "developer"))

    @property
    def facts(self) -> list[tuple[str, str]]:
        """What the head of a page tells, as names and values."""
        started, state = self.started, self.state
        seconds_all = (self.ended - started.at).total_seconds() if self.ended else 0.0
        row = "" if started.row is None else f" · row {started.row}"
        changed = f" · {started.change}" if started.change else ""
        before = f", from call #{started.parent_call}" if started.parent_call is not None else ""
        told = {
            "session": state_id(self),
            "dataset": f"{started.dataset}{row}" if started.dataset or row else "",
            "agent": started.runner,
            "model": started.model,
            "outcome": f"{state.outcome}: {state.outcome_reason}".rstrip(": ") if state.outcome else "",
            "reward": "" if state.reward is None else f"{state.reward:g}",
            "answer": (state.answer or "").strip(),
            "turns": f"{state.turn}",
            "model calls": f"{len(self.calls)}",
            "tool calls": f"{len(state.calls)}",
            "tokens": f"{state.input_tokens:,} in, {state.output_tokens:,} out",
            "cost": "" if state.cost is None else dollars(state.cost),
            "began": f"{started.at:%Y-%m-%d %H:%M:%S} UTC",
            "took": seconds(seconds_all),
            "goes on from": f"{started.parent}{before}{changed}" if started.parent else "",
        }
        return [(name, value) for name, value in told.items() if value]

    def told(self) -> Iterator[Turn | ModelCall | Entry]:
        """The transcript in its order, with the places where a turn and a model call begin."""
        turn = 0
        begun: set[int] = set()
        for entry in self.state.entries:
            if entry.kind == "user":
                turn += 1
                yield Turn(turn)
            if entry.kind in ("reasoning", "assistant", "tool") and entry.call not in begun:
                begun.add(entry.call or 0)
                if (call := self.calls.get(entry.call or 0)) is not None:
                    yield call
            if not is_quiet(entry):
                yield entry

    def call_of(self, entry: Entry) -> CallView:
        """The tool call that an entry shows."""
        call = self.state.call_view(entry.call_id or "")
        assert call is not None
        return call


def read(source: Source, on_output: Callable[[ToolOutput], None] | None = None) -> Reading:
    """Read a session. What its tools printed is not kept: `on_output` may take it."""
    reading = Reading(source)
    for event in source.events(without=STREAMED if on_output is None else {"assistant_delta"}):
        if isinstance(event, ToolOutput):
            if on_output is not None:
                on_output(event)
            continue
        reading.state.apply(event)
        _measure(reading, event)
    return reading


def _measure(reading: Reading, event: SessionEvent) -> None:
    reading.ended = event.at
    match event:
        case LlmRequestSent():
            reading.calls[event.call] = ModelCall(event.call, reading.state.model, event.at)
        case AssistantMessage(edited=False) if call := reading.calls.get(event.call):
            call.duration = event.duration
        case UsageReported() if call := reading.calls.get(event.call):
            call.input_tokens += event.input_tokens
            call.output_tokens += event.output_tokens
            call.cached_tokens += event.cached_tokens
            if event.cost is not None:
                call.cost = (call.cost or 0.0) + event.cost
        case _:
            pass


def state_id(reading: Reading) -> str:
    """The id of the session."""
    return reading.started.session_id or reading.source.name


def is_quiet(entry: Entry) -> bool:
    """Whether nothing is to be told of an entry: an answer without text, a pause that changed nothing."""
    if entry.kind == "assistant":
        return not (entry.text or entry.partial or entry.edited)
    return entry.kind == "paused" and entry.detail not in _DECIDED


def title_of(entry: Entry) -> str:
    """What an entry is, in a few words; not of a tool call."""
    match entry.kind:
        case "user":
            return "User"
        case "assistant":
            marks = (("cut off", entry.partial), ("edited", entry.edited))
            length = (("cut off at the output limit", entry.finish_reason == "length"),)
            return " · ".join(["Assistant", *(mark for mark, on in (*marks, *length) if on)])
        case "reasoning":
            return "Reasoning"
        case "steer":
            how = f" · {entry.status}" if entry.status else ""
            return f"Steer · in call #{entry.call}{how}"
        case "earlier":
            return f"Earlier · {entry.status}"
        case "paused":
            place = {"completion": f"call #{entry.call}", "failed_call": "the failed call"}
            return f"Paused at {place.get(entry.status, 'a tool call')} · {_DECIDED.get(entry.detail, '')}"
        case "interrupted":
            return "Interrupted"
        case "limit":
            return "Limit reached"
        case "error":
            return f"Error · {entry.status}"
        case "reward" if entry.reward is None:
            return f"Grader error · {entry.status}"
        case "reward":
            word = "Score in between" if entry.provisional else "Reward"
            return f"{word} {entry.reward:g} · {entry.status}"
        case "repair":
            return "Mended before sending"
        case "ended":
            return "Session failed" if entry.status != "ended" else "Session ended"
        case _:
            return entry.status


def text_of_entry(entry: Entry) -> str:
    """What an entry says, whole."""
    lines = [entry.text]
    if entry.detail and entry.kind in ("error", "reward"):
        lines.append(entry.detail)
    lines.append(named(entry.metrics))
    return "\n".join(line for line in lines if line)


def tool_facts(call: CallView) -> list[str]:
    """How a tool call ended, in words."""
    marks = [word for word, on in (("own", call.own), ("edited", call.edited)) if on]
    took = [seconds(call.duration)] if call.duration is not None and call.state != "refused" else []
    code = [f"exit {call.exit_code}"] if call.exit_code else []
    return [call.state, *took, *code, *marks]


def tool_glyph(call: CallView) -> str:
    """The glyph of how a tool call ended."""
    return ENDED_GLYPHS.get(call.state, _RUNNING)


def arguments_of(call: CallView) -> list[tuple[str, str]]:
    """The arguments to be read: those that are longer texts one by one, the others together as JSON under no
    name. What is no JSON object is told as it was written."""
    try:
        arguments = json.loads(call.arguments) if call.arguments.strip() else {}
    except ValueError:
        return [("", call.arguments)]
    if not isinstance(arguments, dict):
        return [("", call.arguments)]
    alone = len(arguments) == 1
    texts = {name: v for name, v in arguments.items() if isinstance(v, str) and (alone or "\n" in v)}
    others = {name: value for name, value in arguments.items() if name not in texts}
    told = [("", json.dumps(others, indent=2, ensure_ascii=False))] if others else []
    return told + list(texts.items())


def result_of(call: CallView) -> str:
    """What a tool call gave, and why it gave nothing."""
    reason = call.reason if call.reason != call.content else ""
    return "\n\n".join(part for part in (call.content, reason) if part)
