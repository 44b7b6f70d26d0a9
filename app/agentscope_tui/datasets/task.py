"""A task: what a row of a dataset asks of an agent; or why a row is not a task."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Task:
    """One row. `index` counts the dataset's rows from 0, `line` the file's lines from 1."""

    index: int
    line: int
    prompt: str
    system: str | None = None
    ground_truth: str | None = None
    grader: str | None = None
    """A built-in grader's name (`grading.spec`), never a Python function."""
    files: dict[str, str] = field(default_factory=dict)
    """Path relative to the scratch folder, and text."""
    row: dict[str, Any] = field(default_factory=dict)
    """The row as it stands in the file."""


@dataclass(frozen=True)
class RowError:
    """A row that is not a task. `reason` is one line; `str()` puts the row and the line before it."""

    index: int
    line: int
    reason: str

    def __str__(self) -> str:
        return f"row {self.index} (line {self.line}): {self.reason}"


class RowProblem(Exception):
    """Why a row is not a task, on its way to the `RowError` that says where the row is."""
