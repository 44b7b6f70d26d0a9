"""Reading a whole dataset to say what is in it: columns, sizes, rows that repeat, and every bad row."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from agentscope_tui.datasets.dataset import Dataset
from agentscope_tui.datasets.seen import Seen
from agentscope_tui.datasets.task import RowError, Task
from agentscope_tui.models.estimate import tokens_of

MOST_COLUMNS = 1_000
"""How many columns are looked at: a dataset may have another one in each row."""
_DUPLICATES_KEPT = 100
_REPORT_EVERY = 2_000
_TYPES: Mapping[type, str] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    list: "list",
    dict: "object",
    type(None): "null",
}


class ColumnReport:
    """One column: how often it holds which type, and in how many rows it is filled, that is not blank."""

    def __init__(self) -> None:
        self._types: dict[type, int] = {}
        self.filled = 0

    @property
    def types(self) -> dict[str, int]:
        """JSON's name of each type and how often it came, the most frequent first."""
        found = sorted(self._types.items(), key=lambda item: -item[1])
        return {_TYPES.get(kind, kind.__name__): count for kind, count in found}

    def add(self, value: object) -> None:
        """Count a row that has this column."""
        kind = type(value)
        self._types[kind] = self._types.get(kind, 0) + 1
        # NaN, which data frames write for nothing, is not equal to itself.
        if value == value if value else isinstance(value, int | float):
            self.filled += 1


@dataclass
class Report:
    """What a dataset has. `rows` are all in range; `bad_rows` of them are no task.

    `bad` and `duplicates` (row, the first row that asks the same) are the first of them, `columns` those of
    the rows that could be read, in the order in which they came. `tokens` is about what the first requests
    take, all rows together, and `largest` (tokens, row) the row that takes most.
    """

    rows: int = 0
    bad_rows: int = 0
    bad: list[RowError] = field(default_factory=list)
    columns: dict[str, ColumnReport] = field(default_factory=dict)
    duplicate_rows: int = 0
    duplicates: list[tuple[int, int]] = field(default_factory=list)
    tokens: int = 0
    largest: tuple[int, int] | None = None


def check_dataset(dataset: Dataset, on_progress: Callable[[int], None], *, bad_kept: int | None) -> Report:
    """Read all rows that are known (after `scan`: all in range); keep `bad_kept` of the bad ones (None: all).

    `on_progress` is called with the number of rows read so far.

    Raises:
        UserError: the source cannot be read.
    """
    report = Report()
    seen = Seen()
    for position, raw in dataset.walk():
        report.rows += 1
        if isinstance(raw, RowError):
            row: Task | RowError = raw
        else:
            _count_columns(report.columns, raw.value)
            row = dataset.task_of(dataset.offset + position, raw)
        if isinstance(row, RowError):
            report.bad_rows += 1
            if bad_kept is None or len(report.bad) < bad_kept:
                report.bad.append(row)
        else:
            _count_task(report, row, seen)
        if report.rows % _REPORT_EVERY == 0:
            on_progress(report.rows)
    on_progress(report.rows)
    return report


def _count_columns(columns: dict[str, ColumnReport], row: Mapping[str, Any]) -> None:
    for name, value in row.items():
        column = columns.get(name)
        if column is None:
            if len(columns) >= MOST_COLUMNS:
                continue
            column = columns[name] = ColumnReport()
        column.add(value)


def _count_task(report: Report, task: Task, seen: Seen) -> None:
    asked = "\0".join([task.system or "", *map(json.dumps, task.history), task.prompt])
    tokens = tokens_of(len(asked))
    report.tokens += tokens
    if report.largest is None or tokens > report.largest[0]:
        report.largest = tokens, task.index
    digest = hashlib.blake2b(asked.encode("utf-8", "replace"), digest_size=8).digest()
    first = seen.first(int.from_bytes(digest), task.index)
    if first is not None:
        report.duplicate_rows += 1
        if len(report.duplicates) < _DUPLICATES_KEPT:
            report.duplicates.append((task.index, first))
