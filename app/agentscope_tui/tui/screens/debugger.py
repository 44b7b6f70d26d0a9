"""The debugger: rows, transcript, composer, tool calls and output on one screen.

The screen turns keys and messages into one call on the session each; what comes of it is drawn from the
session's state, thirty times a second at most.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Container
from textual.message import Message

from agentscope_tui.datasets.task import RowError, Task
from agentscope_tui.errors import UserError
from agentscope_tui.tui.attention import standing
from agentscope_tui.tui.drawing import STARTING, SessionDrawing
from agentscope_tui.tui.keymap import Keymap
from agentscope_tui.tui.message_history import MessageHistory
from agentscope_tui.tui.panes.rows_pane import RowsPane
from agentscope_tui.tui.panes.session_pane import SessionPane
from agentscope_tui.tui.present.status import segments_of
from agentscope_tui.tui.present.words import pretty_arguments
from agentscope_tui.tui.remembered import Remembered
from agentscope_tui.tui.screens.confirm import Choice, ConfirmScreen
from agentscope_tui.tui.screens.panes import PaneScreen
from agentscope_tui.tui.workspace import RowSession, Workspace
from agentscope_widgets.call_list import CallList
from agentscope_widgets.composer import Composer
from agentscope_widgets.copying import CopyRequested
from agentscope_widgets.key_bar import KeyBar
from agentscope_widgets.output_view import OutputView
from agentscope_widgets.prompt_line import PromptLine
from agentscope_widgets.safe_text import safe_line
from agentscope_widgets.status_line import StatusLine
from agentscope_widgets.steer_queue import SteerQueue
from agentscope_widgets.transcript import Transcript

if TYPE_CHECKING:
    from agentscope_tui.tui.palette import Command

log = logging.getLogger(__name__)

FRAME = 1 / 30
"""Seconds between two looks at what the sessions have done."""


class DebuggerScreen(PaneScreen):
    """The main screen."""

    AUTO_FOCUS = "#rows"

    class SessionRested(Message):
        """A session paused or ended; `text` says which and how, in words of our own."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(
        self,
        workspace: Workspace,
        history: MessageHistory,
        layout: Remembered,
        keymap: Keymap,
        *,
        first_row: int | None = None,
    ) -> None:
        super().__init__(workspace, layout)
        self._keymap = keymap
        self._history = history
        self._first_row = first_row
        self._opening: set[int] = set()

    def compose(self) -> ComposeResult:
        yield from self.arranged(
            RowsPane(self._workspace, id="rows-pane", classes="pane"),
            SessionPane(self._history, id="session-pane", classes="pane"),
            Container(CallList(id="calls"), id="calls-pane", classes="pane"),
            Container(OutputView(id="output"), PromptLine(), id="output-pane", classes="pane"),
        )
        yield StatusLine(id="status")
        yield KeyBar(pinned="debugger.help")

    def on_mount(self) -> None:
        self._drawing = SessionDrawing(self, self._keymap, lambda: self._hold)
        self.query_one("#calls-pane").border_title = "Tool calls"
        self._show(None, None)
        self.set_interval(FRAME, self._pump)
        if guesses := self._workspace.dataset.columns.guesses:
            self.notify(guesses, title="Columns", markup=False)
        if self._first_row is not None:
            self._open_row(self._first_row)

    @property
    def _rows_pane(self) -> RowsPane:
        return self.query_one(RowsPane)

    @property
    def _session_pane(self) -> SessionPane:
        return self.query_one(SessionPane)

    # What sessions do

    def _pump(self) -> None:
        """Fold what is new in every session, and draw what changed of the one on screen."""
        for row in self._workspace.sessions.values():
            before = standing(row.state)
            changed, returned = row.pump()
            if returned:
                self._session_pane.give_back(row, returned)
            if changed:
                now = standing(row.state)
                if now and now != before:
                    self.post_message(self.SessionRested(f"row {row.index}: {now}"))
                self._rows_pane.refresh_row(row.index)
                if row is self.current:
                    self._drawing.update(row)
                    self.refresh_acts()
        if self.current is not None:
            self._drawing.tick(self.current)

    # Opening rows

    @on(RowsPane.RowChosen)
    def _preview(self) -> None:
        """With no session on screen, the transcript says what the chosen row asks."""
        row = self._rows_pane.chosen
        if self.index is None and row is not None:
            self._drawing.preview(row, self._workspace.dataset.columns.guesses)

    @on(RowsPane.OpenRequested)
    def _open_requested(self, event: RowsPane.OpenRequested) -> None:
        self._open_row(event.index)

    def _open_row(self, index: int, *, again: bool = False, restart: bool = False) -> None:
        """Show a row's session; start one where there is none."""
        existing = self._workspace.sessions.get(index)
        if existing is not None and not again:
            self._show(existing, index)
            self.go_to("transcript")
            return
        try:
            row = self._workspace.row(index)
        except UserError as error:
            self.notify(str(error), severity="error", markup=False)
            return
        if isinstance(row, RowError):
            self._show(None, index, problem=str(row))
            self.go_to("transcript")
        elif index not in self._opening:
            self._opening.add(index)
            self._start(row, restart)

    @work(group="open")
    async def _start(self, task: Task, restart: bool) -> None:
        self._show(None, task.index, problem=STARTING)
        problem = ""
        try:
            await self._agree_unconfined()
            await self._workspace.open(task, restart=restart)
        except UserError as error:
            problem = str(error)
        except Exception as error:
            log.exception("row %d could not be opened", task.index)
            problem = f"agentscope failed to open the row: {type(error).__name__}: {error} (see the log file)"
        finally:
            self._opening.discard(task.index)
        self._rows_pane.refresh_row(task.index)
        if self.index == task.index:
            opened = None if problem else self._workspace.sessions.get(task.index)
            self._show(opened, task.index, problem=problem)
            # A pane that is alone hides the reason from the rows.
            self.go_to("rows" if problem and not self._alone else "transcript")

    async def _agree_unconfined(self) -> None:
        """Ask, once for this dataset, whether tools may run where nothing can confine them.

        Raises:
            UserError: they may not.
        """
        launcher = self._workspace.launcher
        reason = await launcher.unconfined_reason()
        if not reason:
            return
        question = (
            f"Nothing can confine the agent's tools here: {safe_line(reason)}.\n\n"
            "They would run as you, with your files and your network. Run this dataset's rows like that?"
        )
        if not await self._confirmed(question, "run unconfined, and do not ask again"):
            raise UserError("not run: nothing can confine its tools here (agentscope doctor says why)")
        launcher.agree_unconfined()

    def _show(self, row: RowSession | None, index: int | None, *, problem: str = "") -> None:
        """Put a session on screen, or none."""
        self.current, self.index = row, index
        self._session_pane.show(row)
        self._drawing.show(row, index, problem)
        self._preview()
        self.refresh_acts()

    def call_under_cursor(self) -> int | None:
        position = None if self.current is None else self.query_one(Transcript).cursor
        if self.current is None or position is None:
            return None
        return self.current.state.entries[position].call

    # The panes

    @on(SessionPane.StepRequested)
    def _step_requested(self) -> None:
        self.action_step()

    @on(Composer.Left)
    def _composer_left(self) -> None:
        self.go_to("transcript")

    @on(SteerQueue.SteerEditRequested)
    def _steer_edited(self) -> None:
        self.go_to("composer")

    @on(Transcript.BlockHighlighted)
    def _block_highlighted(self) -> None:
        """Keys act on the step of the chosen call, so what works may be another."""
        self.refresh_acts()

    @on(CallList.CallHighlighted)
    def _call_highlighted(self, event: CallList.CallHighlighted) -> None:
        if self.current is not None:
            self._drawing.select_call(self.current, event.key)

    @on(CallList.CallTextRequested)
    def _call_text_requested(self, event: CallList.CallTextRequested) -> None:
        call = self.current.state.call_view(event.key) if self.current is not None else None
        if call is not None:
            text = pretty_arguments(call) if event.part == "arguments" else call.content
            self.post_message(event.request(text))

    @on(Transcript.ResultRequested)
    def _result_requested(self, event: Transcript.ResultRequested) -> None:
        state = self.current.state if self.current is not None else None
        call = state.call_view(state.entries[event.position].call_id or "") if state is not None else None
        if call is not None:
            self.post_message(CopyRequested(call.content))

    # Keys

    def action_help(self) -> None:
        from agentscope_tui.tui.screens.help import HelpScreen

        self.app.push_screen(HelpScreen(self._keymap))

    def action_palette(self) -> None:
        from agentscope_tui.tui.palette import palette

        self.app.push_screen(palette(self._commands))

    def _commands(self, query: str) -> Iterator[Command]:
        """What the palette offers: acts, sessions, the rows in sight, and any row by its number."""
        from agentscope_tui.tui.palette import Command, acts_of

        yield from acts_of(self)
        for index, row in self._workspace.sessions.items():
            state = segments_of(row.state, row.session.bus.now())[0][0]
            yield Command(f"session of row {index} · {state}", partial(self._open_row, index))
        for index, text in self._rows_pane.in_sight():
            yield Command(f"row {index} · {text}", partial(self._open_row, index))
        number = query.lower().removeprefix("row ").strip()
        if number.isdecimal():
            yield Command(f"row {int(number)}", partial(self._open_row, int(number)))

    def action_leave(self) -> None:
        """esc, with nothing on top and nothing being written: interrupt."""
        self.action_interrupt()

    def action_compose(self) -> None:
        self.go_to("composer")

    @work(group="ask")
    async def action_rerun(self) -> None:
        index = self.index
        if index is None:
            return
        running = self._workspace.sessions.get(index)
        question = f"Row {index} is still running. End it and run the row again?"
        if running is not None and running.active and not await self._confirmed(question, "run again"):
            return
        self._open_row(index, again=True)

    def action_restart(self) -> None:
        """After the runner died: a new one goes on where it was."""
        if self.index is not None:
            self._open_row(self.index, again=True, restart=True)

    @work(group="ask")
    async def action_back(self) -> None:
        """Back to the rows; what runs goes on, or is interrupted, as the user says."""
        current = self.current
        if current is not None and current.active:
            answer = await self.app.push_screen_wait(
                ConfirmScreen(
                    f"The session of row {current.index} is running.",
                    (Choice("b", "background", "leave it running"), Choice("i", "interrupt", "interrupt it")),
                )
            )
            if answer is None:
                return
            if answer == "interrupt":
                current.session.interrupt()
        self._show(None, None)
        self.go_to("rows")

    @work(group="ask")
    async def action_quit(self) -> None:
        running = self._workspace.active()
        if running:
            rows = ", ".join(str(row.index) for row in running)
            plural = "s" if len(running) > 1 else ""
            if not await self._confirmed(f"Row{plural} {rows} still running. End and quit?", "quit"):
                return
        self.app.exit()

    async def _confirmed(self, question: str, word: str) -> bool:
        return await self.app.push_screen_wait(ConfirmScreen(question, (Choice("y", "yes", word),))) == "yes"
