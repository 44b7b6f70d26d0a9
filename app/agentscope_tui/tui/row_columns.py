"""Which columns the rows pane shows of a dataset: as the user chose, from one run to the next."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from agentscope_tui.tui.present.rows import COLUMNS, OF_GRADER, OF_RUNS, PROMPT, dataset_column, metric_column
from agentscope_tui.tui.remembered import Remembered
from agentscope_widgets.row_columns import WIDEST, Column

_METRICS = 8
"""Columns of metrics that are shown without being asked for."""
_DATASETS = 100
"""Datasets whose columns are remembered; the one unused for longest goes first."""


class RowColumns:
    """The columns that are shown, in order; `fields` are the dataset's."""

    def __init__(self, dataset: Path, fields: Sequence[str], remembered: Remembered) -> None:
        self._dataset = str(dataset.absolute())
        self._remembered = remembered
        self.available = (*COLUMNS, *map(dataset_column, fields), *OF_RUNS)
        kept = self._kept()
        self._chosen = bool(kept)
        self.shown: Sequence[Column] = kept or COLUMNS

    def meet(self, metrics: Iterable[str]) -> bool:
        """Sessions have these metrics: their columns can be chosen from now on, and the first are shown after
        the others where the user has chosen none so far. Whether other columns are shown now."""
        known = {column.key for column in self.available}
        new = [column for name in metrics if (column := metric_column(name)).key not in known]
        self.available = (*self.available, *new)
        if not new or self._chosen:
            return False
        have = sum(column.key.startswith(OF_GRADER) for column in self.shown)
        shown = new[: max(0, _METRICS - have)]
        self.shown = [*self.shown, *shown]
        return bool(shown)

    def show_runs(self, *, several: bool) -> bool:
        """Show what is about runs before the prompt, unless the user has chosen the columns; `several`: rows
        are run several times. Whether others are shown now."""
        have = {column.key for column in self.shown}
        new = [column for column in OF_RUNS[: 1 + several] if column.key not in have]
        if not new or self._chosen:
            return False
        place = next((at for at, column in enumerate(self.shown) if column.key == PROMPT.key), len(have))
        self.shown = [*self.shown[:place], *new, *self.shown[place:]]
        return True

    def remember(self) -> None:
        """Keep what is shown for the next run."""
        self._chosen = True
        kept = self._remembered.read()
        kept.pop(self._dataset, None)
        kept[self._dataset] = [[column.key, column.width] for column in self.shown]
        self._remembered.write(dict(list(kept.items())[-_DATASETS:]))

    def _kept(self) -> list[Column]:
        """What an earlier run left, as far as it makes sense for this dataset."""
        kept = self._remembered.read().get(self._dataset)
        known = {column.key: column for column in self.available}
        columns: dict[str, Column] = {}
        for entry in kept if isinstance(kept, list) else ():
            match entry:
                case [str() as key, int() as width] if 0 <= width <= WIDEST:
                    if key.startswith(OF_GRADER):
                        # No session may have told of it so far.
                        known[key] = metric_column(key.removeprefix(OF_GRADER))
                        self.available = (*self.available, known[key])
                    if key in known:
                        columns[key] = replace(known[key], width=width)
        return list(columns.values())
