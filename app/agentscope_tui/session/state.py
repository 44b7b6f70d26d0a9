"""The state of a session as a pure fold over its events: what panes, `run` and the row list show.

Live, attached, replayed and imported sessions all go through `SessionState.apply`.
"""

from __future__ import annotations

import json
from typing import Any, Literal, assert_never

from agentscope_tui.events import (
    AgentNote,
    AssistantDelta,
    AssistantMessage,
    ErrorOccurred,
    Event,
    ExtraKept,
    GateModeChanged,
    Graded,
    Interrupted,
    LimitReached,
    LlmRequestSent,
    ModelChanged,
    Paused,
    RecordingChanged,
    Resumed,
    RetryScheduled,
    RunnerConnected,
    RunnerHealth,
    RunnerLogged,
    SessionEnded,
    SessionEvent,
    SessionStarted,
    StateChanged,
    Steer,
    Submitted,
    ToolCallStarted,
    ToolOutput,
    ToolResult,
    UnknownEvent,
    UsageReported,
    UserMessageSent,
)
from agentscope_tui.models.chat import Message
from agentscope_tui.session import pauses
from agentscope_tui.session.ancestry import fork_note
from agentscope_tui.session.answers import Answers
from agentscope_tui.session.earlier import told
from agentscope_tui.session.exchanges import Exchanges
from agentscope_tui.session.limits import FREE_TOOLS
from agentscope_tui.session.runner_view import RunnerView
from agentscope_tui.session.steer_list import SteerList
from agentscope_tui.session.tally import TALLIED, Tally
from agentscope_tui.session.timeline import Timeline
from agentscope_tui.session.views import CallView, Entry, OutputPiece, SteerView


class SessionState(Tally):
    """Everything there is to show about a session; whoever draws asks `take_changes` what changed."""

    def __init__(self) -> None:
        super().__init__()
        self.started: SessionStarted | None = None
        self.mode: Literal["step", "run"] = "step"
        self.fine = False
        self.calls_used = 0
        self.actions_used = 0
        self.retry: RetryScheduled | None = None
        """The last wait before a call is sent again, until that call goes on."""
        self.answer: str | None = None
        self.last_seq = 0
        self.recorded = True
        """Whether what happens is kept on disk."""
        self.runner = RunnerView()
        self._overridden: dict[str, Any] = {}
        self._exchanges = Exchanges()
        self._steers = SteerList()
        self._timeline = Timeline()
        self._answers = Answers(self._timeline)
        self._pauses: dict[int, int] = {}

    @property
    def entries(self) -> list[Entry]:
        """The transcript, in the order in which things began."""
        return self._timeline.entries

    @property
    def calls(self) -> list[CallView]:
        """The tool calls, in order."""
        return self._timeline.calls

    @property
    def steers(self) -> list[SteerView]:
        """The steers so far, in the order of their delivery."""
        return self._steers.views

    @property
    def streaming_call(self) -> int | None:
        """The call whose answer streams now; of several the newest."""
        return self._answers.streaming

    @property
    def unfinished_answers(self) -> list[tuple[int, str, str]]:
        """The calls whose answers stream now, with their text and reasoning so far."""
        return self._answers.unfinished()

    @property
    def running_calls(self) -> list[CallView]:
        """The tool calls that run now."""
        return [call for call in self.calls if call.state == "running"]

    def limit(self, name: str) -> float | None:
        """A limit in force, as the session was started with."""
        return self.started.limits.get(name) if self.started else None

    def call_view(self, call_id: str) -> CallView | None:
        """The tool call of this id."""
        position = self._timeline.place_of(call_id)
        return None if position is None else self.calls[position]

    def request_messages(self, call: int) -> list[Message]:
        """The whole request of a model call."""
        return self._exchanges.request(call)

    def request_parameters(self, call: int) -> dict[str, Any]:
        """What a model call was sent beside its messages: parameters, and the names of the tools."""
        return self._exchanges.sent_beside(call)

    def reply(self, call: int) -> Message | None:
        """The assistant message that answered a model call."""
        return self._exchanges.reply(call)

    def take_changes(self) -> tuple[set[int], set[int]]:
        """Positions in `entries` and in `calls` that changed since this was last asked."""
        return self._timeline.take_changes()

    def apply(self, event: SessionEvent) -> None:
        """Take one event."""
        if event.kind in TALLIED:
            super().apply(event)
        self.last_seq = event.seq
        if self.retry is not None and getattr(event, "call", None) == self.retry.call:
            self.retry = None
        match event:
            # Nearly all events are one of the first two, and each case costs.
            case AssistantDelta():
                self._answers.grow(event)
            case ToolOutput():
                self._on_tool(event)
            case SessionStarted():
                self.started = event
                self._on_history(event)
            case StateChanged(status="idle"):
                self._end_turn()
            case StateChanged():
                pass
            case GateModeChanged():
                self.mode, self.fine = event.mode, event.fine
            case UserMessageSent():
                self._on_user_message(event)
            case Steer():
                self._on_steer(event)
            case LlmRequestSent():
                self._on_request(event)
            case AssistantMessage():
                self._answers.finish(event)
                self._exchanges.answered(event)
            case UsageReported():
                self._answers.use(event)
            case Paused():
                self._pauses[event.hold] = self._add(pauses.entry_of(event))
            case Resumed():
                if (position := self._pauses.pop(event.hold, None)) is not None:
                    pauses.end(self._timeline.touch(position), event)
            case ToolCallStarted() | ToolResult():
                self._on_tool(event)
            case Submitted():
                self.answer = event.answer
                if not event.call_id:
                    self._note(event, "answer", event.answer)
            case LimitReached():
                self._add(Entry(f"limit {event.seq}", "limit", event.at, event.reason))
            case Interrupted():
                self._on_interrupted(event)
            case ErrorOccurred():
                self._on_error(event)
            case Graded():
                self._on_graded(event)
            case AgentNote():
                self._note(event, event.title or "note", event.text)
            case ExtraKept():
                self._add(_extra(event))
            case RecordingChanged():
                self.recorded = event.status == "resumed"
                if self.recorded:
                    self._note(event, "recording goes on", event.gap)
            case RunnerConnected() | RunnerHealth() | RunnerLogged():
                self.runner.apply(event)
            case SessionEnded():
                self._end_turn()
                self._add(Entry(f"ended {event.seq}", "ended", event.at, event.reason, status=event.status))
            case RetryScheduled():
                self.retry = event
            case ModelChanged():
                self._note(event, "model changed", f"calls go to {event.model}")
            case UnknownEvent():
                pass
            case _:
                assert_never(event)

    def _on_history(self, event: SessionStarted) -> None:
        if event.parent:
            self._note(event, *fork_note(event))
        for number, message in enumerate(event.history, start=1):
            entry = Entry(f"earlier {number}", "earlier", event.at, told(message))
            entry.status = str(message.get("role"))
            self._add(entry)

    def _on_user_message(self, event: UserMessageSent) -> None:
        self._steers.started_turn(event.msg_id)
        self._add(Entry(f"user {event.seq}", "user", event.at, event.text))
        self.calls_used = self.actions_used = 0
        self.answer = None

    def _on_steer(self, event: Steer) -> None:
        self._steers.apply(event)
        if event.status == "handed_over":
            limits = self.started.limits if self.started else {}
            if limits.get("count_by") != "turn":
                self.calls_used = self.actions_used = 0
        if event.status == "in_call":
            entry = Entry(f"steer {event.msg_id}", "steer", event.at, event.text, call=event.call)
            entry.status = "injected by host" if event.injected else ""
            self._answers.add_before(entry, event.call)

    def _on_request(self, event: LlmRequestSent) -> None:
        self._exchanges.sent(event)
        if event.attempt == 1:
            self.calls_used += 1
        if event.overridden != self._overridden:
            self._overridden = event.overridden
            self._note(event, "not as the agent asked", _overruled(event))
        for repair in event.repairs:
            self._add(Entry(f"repair {event.seq} {repair}", "repair", event.at, repair, call=event.call))
        self._answers.begin(event)

    def _on_tool(self, event: ToolCallStarted | ToolOutput | ToolResult) -> None:
        position = self._timeline.place_of(event.call_id)
        if position is None:
            if isinstance(event, ToolOutput):
                return
            position = self._timeline.add_call(CallView(event.call_id, event.call, event.name), event.at)
        view = self._timeline.touch_call(position)
        match event:
            case ToolCallStarted():
                view.state, view.started, view.own = "running", event.at, event.own
                if event.edited or (event.arguments and not view.arguments):
                    view.arguments = json.dumps(event.arguments, ensure_ascii=False)
                view.edited = view.edited or event.edited
                if event.name not in FREE_TOOLS and not event.own:
                    self.actions_used += 1
            case ToolOutput():
                piece = OutputPiece(event.stream, event.text, event.file, event.offset, event.length)
                view.output.append(piece)
            case ToolResult():
                view.state = event.status
                view.duration = event.duration
                view.content, view.reason = event.content, event.reason
                view.exit_code = event.exit_code
                view.edited = view.edited or event.edited

    def _on_interrupted(self, event: Interrupted) -> None:
        for call_id in event.not_run:
            position = self._timeline.place_of(call_id)
            if position is not None:
                call = self._timeline.touch_call(position)
                call.state, call.reason = "interrupted", "never run"
        self._answers.cut_off()
        entry = Entry(f"interrupted {event.seq}", "interrupted", event.at, event.reason)
        entry.interrupted = event
        self._add(entry)

    def _on_error(self, event: ErrorOccurred) -> None:
        if event.source == "model":
            self._answers.cut_off(event.call)
        entry = Entry(f"error {event.seq}", "error", event.at, event.message, call=event.call)
        entry.status, entry.detail = event.source, event.detail
        self._add(entry)

    def _end_turn(self) -> None:
        """Nothing of a turn that ended is still to come."""
        self._answers.cut_off()
        for position, call in enumerate(self.calls):
            if call.state in ("proposed", "streaming"):
                self._timeline.touch_call(position)
                call.state, call.reason = "refused", "never run"

    def _on_graded(self, event: Graded) -> None:
        entry = Entry(f"reward {event.seq}", "reward", event.at, event.error or event.reason)
        entry.status, entry.reward = event.grader, event.reward
        entry.metrics, entry.provisional = event.metrics, event.provisional
        entry.detail = event.reason if event.error else ""
        self._add(entry)

    def _note(self, event: Event, title: str, text: str) -> None:
        self._add(Entry(f"note {event.seq}", "note", event.at, text, status=title))

    def _add(self, entry: Entry) -> int:
        return self._timeline.add(entry)


def _extra(event: ExtraKept) -> Entry:
    text = json.dumps(event.data, ensure_ascii=False, indent=2)
    return Entry(f"extra {event.seq}", "extra", event.at, text, call=event.call, status=event.about)


def _overruled(event: LlmRequestSent) -> str:
    """What an agent with its own parameters does not get, in words."""
    if not event.overridden:
        return "the agent gets what it asks for again"
    asked = ", ".join(f"{name} {value}" for name, value in event.overridden.items())
    return f"it asked for {asked}; your settings say otherwise"
