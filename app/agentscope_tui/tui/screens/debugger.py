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
from textual.content import Content
from textual.events import Resize
from textual.reactive import var
from textual.widget import Widget
from textual.widgets import Footer, Static, Tab, Tabs

from agentscope_tui.datasets.task import RowError, Task
from agentscope_tui.errors import UserError
from agentscope_tui.tui.drawing import STARTING, SessionDrawing
from agentscope_tui.tui.keys import PANES
from agentscope_tui.tui.message_history import MessageHistory
from agentscope_tui.tui.scanning import DatasetRows, scan_dataset
from agentscope_tui.tui.screens.confirm import Choice, ConfirmScreen
from agentscope_tui.tui.screens.controls import SessionControls
from agentscope_tui.tui.workspace import RowSession, Workspace
from agentscope_widgets.call_list import CallList
from agentscope_widgets.composer import Composer
from agentscope_widgets.output_view import OutputView
from agentscope_widgets.row_list import RowList
from agentscope_widgets.safe_text import safe_line
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
        self._editing: str | None = None
        self._put_aside = ""
        self._opening: set[int] = set()
        self._rows = DatasetRows(workspace)

    def compose(self) -> ComposeResult:
        yield Static(id="too-small")
        tabs = (
            Tab(f"{number} {name.capitalize()}", id=f"tab-{name}")
            for number, name in enumerate(PANES, start=1)
        )
        yield Tabs(*tabs, id="tabs")
        with Horizontal(id="panes"):
            with Container(id="rows-pane", classes="pane"):
                yield RowList(id="rows")
            with Vertical(id="session-pane", classes="pane"):
                yield Transcript(id="transcript")
                yield SteerQueue(id="queue")
                yield Composer(id="composer")
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
        self.query_one(RowList).set_source(self._rows)
        self.query_one(Composer).past_messages = self._history.messages
        self._name_panes()
        self._show(None, None)
        self.refresh_rows()
        scan_dataset(self, self._workspace.dataset)
        self.set_interval(FRAME, self._pump)
        if self._first_row is not None:
            self._open_row(self._first_row)

    def _name_panes(self) -> None:
        path = self._workspace.dataset.path
        for name, title in (("rows", f"Rows · {safe_line(path.name, 60)}"), ("calls", "Tool calls")):
            self.query_one(f"#{name}-pane").border_title = Content(title)

    # What sessions do

    def _pump(self) -> None:
        """Fold what is new in every session, and draw what changed of the one on screen."""
        for row in self._workspace.sessions.values():
            changed, returned = row.pump()
            shown = row is self.current
            if returned:
                self._give_back(row, returned, shown)
            if changed:
                self._refresh_row(row.index)
                if shown:
                    self._drawing.update(row)
                    self.refresh_acts()
        if self.current is not None:
            self._drawing.tick(self.current)

    def _give_back(self, row: RowSession, texts: list[str], shown: bool) -> None:
        """Undelivered steers return to the composer, before what is being typed there."""
        composer = self.query_one(Composer)
        if shown:
            edited = composer.text if self._editing is not None else ""
            self._stop_editing()
            row.draft = "\n\n".join(text for text in (composer.text, edited) if text)
        row.draft = "\n\n".join([*texts, *([row.draft] if row.draft else [])])
        if shown:
            composer.text = row.draft
            composer.move_cursor(composer.document.end)
        self.notify(
            "A message that no model call took is back in the composer.", title="Not delivered", timeout=4
        )

    def refresh_rows(self, grew: bool = False) -> None:
        """The dataset's rows are more than before."""
        rows = self.query_one(RowList)
        if grew:
            rows.source_grew()
        count = len(self._rows)
        more = "" if self._workspace.dataset.complete else "+"
        self.query_one("#rows-pane").border_subtitle = f"{count:,}{more} row{'' if count == 1 else 's'}"

    def _refresh_row(self, index: int) -> None:
        self.query_one(RowList).refresh_row(index - self._workspace.dataset.offset)

    # Opening rows

    @on(RowList.RowHighlighted)
    def _row_highlighted(self) -> None:
        if self.index is None:
            self._preview()

    def _preview(self) -> None:
        """With no session on screen, the transcript says what the chosen row asks."""
        self._drawing.preview(self._workspace.dataset.row_at(self.query_one(RowList).cursor))

    @on(RowList.RowOpened)
    def _row_opened(self, event: RowList.RowOpened) -> None:
        self._open_row(self._workspace.dataset.offset + event.position)

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
        self._refresh_row(task.index)
        if self.index == task.index:
            opened = None if problem else self._workspace.sessions.get(task.index)
            self._show(opened, task.index, problem=problem)
            self._focus("rows" if problem else "transcript")

    def _show(self, row: RowSession | None, index: int | None, *, problem: str = "") -> None:
        """Put a session on screen, or none; each session keeps its own draft."""
        composer = self.query_one(Composer)
        self._stop_editing()
        if self.current is not None:
            self.current.draft = composer.text
        self.current, self.index = row, index
        composer.text = row.draft if row else ""
        composer.disabled = row is None
        self._drawing.show(row, index, problem)
        if index is None:
            self._preview()
        self.refresh_acts()

    def chosen_call(self) -> int:
        position = self.query_one(Transcript).cursor
        if self.current is not None and position is not None:
            return self.current.state.entries[position].call or super().chosen_call()
        return super().chosen_call()

    # The composer

    @on(Composer.Submitted)
    def _message_sent(self, event: Composer.Submitted) -> None:
        current, editing = self.current, self._editing
        if current is None:
            return
        self._stop_editing()
        self._history.add(event.text)
        if editing is not None:
            if current.session.edit_steer(editing, event.text):
                return
            self.notify("The message you edited had gone; this was sent as a new one.", severity="warning")
        self.query_one(Transcript).action_go_end()
        try:
            current.session.send(event.text)
        except UserError as error:
            self._drawing.return_text(event.text)
            self.notify(str(error), severity="error", markup=False)

    @on(Composer.EmptySubmitted)
    def _nothing_sent(self) -> None:
        if self._editing is None:
            self.action_step()

    @on(Composer.Left)
    def _composer_left(self) -> None:
        self._stop_editing()
        self._focus("transcript")

    @on(SteerQueue.SteerEditRequested)
    def _edit_steer(self, event: SteerQueue.SteerEditRequested) -> None:
        """Edit a queued steer in the composer; it keeps its place and may be taken meanwhile."""
        steers = self.current.state.steers if self.current else []
        for steer in steers:
            if steer.msg_id == event.key:
                self._stop_editing()
                self._put_aside = self.query_one(Composer).text
                self._editing = steer.msg_id
                self._drawing.edit_text(steer.msg_id, steer.text)
                self._focus("composer")

    def _stop_editing(self) -> None:
        """The composer is for new messages again, and has the text that an edit had put aside."""
        if self._editing is not None:
            self._editing = None
            self._drawing.edit_text(None, self._put_aside)

    @on(SteerQueue.SteerWithdrawRequested)
    def _withdraw_steer(self, event: SteerQueue.SteerWithdrawRequested) -> None:
        if self.current is not None:
            self.current.session.withdraw_steer(event.key)

    @on(SteerQueue.SteerMoveRequested)
    def _move_steer(self, event: SteerQueue.SteerMoveRequested) -> None:
        if self.current is not None:
            queued = [one.msg_id for one in self.current.state.steers if one.status == "queued"]
            if event.key in queued:
                self.current.session.move_steer(event.key, queued.index(event.key) + event.offset)

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
