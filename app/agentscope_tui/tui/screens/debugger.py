"""The debugger: rows, transcript, composer, tool calls and output on one screen.

The screen turns keys and messages into one call on the session each; what comes of it is drawn from the
session's state, thirty times a second at most.
"""

from __future__ import annotations

import logging
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Horizontal, Vertical
from textual.events import Resize
from textual.reactive import var
from textual.widget import Widget
from textual.widgets import Footer, Static, Tab, Tabs

from agentscope_tui.datasets.task import RowError, Task
from agentscope_tui.errors import UserError
from agentscope_tui.tui.drawing import STARTING, SessionDrawing
from agentscope_tui.tui.keys import PANES
from agentscope_tui.tui.message_history import MessageHistory
from agentscope_tui.tui.panes.rows_pane import RowsPane
from agentscope_tui.tui.panes.session_pane import SessionPane
from agentscope_tui.tui.screens.confirm import Choice, ConfirmScreen
from agentscope_tui.tui.screens.controls import SessionControls
from agentscope_tui.tui.workspace import RowSession, Workspace
from agentscope_widgets.call_list import CallList
from agentscope_widgets.composer import Composer
from agentscope_widgets.output_view import OutputView
from agentscope_widgets.status_line import StatusLine
from agentscope_widgets.steer_queue import SteerQueue
from agentscope_widgets.transcript import Transcript

log = logging.getLogger(__name__)

FRAME = 1 / 30
"""Seconds between two looks at what the sessions have done."""
MIN_SIZE = (60, 16)


class DebuggerScreen(SessionControls):
    """The main screen."""

    AUTO_FOCUS = "#rows"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "escape", "leave", "interrupt", show=False, id="debugger.leave", tooltip="Interrupt the turn"
        ),
        Binding("enter", "compose", "message", show=False, id="debugger.write", tooltip="Write a message"),
    ]
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (110, "-wide")]

    pane: var[str] = var("rows")
    """The pane that a narrow terminal shows."""

    def __init__(
        self, workspace: Workspace, history: MessageHistory, *, first_row: int | None = None
    ) -> None:
        super().__init__(workspace)
        self._history = history
        self._first_row = first_row
        self._opening: set[int] = set()

    def compose(self) -> ComposeResult:
        yield Static(id="too-small")
        tabs = (
            Tab(f"{number} {name.capitalize()}", id=f"tab-{name}")
            for number, name in enumerate(PANES, start=1)
        )
        yield Tabs(*tabs, id="tabs")
        with Horizontal(id="panes"):
            yield RowsPane(self._workspace, id="rows-pane", classes="pane")
            yield SessionPane(self._history, id="session-pane", classes="pane")
            with Vertical(id="work"):
                with Container(id="calls-pane", classes="pane"):
                    yield CallList(id="calls")
                with Container(id="output-pane", classes="pane"):
                    yield OutputView(id="output")
        yield StatusLine(id="status")
        yield Footer(show_command_palette=False, compact=True)

    def on_mount(self) -> None:
        self._drawing = SessionDrawing(self)
        self.query_one("#tabs", Tabs).can_focus = False
        self.query_one("#calls-pane").border_title = "Tool calls"
        self._show(None, None)
        self.set_interval(FRAME, self._pump)
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
            changed, returned = row.pump()
            if returned:
                self._session_pane.give_back(row, returned)
            if changed:
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
        if self.index is None:
            self._drawing.preview(self._rows_pane.chosen)

    @on(RowsPane.OpenRequested)
    def _open_requested(self, event: RowsPane.OpenRequested) -> None:
        self._open_row(event.index)

    def _open_row(self, index: int, *, again: bool = False, restart: bool = False) -> None:
        """Show a row's session; start one where there is none."""
        existing = self._workspace.sessions.get(index)
        if existing is not None and not again:
            self._show(existing, index)
            self._focus("transcript")
            return
        row = self._workspace.row(index)
        if isinstance(row, RowError):
            self._show(None, index, problem=str(row))
            self._focus("transcript")
        elif index not in self._opening:
            self._opening.add(index)
            self._start(row, restart)

    @work(group="open")
    async def _start(self, task: Task, restart: bool) -> None:
        self._show(None, task.index, problem=STARTING)
        problem = ""
        try:
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
            self._focus("rows" if problem else "transcript")

    def _show(self, row: RowSession | None, index: int | None, *, problem: str = "") -> None:
        """Put a session on screen, or none."""
        self.current, self.index = row, index
        self._session_pane.show(row)
        self._drawing.show(row, index, problem)
        self._preview()
        self.refresh_acts()

    def chosen_call(self) -> int:
        position = self.query_one(Transcript).cursor
        if self.current is not None and position is not None:
            return self.current.state.entries[position].call or super().chosen_call()
        return super().chosen_call()

    # The panes

    @on(SessionPane.StepRequested)
    def _step_requested(self) -> None:
        self.action_step()

    @on(Composer.Left)
    def _composer_left(self) -> None:
        self._focus("transcript")

    @on(SteerQueue.SteerEditRequested)
    def _steer_edited(self) -> None:
        self._focus("composer")

    @on(CallList.CallHighlighted)
    def _call_highlighted(self, event: CallList.CallHighlighted) -> None:
        if self.current is not None:
            self._drawing.select_call(self.current, event.key)

    # Keys

    def action_compose(self) -> None:
        self._focus("composer")

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
        self._focus("rows")

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

    # Layout

    def action_pane(self, pane: str) -> None:
        self._focus("transcript" if pane == "session" else pane)

    def action_leave(self) -> None:
        """esc, with nothing on top and nothing being written: interrupt."""
        self.action_interrupt()

    def _focus(self, pane: str) -> None:
        self.pane = {"transcript": "session", "composer": "session"}.get(pane, pane)
        # `widget.focus()` waits its turn: what is typed meanwhile would be keys of the pane that was left.
        self.set_focus(self.query_one(f"#{pane}", Widget))

    def watch_pane(self, pane: str) -> None:
        """A narrow terminal shows one pane."""
        for name in PANES:
            self.query_one(f"#{name}-pane").set_class(name == pane, "-shown")
        self.query_one("#work").set_class(pane in ("calls", "output"), "-shown")
        self.query_one("#tabs", Tabs).active = f"tab-{pane}"

    @on(Tabs.TabActivated)
    def _tab_activated(self, event: Tabs.TabActivated) -> None:
        self.pane = str(event.tab.id).removeprefix("tab-")

    def on_resize(self, event: Resize) -> None:
        width, height = event.size
        small = width < MIN_SIZE[0] or height < MIN_SIZE[1]
        self.set_class(small, "-too-small")
        self.query_one("#too-small", Static).update(
            f"The terminal is too small: {width}×{height}.\nagentscope needs {MIN_SIZE[0]}×{MIN_SIZE[1]}."
        )
