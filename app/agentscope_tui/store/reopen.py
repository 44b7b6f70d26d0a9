"""Reading a recording, also of a session that did not end in order: what is whole, an end for what hung.

Only reads: a session that is continued is a new one, whose runner is brought to where this one was.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from agentscope_tui.errors import UserError
from agentscope_tui.event_lines import event_from_json
from agentscope_tui.events import (
    AssistantDelta,
    AssistantMessage,
    ErrorOccurred,
    LlmRequestSent,
    Paused,
    Resumed,
    SessionEnded,
    SessionEvent,
    Steer,
    ToolCallStarted,
    ToolResult,
    UserMessageSent,
)
from agentscope_tui.session.state import SessionState
from agentscope_tui.store.folders import SessionFolder, read_meta
from agentscope_tui.store.lock import SessionInUse, is_locked
from agentscope_tui.store.past import PastSession

CUT_OFF = "agentscope ended before this did: how far it got is not known"


def recover(folder: Path) -> PastSession:
    """A session that is over, whatever ended it.

    Raises:
        SessionInUse: it is not over: a process still writes it.
        UserError: there is no recording, or not one whole event in it.
    """
    if is_locked(folder):
        raise SessionInUse(folder)
    past = read_session(folder)
    closing = closing_events(past.events)
    return replace(past, events=[*past.events, *closing], closed=len(closing))


def as_it_stands(folder: Path) -> PastSession:
    """A session that is over, with its end, or as much of one as there is while a process still writes it.

    Raises:
        UserError: there is no recording, or not one whole event in it.
    """
    return read_session(folder) if is_locked(folder) else recover(folder)


def read_session(folder: Path) -> PastSession:
    """What is recorded of a session by now; it may still run in another process, or have been cut off.

    Raises:
        UserError: there is no recording, or not one whole event in it.
    """
    try:
        data = (folder / "events.jsonl").read_bytes()
    except OSError as error:
        raise UserError(f"there is no recording to read in {folder}: {error.strerror}") from error
    events, read = whole_events(data)
    if not events:
        raise UserError(f"the recording in {folder} is empty or damaged from its beginning")
    return PastSession(events, SessionFolder(folder), read_meta(folder), cut=len(data) - read)


def whole_events(data: bytes) -> tuple[list[SessionEvent], int]:
    """The events up to the first line that is not whole, and how many bytes they take."""
    events: list[SessionEvent] = []
    read = 0
    for line in data.splitlines(keepends=True):
        if not line.endswith(b"\n"):
            break
        try:
            events.append(event_from_json(line))
        except ValueError:
            break
        read += len(line)
    return events, read


def closing_events(events: Iterable[SessionEvent]) -> list[SessionEvent]:
    """What ends the calls, holds and steers that are still open after these events, and the session."""
    still = _Open()
    last: SessionEvent | None = None
    for last in events:
        still.apply(last)
    if last is None or isinstance(last, SessionEnded):
        return []
    return _stamped(still.closing(), last)


def closing_of(state: SessionState, last: SessionEvent) -> list[SessionEvent]:
    """The same for events that were folded into a state, of which `last` is the last."""
    if state.status in ("ended", "failed"):
        return []
    closing = _closing(
        [hold.hold for hold in state.holds],
        state.unfinished_answers,
        [(call.call_id, call.call, call.name) for call in state.running_calls],
        [(steer.msg_id, steer.text) for steer in state.steers if steer.status in ("queued", "handed_over")],
    )
    return _stamped(closing, last)


class _Open:
    """What has begun and not ended."""

    def __init__(self) -> None:
        self._texts: dict[int, list[str]] = {}
        self._reasoning: dict[int, list[str]] = {}
        self._tools: dict[str, ToolCallStarted] = {}
        self._holds: list[int] = []
        self._steers: dict[str, str] = {}

    def apply(self, event: SessionEvent) -> None:
        match event:
            case LlmRequestSent():
                self._texts[event.call], self._reasoning[event.call] = [], []
            case AssistantDelta() if event.call in self._texts:
                self._texts[event.call].append(event.text)
                self._reasoning[event.call].append(event.reasoning)
            case AssistantMessage() | ErrorOccurred(source="model", call=int()):
                self._texts.pop(event.call or 0, None)
            case ToolCallStarted():
                self._tools[event.call_id] = event
            case ToolResult():
                self._tools.pop(event.call_id, None)
            case Paused():
                self._holds.append(event.hold)
            case Resumed() if event.hold in self._holds:
                self._holds.remove(event.hold)
            case Steer():
                self._on_steer(event)
            case UserMessageSent():
                self._steers.pop(event.msg_id, None)
            case _:
                pass

    def _on_steer(self, event: Steer) -> None:
        match event.status:
            case "queued" | "edited":
                self._steers[event.msg_id] = event.text
            case "in_call" | "answered" | "withdrawn" | "returned":
                self._steers.pop(event.msg_id, None)
            case "handed_over":
                pass

    def closing(self) -> list[SessionEvent]:
        return _closing(
            self._holds,
            [(call, "".join(text), "".join(self._reasoning[call])) for call, text in self._texts.items()],
            [(started.call_id, started.call, started.name) for started in self._tools.values()],
            self._steers.items(),
        )


def _closing(
    holds: Iterable[int],
    answers: Iterable[tuple[int, str, str]],
    tools: Iterable[tuple[str, int, str]],
    steers: Iterable[tuple[str, str]],
) -> list[SessionEvent]:
    """An end for holds, answers (call, text, reasoning), tools (id, call, name) and steers (id, text)."""
    interrupted: list[SessionEvent] = [
        ToolResult(
            call_id=call_id,
            call=call,
            name=name,
            status="interrupted",
            content=CUT_OFF,
            is_error=True,
            side_effects=True,
            reason=CUT_OFF,
        )
        for call_id, call, name in tools
    ]
    return [
        *(Resumed(hold=hold, reason=CUT_OFF) for hold in holds),
        *(
            AssistantMessage(call=call, text=text, reasoning=reasoning, partial=True)
            for call, text, reasoning in answers
        ),
        *interrupted,
        *(Steer(msg_id=msg_id, status="returned", text=text) for msg_id, text in steers),
        SessionEnded(status="failed", reason="agentscope ended before this session did"),
    ]


def _stamped(events: Iterable[SessionEvent], last: SessionEvent) -> list[SessionEvent]:
    """Events that come right after `last`."""
    stamp = {"at": last.at, "session_id": last.session_id}
    return [
        event.model_copy(update={"seq": last.seq + number, **stamp})
        for number, event in enumerate(events, start=1)
    ]
