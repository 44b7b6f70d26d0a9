"""Which columns the rows pane shows of a dataset: as the user chose, from one run to the next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from agentscope_tui.tui.present.rows import COLUMNS, dataset_column
from agentscope_tui.tui.remembered import Remembered
from agentscope_widgets.row_columns import WIDEST, Column

_DATASETS = 100
"""Datasets whose columns are remembered; the one unused for longest goes first."""


class RowColumns:
    """The columns that are shown, in order; `fields` are the dataset's."""

    def __init__(self, dataset: Path, fields: Sequence[str], remembered: Remembered) -> None:
        self._dataset = str(dataset.absolute())
        self._remembered = remembered
        self.available = (*COLUMNS, *map(dataset_column, fields))
        self.shown: Sequence[Column] = self._kept() or COLUMNS

    def remember(self) -> None:
        """Keep what is shown for the next run."""
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
                case [str() as key, int() as width] if key in known and 0 <= width <= WIDEST:
                    columns[key] = replace(known[key], width=width)
        return list(columns.values())
