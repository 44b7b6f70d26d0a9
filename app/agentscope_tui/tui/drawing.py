"""Drawing one session: its state into transcript, queue, calls, output and status line."""

from __future__ import annotations

from datetime import datetime

from textual.screen import Screen

from agentscope_tui.session.state import SessionState
from agentscope_tui.session.views import CallView
from agentscope_tui.tui.present.calls import item_of
from agentscope_tui.tui.present.status import segments_of
from agentscope_tui.tui.present.transcript import block_of
from agentscope_tui.tui.workspace import RowSession
from agentscope_widgets.call_list import CallList
from agentscope_widgets.composer import Composer
from agentscope_widgets.output_view import OutputView
from agentscope_widgets.safe_text import safe_line
from agentscope_widgets.status_line import StatusLine
from agentscope_widgets.steer_queue import SteerItem, SteerQueue
from agentscope_widgets.transcript import Transcript

TICK = 0.2
"""Seconds between two redraws of what only time changes."""
WELCOME = (
    "Choose a row and press Enter (or click it): an agent starts to work on it, and stops after each step."
)


class SessionDrawing:
    """Keeps the session's panes up to date; the screen says which session and when."""

    def __init__(self, screen: Screen[None]) -> None:
        self._transcript = screen.query_one(Transcript)
        self._queue = screen.query_one(SteerQueue)
        self._composer = screen.query_one(Composer)
        self._calls = screen.query_one(CallList)
        self._output = screen.query_one(OutputView)
        self._status = screen.query_one(StatusLine)
        self._session_pane = screen.query_one("#session-pane")
        self._output_pane = screen.query_one("#output-pane")
        self._selected: str | None = None
        self._ticked = datetime.min

    def show(self, row: RowSession | None, index: int | None, problem: str) -> None:
        """Draw a session anew, or say why there is none."""
        self._selected = None
        self._output.show(None, "")
        self._output_pane.border_title = "Output"
        self._transcript.placeholder = problem or WELCOME
        self._session_pane.border_title = "Transcript" if index is None else f"Transcript · row {index}"
        if row is None:
            self._transcript.show([])
            self._calls.show([])
            self._queue.show([])
            self._status.show([("no session", "muted")] if index is None else [(problem, "muted")])
            self._composer.placeholder = "Open a row first"
            return
        row.state.take_changes()
        state = row.state
        now = row.opened.session.bus.now()
        self._transcript.show([block_of(state, position) for position in range(len(state.entries))])
        self._calls.show([item_of(call, now) for call in state.calls])
        self._rest(row, now)

    def update(self, row: RowSession) -> None:
        """Draw what changed since the last time."""
        state = row.state
        entries, calls = state.take_changes()
        now = row.opened.session.bus.now()
        for position in sorted(entries):
            self._transcript.put(position, block_of(state, position))
        for position in sorted(calls):
            self._calls.put(position, item_of(state.calls[position], now))
        selected = state.call_view(self._selected) if self._selected else None
        if selected is not None and any(state.calls[position] is selected for position in calls):
            self._show_output(row, selected)
        self._rest(row, now)

    def tick(self, row: RowSession, now: datetime) -> None:
        """Draw what only time changes: durations of what runs."""
        if (now.replace(tzinfo=None) - self._ticked).total_seconds() < TICK:
            return
        self._ticked = now.replace(tzinfo=None)
        state = row.state
        for position, call in enumerate(state.calls):
            if call.state == "running":
                self._calls.put(position, item_of(call, now))
        self._status.show(segments_of(state, now))

    def select_call(self, row: RowSession, key: str) -> None:
        """Show the output of this call."""
        call = row.state.call_view(key)
        if call is not None:
            self._selected = key
            self._show_output(row, call)

    def return_text(self, text: str) -> None:
        """Put text back into the composer, before what is there."""
        self._composer.text = "\n\n".join(part for part in (text, self._composer.text) if part)
        self._composer.move_cursor(self._composer.document.end)

    def edit_text(self, text: str | None) -> None:
        """Begin to edit a queued message in the composer; None: it is over."""
        self._composer.border_title = "" if text is None else "editing · esc leaves it as it was"
        if text is not None:
            self._composer.text = text
            self._composer.move_cursor(self._composer.document.end)

    def _rest(self, row: RowSession, now: datetime) -> None:
        state = row.state
        self._queue.show(
            [
                SteerItem(
                    steer.msg_id, steer.text, _steer_word(steer.status, steer.call), steer.status == "queued"
                )
                for steer in state.steers
                if steer.status not in ("withdrawn", "returned") and _recent(state, steer.call)
            ]
        )
        self._composer.placeholder = _hint(state)
        self._status.show(segments_of(state, now))

    def _show_output(self, row: RowSession, call: CallView) -> None:
        buffer = row.output_of(call)
        self._output.show(buffer, call.call_id)
        self._output_pane.border_title = f"Output · {safe_line(call.name, 30)} · {call.state}"


def _steer_word(status: str, call: int | None) -> str:
    word = status.replace("_", " ")
    return f"in call #{call}" if status == "in_call" else f"{word} by call #{call}" if call else word


def _recent(state: SessionState, call: int | None) -> bool:
    """An answered steer stays in the queue until the call after it."""
    return call is None or call >= state.call


def _hint(state: SessionState) -> str:
    match state.status:
        case "running" | "interrupting" if state.holds:
            return "Enter: step · or type a message that steers the agent"
        case "running" | "interrupting":
            return "Type a message: the agent gets it at its next step"
        case "idle":
            return "Type a message: a new turn"
        case "starting":
            return "Starting …"
        case _:
            return "This session is over: ctrl+r runs the row again"
