"""The rows pane: the dataset's rows, counted while the screen is live, and how each row's session stands."""

from __future__ import annotations

import threading

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message

from agentscope_tui.datasets.task import RowError, Task
from agentscope_tui.errors import UserError
from agentscope_tui.tui.present.rows import cells_of
from agentscope_tui.tui.workspace import Workspace
from agentscope_widgets.row_list import RowCells, RowList
from agentscope_widgets.safe_text import safe_line


class DatasetRows:
    """The list's source: reads the row, and how its session stands."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def __len__(self) -> int:
        return len(self._workspace.dataset)

    def cells(self, position: int) -> RowCells:
        workspace = self._workspace
        row = workspace.dataset.row_at(position)
        session = workspace.sessions.get(row.index)
        return cells_of(row, session.state if session else None, workspace.problems.get(row.index))


class RowsPane(Vertical):
    """The list of rows under the dataset's name."""

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
        super().__init__(id=id, classes=classes)
        self._workspace = workspace
        self._rows = DatasetRows(workspace)
        self._stop = threading.Event()

    def compose(self) -> ComposeResult:
        yield RowList(id="rows")

    def on_mount(self) -> None:
        name = safe_line(self._workspace.dataset.path.name, 60)
        self.border_title = Content(f"Rows · {name}")
        self._list.set_source(self._rows)
        self.refresh_count()
        self._scan()

    def on_unmount(self) -> None:
        self._stop.set()

    @property
    def chosen(self) -> Task | RowError:
        """The row under the cursor."""
        return self._workspace.dataset.row_at(self._list.cursor)

    def refresh_count(self) -> None:
        """Say how many rows there are, as far as they are counted."""
        count = len(self._rows)
        more = "" if self._workspace.dataset.complete else "+"
        self.border_subtitle = f"{count:,}{more} row{'' if count == 1 else 's'}"

    def refresh_row(self, index: int) -> None:
        """A row's session stands otherwise than before."""
        self._list.refresh_row(index - self._workspace.dataset.offset)

    @work(thread=True, group="scan", exit_on_error=False)
    def _scan(self) -> None:
        """Count the dataset's rows while the screen is live."""
        try:
            self._workspace.dataset.scan(self._stop, lambda _: self.app.call_from_thread(self._grew))
        except UserError as error:
            self.app.call_from_thread(self.notify, str(error), severity="error", markup=False)

    def _grew(self) -> None:
        self._list.source_grew()
        self.refresh_count()

    @property
    def _list(self) -> RowList:
        return self.query_one(RowList)

    @on(RowList.RowHighlighted)
    def _row_highlighted(self, event: RowList.RowHighlighted) -> None:
        event.stop()
        self.post_message(self.RowChosen(self._workspace.dataset.offset + event.position))

    @on(RowList.RowOpened)
    def _row_opened(self, event: RowList.RowOpened) -> None:
        event.stop()
        self.post_message(self.OpenRequested(self._workspace.dataset.offset + event.position))
