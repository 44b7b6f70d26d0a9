"""Drawing one session: its state into transcript, queue, calls, output and status line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from textual.content import Content
from textual.screen import Screen

from agentscope_tui.datasets.task import RowError, Task
from agentscope_tui.events import Paused
from agentscope_tui.session.state import SessionState
from agentscope_tui.session.views import CallView
from agentscope_tui.store.tape import Tape
from agentscope_tui.tui.keymap import Keymap
from agentscope_tui.tui.present.calls import item_of
from agentscope_tui.tui.present.recording import (
    last_call,
    playing_word,
    position_word,
    recording_segments,
    timeline_marks,
)
from agentscope_tui.tui.present.status import segments_of
from agentscope_tui.tui.present.transcript import block_of
from agentscope_tui.tui.recorded_session import RecordedRow
from agentscope_tui.tui.shown_row import ShownRow
from agentscope_widgets.blocks import Block
from agentscope_widgets.call_list import CallList
from agentscope_widgets.composer import Composer
from agentscope_widgets.key_bar import key_name
from agentscope_widgets.output_view import OutputView
from agentscope_widgets.safe_text import safe_line
from agentscope_widgets.status_line import StatusLine
from agentscope_widgets.steer_queue import SteerItem, SteerQueue
from agentscope_widgets.timeline_bar import TimelineBar
from agentscope_widgets.transcript import Transcript

TICK = 0.2
"""Seconds between two redraws of what only time changes."""
STARTING = "starting …"
OPENING = "opening the recording …"
RECORDED = "A recording: nothing is sent from here"
NOT_RUN = ("streaming", "proposed")
WELCOME = "Press Enter on a row, or click it: an agent works on it, and stops after each model call.\n\n"
FIRST_KEYS = (
    ("step", "next step"),
    ("continue", "run without stops"),
    ("interrupt", "interrupt"),
    ("compose", "write to the agent"),
    ("messages", "its messages"),
    ("tools", "its tools"),
    ("palette", "find anything"),
    ("help", "all keys"),
)
"""What a newcomer needs: act and words."""
OF_RECORDINGS = "Press Enter on a row, or click it: what was recorded of it is shown. Nothing is run.\n\n"
FIRST_KEYS_OF_RECORDINGS = (
    ("step", "next call"),
    ("back_call", "the call before"),
    ("continue", "play it"),
    ("fork", "go on from here in another way"),
    ("messages", "what was sent to the model"),
    ("tools", "the tools"),
    ("palette", "find anything"),
    ("help", "all keys"),
)
"""The same where rows are recordings."""


class SessionDrawing:
    """Keeps the session's panes up to date; the screen says which session and when."""

    def __init__(
        self, screen: Screen[None], keymap: Keymap, chosen_hold: Callable[[], Paused | None]
    ) -> None:
        """`chosen_hold` gives the step of the session on screen that keys act on."""
        self._chosen_hold = chosen_hold
        self._welcome = _welcome(WELCOME, FIRST_KEYS, keymap)
        self._welcome_of_recordings = _welcome(OF_RECORDINGS, FIRST_KEYS_OF_RECORDINGS, keymap)
        self._rerun_key = _key(keymap, "rerun")
        self._transcript = screen.query_one(Transcript)
        self._queue = screen.query_one(SteerQueue)
        self._composer = screen.query_one(Composer)
        self._calls = screen.query_one(CallList)
        self._output = screen.query_one(OutputView)
        self._status = screen.query_one(StatusLine)
        self._timeline = screen.query_one(TimelineBar)
        self._marks: tuple[Tape, int] | None = None
        """The recording whose marks the timeline shows, and how many of them."""
        self._session_pane = screen.query_one("#session-pane")
        self._output_pane = screen.query_one("#output-pane")
        self._ticked = datetime.min.replace(tzinfo=UTC)

    def show(self, row: ShownRow | None, index: int | None, problem: str) -> None:
        """Draw a session anew, or say why there is none."""
        self._timeline.display = isinstance(row, RecordedRow)
        self._transcript.elsewhere = range(0)
        self._marks = None
        self._output.show(None, "")
        self._output_pane.border_title = "Output"
        self._output_pane.border_subtitle = ""
        self._session_pane.border_title = "Transcript" if index is None else f"Transcript · row {index}"
        if row is None:
            self._transcript.show([_problem(problem)] if problem else [self._welcome])
            self._calls.show([])
            self._queue.show([])
            self._status.show([("NO SESSION" if index is None else f"ROW {index}", "muted")])
            self._composer.placeholder = "Open a row first"
            return
        row.state.take_changes()
        state = row.state
        now = row.now()
        self._transcript.show([block_of(state, position) for position in range(len(state.entries))])
        self._calls.show([item_of(call, now) for call in state.calls])
        self._rest(row, now)

    def preview(self, row: Task | RowError, guesses: str, *, recorded: bool) -> None:
        """What a row asks, while no session is on screen, and which columns were guessed for it. One that is
        `recorded` is not run when it is opened."""
        if isinstance(row, RowError):
            task = Block(key="row", title=f"✗ row {row.index}", body=str(row), tone="error")
        else:
            count = len(row.history)
            earlier = (f"after {count} earlier message{'' if count == 1 else 's'}",) if count else ()
            task = Block(key="row", title=f"row {row.index}", body=row.prompt, margin=earlier)
        columns = [Block(key="columns", title="columns", body=guesses, tone="muted")] if guesses else []
        welcome = self._welcome_of_recordings if recorded else self._welcome
        self._transcript.show([welcome, task, *columns])

    def update(self, row: ShownRow) -> None:
        """Draw what changed since the last time."""
        state = row.state
        entries, calls = state.take_changes()
        now = row.now()
        for position in sorted(entries):
            self._transcript.put(position, block_of(state, position))
        for position in sorted(calls):
            self._calls.put(position, item_of(state.calls[position], now))
        if self._calls.cursor in calls:
            self._show_output(row, state.calls[self._calls.cursor])
        self._rest(row, now)

    def tick(self, row: ShownRow) -> None:
        """Draw what only time changes: durations of what runs, and output that is taken in bit by bit."""
        chosen = row.state.calls[self._calls.cursor : self._calls.cursor + 1]
        if chosen and row.has_more_output(chosen[0]):
            self._show_output(row, chosen[0])
        now = row.now()
        if (now - self._ticked).total_seconds() < TICK:
            return
        self._ticked = now
        if chosen:
            self._show_facts(chosen[0])
        state = row.state
        for position, call in enumerate(state.calls):
            if call.state == "running":
                self._calls.put(position, item_of(call, now))
        self._show_status(row, now)

    def select_call(self, row: ShownRow, key: str) -> None:
        """Show the output of this call."""
        call = row.state.call_view(key)
        if call is not None:
            self._show_output(row, call)

    def _rest(self, row: ShownRow, now: datetime) -> None:
        state = row.state
        steers = [
            SteerItem(
                steer.msg_id, steer.text, _steer_word(steer.status, steer.call), steer.status == "queued"
            )
            for steer in state.steers
            if steer.status not in ("withdrawn", "returned") and _recent(state, steer.call)
        ]
        if steers != self._queue.items:
            self._queue.show(steers)
        self._composer.placeholder = RECORDED if row.session is None else _hint(state, self._rerun_key)
        self._show_status(row, now)

    def _show_status(self, row: ShownRow, now: datetime) -> None:
        segments = segments_of(row.state, now, self._chosen_hold())
        if isinstance(row, RecordedRow):
            segments = [*recording_segments(row), *segments]
            self._show_timeline(row)
        self._status.show(segments)

    def _show_timeline(self, row: RecordedRow) -> None:
        marks = row.tape, len(row.tape.marks)
        if marks != self._marks:
            self._marks = marks
            self._timeline.show_marks(timeline_marks(row.tape.marks))
            self._transcript.elsewhere = range(1, last_call(row) + 1)
        self._timeline.show(row.at, row.tape.last, playing_word(row), position_word(row))

    def _show_output(self, row: ShownRow, call: CallView) -> None:
        self._output.placeholder = "not run yet" if call.state in NOT_RUN else "no output"
        self._output.show(row.output_of(call), call.call_id)
        self._show_facts(call)
        self._output_pane.border_title = Content(f"Output · {safe_line(call.name, 30)} · {call.state}")

    def _show_facts(self, call: CallView) -> None:
        """What there is to know of the output on screen, also of how it is shown."""
        self._output_pane.border_subtitle = "" if call.state in NOT_RUN else Content(self._output.facts)


def _welcome(text: str, acts: Sequence[tuple[str, str]], keymap: Keymap) -> Block:
    keys = [(_key(keymap, act), words) for act, words in acts]
    width = max(len(key) for key, _ in keys)
    body = text + "\n".join(f"{key:<{width}}  {words}" for key, words in keys)
    return Block(key="welcome", title="agentscope", tone="primary", body=body)


def _key(keymap: Keymap, act: str) -> str:
    """The first key of one of the screen's acts, as people write it."""
    return key_name(keymap.keys[f"debugger.{act}"][0])


def _problem(text: str) -> Block:
    if text == STARTING or text.startswith(OPENING):
        return Block(key="starting", title=text, tone="accent")
    return Block(key="problem", kind="error", title="✗ this row was not opened", body=text, tone="error")


def _steer_word(status: str, call: int | None) -> str:
    word = status.replace("_", " ")
    return f"in call #{call}" if status == "in_call" else f"{word} by call #{call}" if call else word


def _recent(state: SessionState, call: int | None) -> bool:
    """An answered steer stays in the queue until the call after it."""
    return call is None or call >= state.call


def _hint(state: SessionState, rerun: str) -> str:
    match state.status:
        case "running" | "interrupting" if any(hold.step == "failed_call" for hold in state.holds):
            return "The call failed: retry it or give it up · a message steers the agent"
        case "running" | "interrupting" if state.holds:
            return "Enter steps · a message steers the agent"
        case "running" | "interrupting":
            return "A message steers the agent at its next step"
        case "idle" if state.outcome == "failed":
            return f"{rerun} runs the row again · a message starts a new turn"
        case "idle":
            return "A message starts a new turn"
        case "starting":
            return "Starting …"
        case _:
            return f"This session is over: {rerun} runs the row again"
