"""Past sessions told in few words, for what compares and counts them: no engine runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from agentscope_tui import events as ev
from agentscope_tui.event_lines import event_to_json
from agentscope_tui.models.chat import FunctionCall, ToolCallPart
from agentscope_tui.session.state import SessionState
from agentscope_tui.store.past import PastSession

START = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


@dataclass(frozen=True)
class Did:
    """A model call: what it said, and the one tool that it used, if any. `before` is a user message."""

    text: str = ""
    tool: str = ""
    arguments: str = "{}"
    result: str = "ok"
    status: Any = "done"
    exit_code: int | None = None
    before: str = ""


def past_session(
    *did: Did,
    session_id: str = "one",
    prompt: str = "do the task",
    reward: float | None = None,
    tokens: int = 10,
    **started: Any,
) -> PastSession:
    """A whole session; an event each second, `tokens` in and as many out for each call."""
    events: list[Any] = [ev.SessionStarted(version="1", **{"model": "scripted:x", **started}), *_turn(prompt)]
    new: list[dict[str, Any]] = [{"role": "user", "content": prompt}]
    kept = 0
    for number, one in enumerate(did, start=1):
        if one.before:
            events += [ev.StateChanged(status="idle", turn=1, outcome="completed"), *_turn(one.before)]
            new.append({"role": "user", "content": one.before})
        sent = ev.LlmRequestSent(
            call=number, turn=1, req_id=f"{number}", base=number - 1, kept=kept, messages=new
        )
        kept += len(new)
        call_id = f"{session_id}-{number}"
        events += [sent, *_call(number, one, call_id, tokens)]
        new = [{"role": "assistant", "content": one.text}]
        if one.tool:
            new.append({"role": "tool", "tool_call_id": call_id, "content": one.result})
    events.append(ev.StateChanged(status="idle", turn=1, outcome="completed"))
    if reward is not None:
        events.append(ev.Graded(grader="exact", turn=1, reward=reward))
    return PastSession([*_numbered(events, session_id)])


def state_of(past: PastSession) -> SessionState:
    """The fold of a past session."""
    state = SessionState()
    for event in past.events:
        state.apply(event)
    return state


def recording_of(past: PastSession) -> str:
    """What `events.jsonl` of a past session says."""
    return "".join(f"{event_to_json(event)}\n" for event in past.events)


def _turn(text: str) -> list[ev.Event]:
    return [
        ev.UserMessageSent(msg_id=text, text=text, turn=1),
        ev.StateChanged(status="running", turn=1),
    ]


def _call(number: int, did: Did, call_id: str, tokens: int) -> Iterator[ev.Event]:
    """What comes after the request: the answer, what it took, and the tool's result."""
    part = ToolCallPart(id=call_id, function=FunctionCall(name=did.tool, arguments=did.arguments))
    parts = [part] if did.tool else []
    yield ev.AssistantMessage(call=number, text=did.text, tool_calls=parts, duration=1.0)
    yield ev.UsageReported(call=number, input_tokens=tokens, output_tokens=tokens, cost=0.5)
    if did.tool:
        yield ev.ToolResult(
            call_id=call_id,
            call=number,
            name=did.tool,
            status=did.status,
            content=did.result,
            exit_code=did.exit_code,
            duration=0.5,
        )


def _numbered(events: Sequence[Any], session_id: str) -> Iterator[Any]:
    for seq, event in enumerate(events, start=1):
        at = START + timedelta(seconds=seq)
        yield event.model_copy(update={"seq": seq, "at": at, "session_id": session_id})
