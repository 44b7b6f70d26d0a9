"""A session as readable text, line by line: for scripts, CI and screen readers."""

from __future__ import annotations

import json
from typing import Any, TextIO

from agentscope_tui.events import (
    AgentNote,
    AssistantMessage,
    ErrorOccurred,
    Graded,
    Interrupted,
    LimitReached,
    LlmRequestSent,
    RecordingChanged,
    RetryScheduled,
    SessionEnded,
    SessionEvent,
    SessionStarted,
    StateChanged,
    Steer,
    Submitted,
    ToolCallStarted,
    ToolOutput,
    ToolResult,
    UserMessageSent,
)
from agentscope_tui.figures import named
from agentscope_tui.session.earlier import told
from agentscope_tui.session.views import ENDED_GLYPHS
from agentscope_widgets.safe_text import safe_line, safe_text


class TranscriptPrinter:
    """Prints each event that a reader wants to see. Text from outside is made safe first."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._at_line_start = True
        self._streamed: set[str] = set()
        self._told_overridden: dict[str, Any] = {}

    def __call__(self, event: SessionEvent) -> None:
        """The bus callback."""
        match event:
            case SessionStarted():
                self._told_overridden = {}
                self._line(
                    f"── row {event.row} · {event.model} · tools: {event.confinement} · {event.folder}"
                )
                if event.system:
                    self._block("system", event.system)
                for message in event.history:
                    self._block(f"{message.get('role')} (earlier)", told(message))
            case UserMessageSent():
                self._block("user", event.text)
            case Steer(status="in_call"):
                how = ", injected by host" if event.injected else ""
                self._block(f"steer (in call #{event.call}{how})", event.text)
            case LlmRequestSent():
                for repair in event.repairs:
                    self._line(f"  mended: {repair}")
                self._overruled(event.overridden)
            case AssistantMessage():
                self._assistant(event)
            case ToolCallStarted():
                self._line(f"  → {event.name} {safe_line(_arguments(event), 400)}")
            case ToolOutput():
                self._output(event)
            case ToolResult():
                self._result(event)
            case Submitted(call_id=""):
                self._block("answer", event.answer)
            case AgentNote():
                self._line(f"  · {event.title}: {event.text}" if event.title else f"  · {event.text}")
            case LimitReached() | Interrupted():
                self._line(f"  ! {event.reason or 'interrupted'}")
            case RetryScheduled():
                wait = f"again in {event.seconds:.1f} s ({event.attempt} of {event.of})"
                self._line(f"  ! {event.reason}: {wait}")
            case ErrorOccurred():
                self._line(f"  ! {event.source} error: {event.message}")
                if event.detail:
                    self._quote(event.detail)
            case RecordingChanged(status="resumed"):
                self._line(f"  · recording goes on: {event.gap}")
            case Graded():
                verdict = f"error: {event.error}" if event.error else f"{event.reward:g}"
                word = "score now" if event.provisional else "reward"
                reason = f" · {event.reason}" if event.reason else ""
                self._line(f"{word} ({event.grader}): {verdict}{reason}")
                if event.metrics:
                    self._line(f"  {named(event.metrics)}")
            case StateChanged(status="idle") if event.outcome:
                self._line(f"turn {event.turn} {event.outcome}{_because(event.reason)}")
            case SessionEnded(status="failed"):
                self._line(f"session failed: {event.reason}")
            case _:
                pass

    def _overruled(self, overridden: dict[str, Any]) -> None:
        """What the agent asked for and does not get, once until it changes."""
        if overridden != self._told_overridden:
            self._told_overridden = overridden
            for name, value in overridden.items():
                self._line(f"  the agent asked for {name} {value}: your settings say otherwise")

    def _assistant(self, event: AssistantMessage) -> None:
        cut = " · cut off" if event.partial else ""
        self._block(f"assistant #{event.call} ({event.duration:.1f} s{cut})", event.text)
        for call in event.tool_calls:
            self._line(f"  proposes {call.function.name} {safe_line(call.function.arguments, 400)}")

    def _output(self, event: ToolOutput) -> None:
        self._streamed.add(event.call_id)
        if event.offset is not None:
            self._line(f"  │ … {event.length} bytes more in outputs/{event.file}")
        else:
            self._quote(event.text)

    def _result(self, event: ToolResult) -> None:
        """A tool that streamed nothing shows what it gave; a result that is no success says why."""
        if event.call_id not in self._streamed and event.status in ("done", "failed"):
            self._quote(event.content)
        self._streamed.discard(event.call_id)
        exit_code = f" · exit {event.exit_code}" if event.exit_code else ""
        head = (
            f"  {ENDED_GLYPHS[event.status]} {event.name} {event.status} · {event.duration:.1f} s{exit_code}"
        )
        self._line(head + _because(safe_line(event.reason, 300)))

    def _quote(self, text: str) -> None:
        for piece in safe_text(text.replace("\r\n", "\n")).splitlines(keepends=True):
            if self._at_line_start:
                self._out.write("  │ ")
            self._out.write(piece)
            self._at_line_start = piece.endswith("\n")

    def _block(self, title: str, text: str) -> None:
        self._line(f"{title}:")
        for line in safe_text(text).split("\n"):
            self._line(f"  {line}")

    def _line(self, text: str) -> None:
        if not self._at_line_start:
            self._out.write("\n")
        self._at_line_start = True
        self._out.write(safe_text(text) + "\n")


def _because(reason: str) -> str:
    return f" · {reason}" if reason else ""


def _arguments(event: ToolCallStarted) -> str:
    return json.dumps(event.arguments, ensure_ascii=False)
