"""Which rows of a dataset are shown, in which order: a filter's and an order's result, kept true to sessions.

A *position* counts the dataset's rows, a *place* those that are shown.
"""

from __future__ import annotations

from array import array
from bisect import insort
from collections.abc import Sequence

from agentscope_tui.datasets.dataset import Dataset
from agentscope_tui.datasets.expression import Expression
from agentscope_tui.datasets.query import OF_SESSIONS, Order, Positions, Standings, place_among, record_at

_CHANGING = OF_SESSIONS | {"state"}


class Arrangement:
    """All rows as they stand in the file, at first. Threads find what passes; it is taken over here."""

    def __init__(self, dataset: Dataset, standings: Standings) -> None:
        """`standings` is what its owner keeps up to date."""
        self._dataset = dataset
        self._standings = standings
        self.expression: Expression | None = None
        self.order: Order | None = None
        self._passed: Positions | None = None
        self._shown: Positions | None = None

    def __len__(self) -> int:
        """The rows that are shown."""
        return len(self._dataset) if self._shown is None else len(self._shown)

    @property
    def passed(self) -> Positions | None:
        """The positions that pass the filter so far, ascending; None: there is no filter."""
        return self._passed

    @property
    def shown(self) -> Sequence[int]:
        """The positions in the order of their places."""
        return range(len(self._dataset)) if self._shown is None else self._shown

    def position(self, place: int) -> int:
        """The row at a place, `0 <= place < len`."""
        return place if self._shown is None else self._shown[place]

    def place(self, position: int) -> int | None:
        """Where a row is shown, if it is."""
        if self._shown is None:
            return position if 0 <= position < len(self._dataset) else None
        if self._shown is self._passed:
            return place_among(self._shown, position)
        try:
            return self._shown.index(position)
        except ValueError:
            return None

    def filter(self, expression: Expression | None) -> None:
        """Show only what passes: nothing at first. The order is to be found again."""
        self.expression = expression
        self._passed = None if expression is None else array("I")
        self._shown = self._passed

    def passes(self, positions: Sequence[int]) -> None:
        """These rows pass as well; they come after those that did."""
        assert self._passed is not None
        self._passed.extend(positions)

    def sort(self, order: Order | None) -> None:
        """Show the rows in this order, once it is found; until then as they stand in the file."""
        self.order = order
        self._shown = self._passed

    def ordered(self, positions: Positions) -> None:
        """The order was found."""
        self._shown = positions

    def session_changed(self, index: int) -> bool:
        """A row's session stands otherwise; whether other rows are shown now, or in another order."""
        position = index - self._dataset.offset
        if not 0 <= position < len(self._dataset):
            return False
        changed = False
        if self.expression is not None and self.expression.facts & _CHANGING:
            changed = self._filter_again(position, self.expression)
        if self.order is not None and self.order.facts & _CHANGING and not changed:
            changed = self._move(position)
        return changed

    def _filter_again(self, position: int, expression: Expression) -> bool:
        assert self._passed is not None
        place = place_among(self._passed, position)
        passes = expression.matches(record_at(self._dataset, position, self._standings))
        if passes == (place is not None):
            return False
        is_ordered = self._shown is not self._passed
        if place is None:
            insort(self._passed, position)
        else:
            del self._passed[place]
        if is_ordered and passes:
            self._insert(position)
        elif is_ordered and self._shown is not None:
            self._shown.remove(position)
        return True

    def _move(self, position: int) -> bool:
        if self._shown is None or self._shown is self._passed:
            return False
        before = self.place(position)
        if before is None:
            return False
        del self._shown[before]
        return self._insert(position) != before

    def _insert(self, position: int) -> int:
        """Put a row where it belongs in the order; gives the place."""
        assert self.order is not None
        assert self._shown is not None
        place = self.order.place(self._shown, self._key(position), self._key)
        self._shown.insert(place, position)
        return place

    def _key(self, position: int) -> bytes:
        assert self.order is not None
        return self.order.key(record_at(self._dataset, position, self._standings), position)
