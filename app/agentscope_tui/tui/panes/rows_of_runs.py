"""Rows that are run many at a time, in the rows pane: which, how they are drawn, and how far the run is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from textual.message import Message

from agentscope_tui.tui.panes.rows_finding import RowsFinding
from agentscope_tui.tui.present.runs import progress_notes, row_note
from agentscope_tui.tui.row_columns import RowColumns
from agentscope_tui.tui.workspace import Workspace

FEW = 50
"""Rows whose sessions changed that are looked at one by one."""
_MANY = 2_000
"""Rows whose sessions changed from which on all rows are filtered and sorted anew."""


class RowsOfRuns(RowsFinding):
    """A list whose rows a run may change all the time."""

    _columns: RowColumns

    class RunRequested(Message):
        """The user wants to run the marked rows, or those that are shown."""

    def __init__(self, workspace: Workspace, *, id: str, classes: str) -> None:
        super().__init__(id=id, classes=classes)
        self._workspace = workspace
        self._stale: set[int] = set()

    @property
    def marked(self) -> Sequence[int]:
        """The indices of the marked rows, ascending, whether or not they are shown."""
        return [self.rows.dataset.offset + position for position in self.rows.marks]

    def for_run(self) -> tuple[Sequence[int], str]:
        """The indices of the rows that a run is for, and which these are, in words."""
        dataset, shown = self.rows.dataset, len(self.rows)
        if marked := self.marked:
            return marked, f"The {len(marked):,} marked row{'s' * (len(marked) != 1)}:"
        rows = [dataset.offset + position for position in self.rows.arrangement.shown]
        expression = self.rows.arrangement.expression
        if expression is not None:
            return rows, f"The {shown:,} row{'s' * (shown != 1)} that pass the filter  {expression.text}"
        return rows, f"All {shown:,} rows{'' if dataset.complete else ' that are counted so far'}:"

    def run_began(self, *, several: bool) -> None:
        """Have the columns that are about runs; `several`: rows are run several times."""
        if self._columns.show_runs(several=several):
            self.rows.columns = self._columns.shown
            self.row_list.set_columns(self._columns.shown)
        self.refresh_notes()

    def rows_of_run_changed(self, indices: set[int]) -> None:
        """These rows stand otherwise: they are drawn at once, and put in their place, now or a bit later."""
        if not indices:
            return
        for index in indices:
            self.rows.session_changed(index)
            if self.rows.arrangement.order is None:
                self.redraw(index)
        self.meet_metrics(indices)
        arrangement = self.rows.arrangement
        if arrangement.expression is not None or arrangement.order is not None:
            self._stale |= indices
            if len(self._stale) <= FEW:
                self._settle()

    def settle_later(self, indices: set[int]) -> None:
        """Put these rows in their place, at the next tick."""
        self._stale |= indices

    def tick_run(self) -> None:
        """Once a second: the time of what runs grows, and rows go to their place."""
        self._settle()
        run = self._workspace.batches.running
        if run is not None:
            self.rows_of_run_changed({index for index, _ in run.progress.running})
            self.refresh_notes()

    def _settle(self) -> None:
        """Filter and sort the rows anew that stand otherwise; of many rows, once a second."""
        stale, self._stale = self._stale, set()
        if len(stale) > _MANY:
            self.arrange_again()
        elif stale:
            if not self.queries.arranging:
                self._keep_cursor()
            if not self.queries.sessions_changed(stale):
                self.row_list.refresh_rows()

    def run_notes(self) -> Iterator[str]:
        """How far the run is, and what came of the row under the cursor, if it is run several times."""
        batches = self._workspace.batches
        if batches.running is not None:
            yield from progress_notes(batches.running.progress)
        if batches.run is not None and batches.run.info.rollouts > 1 and len(self.rows):
            index = self.rows.index(self.row_list.cursor)
            rollouts = self._workspace.rollouts_of(index)
            if rollouts is not None and (note := row_note(rollouts)):
                yield note

    def redraw(self, index: int) -> None:
        """Draw a row, if it is shown."""
        place = self.rows.place(index)
        if place is not None:
            self.row_list.refresh_row(place)

    def meet_metrics(self, rows: Iterable[int]) -> None:
        """What graders gave for these rows beside the reward has columns of its own."""
        standings = (self.rows.standings.get(index) for index in rows)
        names = dict.fromkeys(name for standing in standings if standing for name in standing.metrics)
        if names and self._columns.meet(names):
            self.rows.columns = self._columns.shown
            self.row_list.set_columns(self._columns.shown)

    # Keys

    def action_run(self) -> None:
        self.post_message(self.RunRequested())

    def action_next_worst(self) -> None:
        place = self.rows.next_worst(self.row_list.cursor)
        if place is None:
            self.app.bell()
        else:
            self.row_list.cursor = place
