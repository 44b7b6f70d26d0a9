"""A task: what a row of a dataset asks of an agent; or why a row is not a task."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from agentscope_tui.datasets.fields import Steps
from agentscope_tui.models.chat import Message


@dataclass(frozen=True)
class SeedFolder:
    """A folder whose files are copied into the scratch folder. `path` must lead to something in `root`, also
    through links: the user named `root`, the rest may be a stranger's."""

    path: str
    root: str


@dataclass(frozen=True)
class Task:
    """One row. `index` counts the dataset's rows from 0, `line` the file's lines from 1."""

    index: int
    line: int
    prompt: str
    system: str | None = None
    history: tuple[Message, ...] = ()
    """The conversation before the prompt."""
    ground_truth: str | None = None
    grader: str | None = None
    """A built-in grader's name (`grading.spec`), never a Python function."""
    files: dict[str, str] = field(default_factory=dict)
    """Path relative to the scratch folder, and text."""
    folder: SeedFolder | None = None
    row: dict[str, Any] = field(default_factory=dict)
    """The row as it stands in the file."""
    left_out: tuple[Steps, ...] = field(default=(), compare=False)
    """Where in the row stands what `row.json` leaves out: the answer, what may tell it, and the files."""


@dataclass(frozen=True)
class RowError:
    """A row that is not a task. `reason` is one line; `str()` puts the row and the line before it."""

    index: int
    line: int
    reason: str
    file: str = ""
    """The file's name, when the dataset is several."""

    def __str__(self) -> str:
        where = f"{self.file}, line {self.line}" if self.file else f"line {self.line}"
        return f"row {self.index} ({where}): {self.reason}"


class RowProblem(Exception):
    """Why a row is not a task, on its way to the `RowError` that says where the row is."""
