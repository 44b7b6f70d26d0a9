"""The rows pane: the dataset's rows, counted while the screen is live, and how each row's session stands."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from typing import ClassVar

from textual import on, work
from textual.binding import BindingType
from textual.content import Content
from textual.events import Resize
from textual.message import Message
from textual.timer import Timer
from textual.worker import Worker, WorkerCancelled, WorkerFailed

from agentscope_tui.datasets.dataset import Dataset
from agentscope_tui.datasets.task import RowError, Task
from agentscope_tui.errors import UserError
from agentscope_tui.store.index_database import Version
from agentscope_tui.tui.dataset_rows import DatasetRows
from agentscope_tui.tui.panes.row_panel import RowPanel
from agentscope_tui.tui.panes.rows_keys import ROWS_PANE_KEYS
from agentscope_tui.tui.panes.rows_of_runs import FEW, RowsOfRuns
from agentscope_tui.tui.remembered import Remembered
from agentscope_tui.tui.row_columns import RowColumns
from agentscope_tui.tui.screens.columns import ColumnsScreen
from agentscope_tui.tui.workspace import Workspace
from agentscope_widgets.row_list import RowList
from agentscope_widgets.safe_text import safe_line

_LOOK_SECONDS = 2.0
"""Between two looks at whether the file changed."""
_FIRST_LOOK_SECONDS = 0.2
_TICK_SECONDS = 1.0
_SETTLE_SECONDS = 0.5
"""After the last change of a column's width until it is remembered."""


class RowsPane(RowsOfRuns):
    """The list of rows under the dataset's name; what is filtered and searched stands below it."""

    BINDINGS: ClassVar[list[BindingType]] = ROWS_PANE_KEYS

    class RowMessage(Message):
        """What happened to the row with this index."""

        def __init__(self, index: int) -> None:
            super().__init__()
            self.index = index

    class RowChosen(RowMessage):
        """The cursor is on another row."""

    class OpenRequested(RowMessage):
        """The user opened a row."""

    def __init__(self, workspace: Workspace, *, id: str, classes: str) -> None:
        super().__init__(workspace, id=id, classes=classes)
        self._remembered = Remembered(workspace.launcher.state / "columns.json")
        self._changed = ""
        self._saving: Timer | None = None
        self._looked_at: tuple[Dataset, Version] | None = None
        self._take_dataset()

    def on_mount(self) -> None:
        name = safe_line(self._workspace.dataset.path.name, 60)
        self.border_title = Content(f"Rows · {name}")
        self._show_dataset()
        self.set_interval(_LOOK_SECONDS, self._look)
        self.set_interval(_TICK_SECONDS, self._tick)
        self._follow_sessions()
        self._read_rewards()

    def on_unmount(self) -> None:
        self._stop.set()
        self._save_columns()

    # What others ask

    @property
    def chosen(self) -> Task | RowError | None:
        """The row under the cursor; None: no row is shown."""
        return self.rows.row(self.row_list.cursor) if len(self.rows) else None

    def in_sight(self) -> Sequence[tuple[int, str]]:
        """Index and prompt, on one line, of the rows that the list shows now."""
        top = self.row_list.scroll_offset.y
        places = range(top, min(len(self.rows), top + self.row_list.view_height))
        rows = [self.rows.row(place) for place in places]
        return [
            (row.index, safe_line(str(row) if isinstance(row, RowError) else row.prompt, 200)) for row in rows
        ]

    def refresh_row(self, index: int) -> None:
        """A row's session stands otherwise than before."""
        self.rows.session_changed(index)
        self.meet_metrics((index,))
        if not self.session_changed(index):
            self.redraw(index)

    # How it is told

    def refresh_count(self) -> None:
        self.border_subtitle = self._count()
        self.refresh_notes()

    def notes(self) -> list[str]:
        changed = [f"! the dataset {self._changed}: reload it"] if self._changed else []
        return [*changed, *self.run_notes(), *super().notes()]

    def _count(self) -> str:
        dataset = self.rows.dataset
        total = len(dataset)
        more = "" if dataset.complete else "+"
        if self.rows.arrangement.expression is not None:
            parts = [f"{len(self.rows):,} of {total:,}{more} rows"]
        elif dataset.offset or dataset.limit is not None:
            parts = [f"rows {dataset.offset:,} to {dataset.offset + total - 1:,}{more}"]
        else:
            parts = [f"{total:,}{more} row{'' if total == 1 and not more else 's'}"]
        if len(self.rows.marks):
            parts.append(f"{len(self.rows.marks):,} marked")
        if more:
            parts.append("indexing")
        return ", ".join(parts)

    def _tick(self) -> None:
        """The time of a turn that runs grows."""
        for row in self._workspace.active():
            self.rows.session_changed(row.index)
            self.redraw(row.index)
        self.tick_run()

    # The sessions on disk

    @work(group="sessions")
    async def _follow_sessions(self) -> None:
        """Show what is recorded of the rows, by this process and by others, while the screen is live."""
        kept = self._workspace.kept
        told = ""
        while True:
            # The rows themselves go first.
            await asyncio.sleep(_LOOK_SECONDS if self._looked_at else _FIRST_LOOK_SECONDS)
            dataset = self._workspace.dataset
            try:
                looked_at = (dataset, await kept.sync())
                if looked_at != self._looked_at:
                    self._sessions_changed(await kept.look(dataset))
                    self._looked_at = looked_at
            except UserError as error:
                if str(error) != told:
                    told = str(error)
                    self.tell(error)

    @work(group="rewards")
    async def _read_rewards(self) -> None:
        """Show what an opened file tells of its rows."""
        try:
            self._sessions_changed(await self._workspace.read_rewards())
        except UserError as error:
            self.tell(error)

    def _sessions_changed(self, rows: set[int]) -> None:
        if len(rows) <= FEW:
            for index in rows:
                self.refresh_row(index)
            return
        for index in rows:
            self.rows.session_changed(index)
        self.meet_metrics(rows)
        self.row_list.refresh_rows()
        self.settle_later(rows)

    # The dataset

    def _take_dataset(self) -> None:
        dataset = self._workspace.dataset
        self._columns = RowColumns(dataset.path, dataset.fields, self._remembered)
        self._stop = threading.Event()
        self.take(DatasetRows(self._workspace, self._columns.shown))

    def _show_dataset(self) -> None:
        self.row_list.set_source(self.rows, self._columns.shown)
        self.refresh_count()
        self._scanning: Worker[None] = self._scan(self.rows.dataset, self._stop)

    @work(thread=True, group="scan", exit_on_error=False)
    def _scan(self, dataset: Dataset, stop: threading.Event) -> None:
        """Count the dataset's rows while the screen is live."""
        try:
            dataset.scan(stop, lambda _: self.app.call_from_thread(self._grew))
        except UserError as error:
            self.app.call_from_thread(self.tell, error)
        if not stop.is_set():
            self.app.call_from_thread(self._grew)

    def _grew(self) -> None:
        self.row_list.source_grew()
        self.refresh_count()

    @work(group="look", exclusive=True)
    async def _look(self) -> None:
        """Whether the file is what it was."""
        changed = await asyncio.to_thread(self.rows.dataset.changed)
        if changed != self._changed:
            self._changed = changed
            self.refresh_notes()

    @work(group="reload", exclusive=True)
    async def action_reload(self) -> None:
        """Open the dataset anew: sessions and marks stay with the index of their row."""
        old = self.rows
        try:
            dataset = await asyncio.to_thread(self._workspace.launcher.open_dataset)
        except UserError as error:
            self.tell(error)
            return
        await self._stop_reading()
        index = old.index(self.row_list.cursor) if len(old) else 0
        self._workspace.dataset, self._changed = dataset, ""
        self._take_dataset()
        self.rows.marks.put(position for position in old.marks if position < len(dataset))
        self.search("")
        self.row_list.set_order("", descending=False)
        self._show_dataset()
        self.go_to(index)
        old.dataset.close()
        same = dataset.identity() == old.dataset.identity()
        said = "It is the same as before." if same else "Its rows are others: sessions stay with their index."
        self.notify(said, title="The dataset was opened again")

    async def _stop_reading(self) -> None:
        """Returns when no thread reads the dataset any more."""
        self._stop.set()
        for group in ("arrange", "search", "look"):
            self.workers.cancel_group(self, group)
        await self.queries.stop()
        try:
            await self._scanning.wait()
        except (WorkerCancelled, WorkerFailed):
            # That it has ended is all that matters here.
            return

    # The list

    @on(RowList.RowHighlighted)
    def _row_highlighted(self, event: RowList.RowHighlighted) -> None:
        event.stop()
        if event.position >= len(self.rows):
            return
        self.post_message(self.RowChosen(self.rows.index(event.position)))
        if self.queries.needle:
            self.tell_hits()
        elif self._workspace.batches.run is not None:
            self.refresh_notes()
        if (panel := RowPanel.of(self)) is not None:
            panel.show(self.rows.dataset, self.rows.arrangement.position(event.position))

    @on(RowList.RowOpened)
    def _row_opened(self, event: RowList.RowOpened) -> None:
        event.stop()
        if event.position < len(self.rows):
            self.post_message(self.OpenRequested(self.rows.index(event.position)))

    @on(RowList.MarksRequested)
    def _marks_requested(self, event: RowList.MarksRequested) -> None:
        event.stop()
        marks, shown = self.rows.marks, self.rows.arrangement.shown
        positions = shown[event.positions.start : event.positions.stop]
        marks.put(
            positions, present=event.how == "on" or (event.how == "toggle" and positions[0] not in marks)
        )
        self.row_list.refresh_rows()
        self.refresh_count()

    # The columns

    @on(RowList.ColumnsChanged)
    def _columns_changed(self, event: RowList.ColumnsChanged) -> None:
        event.stop()
        self._columns.shown = event.columns
        if self._saving is not None:
            self._saving.stop()
        self._saving = self.set_timer(_SETTLE_SECONDS, self._save_columns)

    def _save_columns(self) -> None:
        if self._saving is not None:
            self._saving = None
            self._columns.remember()

    @work(group="ask")
    async def action_columns(self) -> None:
        """Choose the columns."""
        columns = await self.app.push_screen_wait(ColumnsScreen(self._columns.available, self._columns.shown))
        if columns is not None:
            self._columns.shown = self.rows.columns = columns
            self._columns.remember()
            self.row_list.set_columns(columns)

    # The whole row

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        match action:
            case "reload":
                return bool(self._changed) and self._workspace.batches.running is None
            case "clear" if RowPanel.of(self) is not None:
                return True
            case _:
                return super().check_action(action, parameters)

    def action_clear(self) -> None:
        """What lies on top goes first."""
        if (panel := RowPanel.of(self)) is not None:
            panel.close()
        else:
            super().action_clear()

    def action_view(self) -> None:
        panel = RowPanel.of(self)
        if panel is not None:
            panel.close()
        elif len(self.rows):
            panel = RowPanel(self, self._workspace.launcher.state)
            self.screen.mount(panel)
            panel.show(self.rows.dataset, self.rows.arrangement.position(self.row_list.cursor))

    @work(group="copy")
    async def action_copy(self) -> None:
        """Copy the row."""
        if len(self.rows):
            position = self.rows.arrangement.position(self.row_list.cursor)
            await RowPanel.copy(self.app, self.rows.dataset.raw_at(position), self._workspace.launcher.state)

    def on_resize(self, event: Resize) -> None:
        if (panel := RowPanel.of(self)) is not None:
            panel.place()
