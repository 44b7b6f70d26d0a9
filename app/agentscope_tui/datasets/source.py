"""What a dataset is to the rest of the program, and how a file becomes one."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from agentscope_tui.datasets.columns import Columns
from agentscope_tui.datasets.jsonl import JsonlDataset
from agentscope_tui.datasets.task import RowError, Task
from agentscope_tui.errors import UsageError

_OTHER_FORMATS = frozenset({".json", ".csv", ".tsv", ".parquet", ".arrow", ".gz", ".zst", ".xlsx"})


class Dataset(Protocol):
    """Rows in range of `--offset` and `--limit`. An index is absolute, a position counts those in range."""

    @property
    def path(self) -> Path:
        """The file, as the user named it."""

    @property
    def offset(self) -> int:
        """The index of the row at position 0."""

    @property
    def complete(self) -> bool:
        """Whether all rows in range are known."""

    def __len__(self) -> int:
        """The rows in range that are known so far."""

    def scan(self, stop: threading.Event, on_progress: Callable[[int], None]) -> None:
        """Find all rows in range: for a thread. `on_progress` is called there with `len` as it grows.

        Raises:
            UsageError: there is no row in range after all.
            UserError: the file cannot be read on.
        """

    def row_at(self, position: int) -> Task | RowError:
        """The row at a known position, parsed now; fast enough to be called for each row on screen."""

    def row(self, index: int) -> Task | RowError:
        """The row with this index, which may have to be scanned for.

        Raises:
            UsageError: there is no such row in range; names the valid ones.
        """

    def close(self) -> None:
        """Close the file. No scan may be running any more."""


def open_dataset(
    path: Path, *, offset: int = 0, limit: int | None = None, columns: Columns | None = None
) -> Dataset:
    """The dataset in `path`, with its first rows known; `scan` finds the others.

    Raises:
        UsageError: no such file, a format that cannot be read, or no row in range.
        UserError: the file cannot be read.
    """
    if path.suffix.lower() in _OTHER_FORMATS and path.is_file():
        raise UsageError(f"{path} is not JSON lines: convert it to one JSON object a line (.jsonl)")
    return JsonlDataset(path, offset=offset, limit=limit, columns=columns)
