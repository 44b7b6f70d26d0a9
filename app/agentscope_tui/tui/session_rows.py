"""The sessions that the session list shows: as a tree of forks, or sorted by a column."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from agentscope_tui.datasets.query import Order
from agentscope_tui.session.tally import Tally
from agentscope_tui.store.session_row import SessionRow
from agentscope_tui.store.session_tree import Branch, tree_of
from agentscope_tui.tui.present.sessions import SORTED_BY, session_cells
from agentscope_widgets.row_list import RowCells


class SessionRows:
    """The list's source. `live` gives, by id, how the sessions stand that are open in this process."""

    def __init__(self, live: Callable[[], Mapping[str, Tally]]) -> None:
        self._live = live
        self._rows: Sequence[SessionRow] = ()
        self.branches: Sequence[Branch] = ()
        self.marked: dict[str, SessionRow] = {}
        """By id, in the order in which they were marked."""
        self.order: Order | None = None

    def __len__(self) -> int:
        return len(self.branches)

    def cells(self, position: int) -> RowCells:
        """What the list shows there."""
        branch = self.branches[position]
        return session_cells(branch, self._live().get(branch.row.id), marked=branch.row.id in self.marked)

    def show(self, rows: Sequence[SessionRow]) -> None:
        """Have these sessions, newest first."""
        self._rows = rows
        self._arrange()

    def sort(self, order: Order | None) -> None:
        """Show them in this order; None: as a tree."""
        self.order = order
        self._arrange()

    def mark(self, positions: Sequence[int], how: str) -> None:
        """Mark the sessions at these positions: `toggle`, `on` or `off`."""
        for position in positions:
            row = self.branches[position].row
            was_marked = self.marked.pop(row.id, None) is not None
            if how == "on" or (how == "toggle" and not was_marked):
                self.marked[row.id] = row

    def place(self, session_id: str) -> int | None:
        """Where a session is shown, if it is."""
        return next((place for place, one in enumerate(self.branches) if one.row.id == session_id), None)

    def _arrange(self) -> None:
        branches = list(tree_of(self._rows))
        if (order := self.order) is not None:
            value = SORTED_BY[order.by]
            known = [branch._replace(depth=0) for branch in branches if value(branch.row) is not None]
            known.sort(key=lambda branch: value(branch.row) or 0, reverse=order.descending)
            branches = [*known, *(one._replace(depth=0) for one in branches if value(one.row) is None)]
        self.branches = branches
