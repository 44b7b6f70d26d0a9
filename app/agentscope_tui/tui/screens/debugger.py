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

from agentscope_tui.datasets.source import STANDARD_INPUT
from agentscope_tui.datasets.task import RowError, Task
from agentscope_tui.errors import UserError
from agentscope_tui.session.forking import Fork
from agentscope_tui.session.views import Entry
from agentscope_tui.tui.attention import standing
from agentscope_tui.tui.batches import Run
from agentscope_tui.tui.drawing import STARTING, SessionDrawing
from agentscope_tui.tui.keymap import Keymap
from agentscope_tui.tui.message_history import MessageHistory
from agentscope_tui.tui.panes.rows_pane import RowsPane
from agentscope_tui.tui.panes.session_pane import SessionPane
from agentscope_tui.tui.present.status import segments_of
from agentscope_tui.tui.present.words import pretty_arguments
from agentscope_tui.tui.remembered import Remembered
from agentscope_tui.tui.screens.confirm import Choice, ConfirmScreen
from agentscope_tui.tui.screens.running_rows import RunningRows
from agentscope_tui.tui.shown_row import ShownRow
from agentscope_tui.tui.workspace import Workspace
from agentscope_widgets.call_list import CallList
from agentscope_widgets.composer import Composer
from agentscope_widgets.copying import CopyRequested
from agentscope_widgets.key_bar import KeyBar
from agentscope_widgets.output_view import OutputView
from agentscope_widgets.prompt_line import PromptLine
from agentscope_widgets.safe_text import safe_line
from agentscope_widgets.status_line import StatusLine
from agentscope_widgets.steer_queue import SteerQueue
from agentscope_widgets.timeline_bar import TimelineBar
from agentscope_widgets.transcript import Transcript

if TYPE_CHECKING:
    from agentscope_tui.tui.palette import Command

log = logging.getLogger(__name__)

FRAME = 1 / 30
"""Seconds between two looks at what the sessions have done."""


class DebuggerScreen(RunningRows):
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
        first_fork: Fork | None = None,
    ) -> None:
        """`first_row` is opened at once, `first_fork` is gone on with."""
        super().__init__(workspace, layout)
        self._keymap = keymap
        self._history = history
        self._first_row = first_row
        self._first_fork = first_fork

    def compose(self) -> ComposeResult:
        yield from self.arranged(
            RowsPane(self._workspace, id="rows-pane", classes="pane"),
            SessionPane(self._history, id="session-pane", classes="pane"),
            Container(CallList(id="calls"), id="calls-pane", classes="pane"),
            Container(OutputView(id="output"), PromptLine(), id="output-pane", classes="pane"),
        )
        yield TimelineBar(id="timeline")
        yield StatusLine(id="status")
        yield KeyBar(pinned="debugger.help")

    def on_mount(self) -> None:
        self._drawing = SessionDrawing(self, self._keymap, lambda: self._hold)
        self.query_one("#calls-pane").border_title = "Tool calls"
        self._show(None, None)
        self.set_interval(FRAME, self._pump)
        if guesses := self._workspace.dataset.columns.guesses:
            self.notify(guesses, title="Columns", markup=False)
        if self._first_fork is not None:
            self.go_on(self._first_fork, self._first_row or 0)
        elif self._first_row is not None:
            self._open_row(self._first_row)

    @property
    def _session_pane(self) -> SessionPane:
        return self.query_one(SessionPane)

    # What sessions do

    def _pump(self) -> None:
        """Fold what is new in every session, and draw what changed of the one on screen."""
        for row in self._workspace.shown():
            before = standing(row.state)
            news = row.pump()
            if news.returned:
                self._session_pane.give_back(row, news.returned)
            if news.said:
                self.notify(news.said, markup=False)
            if news.changed:
                now = standing(row.state)
                if row.session is not None and now and now != before:
                    self.post_message(self.SessionRested(f"row {row.index}: {now}"))
                if row.index is not None:
                    self._rows_pane.refresh_row(row.index)
                if row is self.current:
                    if news.anew:
                        self._drawing.show(row, self.index, "")
                    else:
                        self._drawing.update(row)
                    self.refresh_acts()
        self.pump_runs()
        if self.current is not None:
            self._drawing.tick(self.current)

    def run_ended(self, run: Run) -> None:
        super().run_ended(run)
        done, total = run.progress.total - run.progress.left, run.progress.total
        self.post_message(self.SessionRested(f"the run has ended, {done:,} of {total:,} are done"))

    # Opening rows

    @on(RowsPane.RowChosen)
    def _preview(self) -> None:
        """With no session on screen, the transcript says what the chosen row asks."""
        row = self._rows_pane.chosen
        if self.current is None and self.index is None and row is not None:
            recorded = self._workspace.is_recording(row.index)
            self._drawing.preview(row, self._workspace.dataset.columns.guesses, recorded=recorded)

    @on(RowsPane.OpenRequested)
    def _open_requested(self, event: RowsPane.OpenRequested) -> None:
        self._open_row(event.index)

    def _open_row(self, index: int, *, again: bool = False) -> None:
        """Show a row's session; start one where there is none."""
        if not again and self.open_row_of_run(index):
            return
        existing = self._workspace.on_row(index)
        if existing is not None and not again:
            self._show(existing, index)
            self.go_to("transcript")
            return
        if not again and self._workspace.is_recording(index):
            self.show_recorded_row(index)
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
            self.start(row)

    @work(group="open")
    async def start(self, task: Task, fork: Fork | None = None) -> None:
        before = self.current
        self._show(None, task.index, problem=STARTING)
        problem = ""
        try:
            await self.agree_unconfined()
            row = await self._workspace.open(task, fork=fork)
            if fork is not None and before is not None:
                row.draft = before.draft
        except UserError as error:
            problem = str(error)
        except Exception as error:
            log.exception("row %d could not be opened", task.index)
            problem = f"agentscope failed to open the row: {type(error).__name__}: {error} (see the log file)"
        finally:
            self._opening.discard(task.index)
        self._rows_pane.refresh_row(task.index)
        if self.index == task.index:
            if problem and fork is not None and before is not None:
                self._show(before, task.index)
                self.notify(problem, severity="error", markup=False)
                return
            opened = None if problem else self._workspace.sessions.get(task.index)
            self._show(opened, task.index, problem=problem)
            # A pane that is alone hides the reason from the rows.
            self.go_to("rows" if problem and not self._alone else "transcript")

    def put_on_screen(self, row: ShownRow | None, index: int | None, problem: str = "") -> None:
        self._show(row, index, problem=problem)
        self.go_to("transcript")
        if row is not None and row.index is not None:
            self._rows_pane.refresh_row(row.index)

    async def agree_unconfined(self) -> None:
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
        again = "for this run" if launcher.dataset == STANDARD_INPUT else "and do not ask again"
        if not await self._confirmed(question, f"run unconfined, {again}"):
            raise UserError("not run: nothing can confine its tools here (agentscope doctor says why)")
        launcher.agree_unconfined()

    def _show(self, row: ShownRow | None, index: int | None, *, problem: str = "") -> None:
        """Put a session on screen, or none."""
        self.current, self.index = row, index
        self._session_pane.show(row)
        self._drawing.show(row, index, problem)
        if not problem:
            self._preview()
        self.refresh_acts()

    def entry_under_cursor(self) -> Entry | None:
        position = None if self.current is None else self.query_one(Transcript).cursor
        if self.current is None or position is None:
            return None
        return self.current.state.entries[position]

    def chosen_tool_call(self) -> str | None:
        if self.pane not in ("calls", "output") or self.current is None:
            return None
        calls = self.current.state.calls[self.query_one(CallList).cursor :]
        return calls[0].call_id if calls else None

    def call_under_cursor(self) -> int | None:
        entry = self.entry_under_cursor()
        return entry.call if entry is not None else None

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
            state = segments_of(row.state, row.now())[0][0]
            yield Command(f"session of row {index} · {state}", partial(self._open_row, index))
        for index, text in self._rows_pane.in_sight():
            yield Command(f"row {index} · {text}", partial(self._open_row, index))
        number = query.lower().removeprefix("row ").strip()
        if number.isdecimal():
            yield Command(f"row {int(number)}", partial(self._open_row, int(number)))

    @work(group="ask")
    async def action_sessions(self) -> None:
        """The recorded sessions of the row that is looked at; one of them is shown."""
        from agentscope_tui.tui.screens.sessions import SessionsScreen

        pane = self._rows_pane
        chosen = pane.chosen.index if pane.chosen is not None else None
        index = chosen if self.index is None or pane.has_focus_within else self.index
        session = await self.app.push_screen_wait(SessionsScreen(self._workspace, index))
        if session is not None:
            self.show_session(session.session_id, session.folder)

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
                self.action_interrupt()
        self._show(None, None)
        self.go_to("rows")

    @work(group="ask")
    async def action_quit(self) -> None:
        running, run = self._workspace.active(), self._workspace.batches.running
        rows = ", ".join(dict.fromkeys(str(row.index) for row in running))
        question = f"Row{'s' if len(running) > 1 else ''} {rows} still running." if running else ""
        if run is not None:
            question = f"A run is under way, {run.progress.left:,} of {run.progress.total:,} are left."
        if question and not await self._confirmed(f"{question} End and quit?", "quit"):
            return
        self.app.exit()

    async def _confirmed(self, question: str, word: str) -> bool:
        return await self.app.push_screen_wait(ConfirmScreen(question, (Choice("y", "yes", word),))) == "yes"
