"""The dataset on screen: its rows as the rows pane wants them, and the thread that counts them."""

from __future__ import annotations

import threading
from typing import Protocol

from textual.screen import Screen

from agentscope_tui.datasets.source import Dataset
from agentscope_tui.errors import UserError
from agentscope_tui.tui.present.rows import cells_of
from agentscope_tui.tui.workspace import Workspace
from agentscope_widgets.row_list import RowCells


class DatasetRows:
    """The rows pane's source: reads the row, and how its session stands."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def __len__(self) -> int:
        return len(self._workspace.dataset)

    def cells(self, position: int) -> RowCells:
        workspace = self._workspace
        row = workspace.dataset.row_at(position)
        session = workspace.sessions.get(row.index)
        return cells_of(row, session.state if session else None, workspace.problems.get(row.index))


class RowsScreen(Protocol):
    """A screen that shows rows."""

    def refresh_rows(self, grew: bool = False) -> None:
        """There are more rows, or all are counted."""


def scan_dataset(screen: Screen[None], dataset: Dataset) -> threading.Event:
    """Count the dataset's rows in a thread while the screen is live; set the event to stop it."""
    stop = threading.Event()

    def grew(_count: int) -> None:
        screen.app.call_from_thread(screen.refresh_rows, True)  # type: ignore[attr-defined]

    def scan() -> None:
        try:
            dataset.scan(stop, grew)
        except UserError as error:
            screen.app.call_from_thread(screen.notify, str(error), severity="error", markup=False)

    screen.run_worker(scan, thread=True, group="scan", exit_on_error=False)
    return stop
