"""The rows of the dataset as the list shows them: arranged, marked, and with how their sessions stand."""

from __future__ import annotations

from collections.abc import Sequence

from agentscope_tui.datasets.arrangement import Arrangement
from agentscope_tui.datasets.record import Standing
from agentscope_tui.datasets.row_set import RowSet
from agentscope_tui.datasets.task import RowError, Task
from agentscope_tui.tui.present.rows import NOT_OPENED, cells_of, standing_of
from agentscope_tui.tui.workspace import Workspace
from agentscope_widgets.row_columns import Column
from agentscope_widgets.row_list import RowCells


class DatasetRows:
    """The list's source. A *place* counts the rows that are shown, a *position* those of the dataset."""

    def __init__(self, workspace: Workspace, columns: Sequence[Column]) -> None:
        self._workspace = workspace
        self.dataset = workspace.dataset
        self.columns = columns
        self.standings: dict[int, Standing] = {}
        """By index, of rows with a session and of those that could not be opened."""
        self.arrangement = Arrangement(self.dataset, self.standings)
        self.marks = RowSet()
        """Positions."""
        for index in (*workspace.sessions, *workspace.problems):
            self.session_changed(index)

    def __len__(self) -> int:
        return len(self.arrangement)

    def cells(self, position: int) -> RowCells:
        """What the list shows at a place."""
        position = self.arrangement.position(position)
        row = self.dataset.row_at(position)
        session = self._workspace.sessions.get(row.index)
        return cells_of(
            row,
            self.dataset.raw_at(position),
            [column.key for column in self.columns],
            session=session.state if session else None,
            standing=self.standings.get(row.index),
            marked=position in self.marks,
        )

    def row(self, place: int) -> Task | RowError:
        """The row at a place."""
        return self.dataset.row_at(self.arrangement.position(place))

    def index(self, place: int) -> int:
        """The index of the row at a place."""
        return self.dataset.offset + self.arrangement.position(place)

    def place(self, index: int) -> int | None:
        """Where the row with this index is shown, if it is."""
        return self.arrangement.place(index - self.dataset.offset)

    def session_changed(self, index: int) -> None:
        """Look again at how a row's session stands."""
        session = self._workspace.sessions.get(index)
        if session is not None:
            self.standings[index] = standing_of(session.state, session.session.bus.now())
        elif index in self._workspace.problems:
            self.standings[index] = Standing(NOT_OPENED)
        else:
            self.standings.pop(index, None)
