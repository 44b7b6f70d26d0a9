"""The rows of the dataset as the list shows them: arranged, marked, and with how their sessions stand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from agentscope_tui.datasets.arrangement import Arrangement
from agentscope_tui.datasets.record import Standing
from agentscope_tui.datasets.row_set import RowSet
from agentscope_tui.datasets.task import RowError, Task
from agentscope_tui.session.rollouts import PASSED
from agentscope_tui.tui.present.rows import NOT_OPENED, cells_of, standing_of, standing_of_recorded
from agentscope_tui.tui.present.runs import standing_of_rollouts
from agentscope_tui.tui.workspace import Workspace
from agentscope_widgets.row_columns import Column
from agentscope_widgets.row_list import RowCells

_FAILED = frozenset({"failed", "limit", "waiting", NOT_OPENED})
"""States of rows that did not come to an answer."""


class DatasetRows:
    """The list's source. A *place* counts the rows that are shown, a *position* those of the dataset."""

    def __init__(self, workspace: Workspace, columns: Sequence[Column]) -> None:
        self._workspace = workspace
        self.dataset = workspace.dataset
        self.columns = columns
        self.standings: dict[int, Standing] = {}
        """By index, of rows with a session, open or recorded, and of those that could not be opened."""
        self.arrangement = Arrangement(self.dataset, self.standings)
        self.marks = RowSet()
        """Positions."""
        of_run = workspace.batches.run.rows if workspace.batches.run is not None else ()
        of_sessions = (*workspace.sessions, *workspace.problems, *workspace.kept.of_rows)
        for index in (*of_sessions, *of_run, *workspace.rewards):
            self.session_changed(index)

    def __len__(self) -> int:
        return len(self.arrangement)

    def cells(self, position: int) -> RowCells:
        """What the list shows at a place."""
        position = self.arrangement.position(position)
        row = self.dataset.row_at(position)
        session = self._workspace.on_row(row.index)
        recorded = self._workspace.kept.of_rows.get(row.index)
        return cells_of(
            row,
            self.dataset.raw_at(position),
            [column.key for column in self.columns],
            session=session.state if session else None,
            recorded=recorded.newest if recorded else None,
            rollouts=self._workspace.rollouts_of(row.index),
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
        session = self._workspace.on_row(index)
        recorded = self._workspace.kept.of_rows.get(index)
        if (rollouts := self._workspace.rollouts_of(index)) is not None:
            now = datetime.now(UTC)
            self.standings[index] = standing_of_rollouts(rollouts, now, self._sessions(index))
        elif session is not None:
            self.standings[index] = standing_of(session.state, session.now(), self._sessions(index))
        elif index in self._workspace.problems:
            self.standings[index] = Standing(NOT_OPENED, sessions=self._sessions(index))
        elif recorded is not None:
            self.standings[index] = standing_of_recorded(recorded.newest, recorded.total)
        elif index in self._workspace.rewards:
            self.standings[index] = Standing(reward=self._workspace.rewards[index])
        else:
            self.standings.pop(index, None)

    def next_worst(self, place: int) -> int | None:
        """The place of the row to look at after the one at `place`; after the last such row the first.

        Rows that failed come first, as they stand in the list, then those with a reward that is no pass, the
        lowest first.
        """
        bad = {
            index - self.dataset.offset: _rank(standing)
            for index, standing in self.standings.items()
            if standing.state in _FAILED or (standing.reward is not None and standing.reward < PASSED)
        }
        places: Iterable[tuple[int | None, int]]
        if self.arrangement.order is None:
            places = ((self.arrangement.place(position), position) for position in bad)
        else:
            places = enumerate(self.arrangement.shown)
        ranks = [(*bad[position], at) for at, position in places if at is not None and position in bad]
        ranks.sort()
        here = next((number for number, rank in enumerate(ranks) if rank[-1] == place), -1)
        return ranks[(here + 1) % len(ranks)][-1] if ranks else None

    def _sessions(self, index: int) -> int | None:
        """How many sessions a row has; one that has just begun is on disk a little later."""
        recorded = self._workspace.kept.of_rows.get(index)
        running = self._workspace.sessions.get(index)
        known = recorded.total if recorded else 0
        newest = recorded.newest.id if recorded else ""
        return known + (running is not None and running.session_id != newest) or None


def _rank(standing: Standing) -> tuple[bool, float]:
    """What sorts rows that failed before those with a low reward, and these by it."""
    if standing.state in _FAILED or standing.reward is None:
        return False, 0.0
    return True, standing.reward
