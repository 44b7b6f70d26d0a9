"""What the tests of formats share: everything in a source, read in each of the ways there are."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

from agentscope_tui.datasets.dataset import Dataset
from agentscope_tui.datasets.raw import RawRow
from agentscope_tui.datasets.source import open_dataset
from agentscope_tui.datasets.task import RowError


def everything(path: Path) -> list[RawRow | RowError]:
    """All rows, having seen that reading one by one, in any order, and walking give the same."""
    dataset = open_dataset(path)
    try:
        dataset.scan(threading.Event(), lambda count: None)
        return everything_in(dataset)
    finally:
        dataset.close()


def everything_in(dataset: Dataset) -> list[RawRow | RowError]:
    """All rows that are known, read in each way."""
    walked = [raw for _, raw in dataset.walk()]
    backwards = [dataset.raw_at(position) for position in reversed(range(len(dataset)))]
    assert backwards[::-1] == walked
    middle = len(dataset) // 2
    assert [raw for _, raw in dataset.walk(middle)] == walked[middle:]
    return walked


def values(path: Path) -> list[dict[str, Any]]:
    """The rows of a source in which all are good."""
    rows = everything(path)
    assert [row for row in rows if isinstance(row, RowError)] == []
    return [row.value for row in rows if isinstance(row, RawRow)]


def told(path: Path) -> list[tuple[int, object]]:
    """Line, and the value or why there is none, of each row."""
    return [(row.line, row.value if isinstance(row, RawRow) else row.reason) for row in everything(path)]
