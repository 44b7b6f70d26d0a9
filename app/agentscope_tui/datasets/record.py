"""A row as a query sees it: its columns, where it is, and how its session stands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from agentscope_tui.datasets.fields import NoField, is_missing, lookup
from agentscope_tui.datasets.raw import RawRow
from agentscope_tui.datasets.task import RowError, Task

BAD_ROW = "bad row"
"""The state of a row that is no task."""


@dataclass(frozen=True, slots=True)
class Standing:
    """How a row's session stands: the state is its word on screen, the duration its turn's, in seconds.

    `sessions` counts all that the row ever had. With none open, the rest is of the newest of them.
    """

    state: str | None = None
    calls: int | None = None
    reward: float | None = None
    duration: float | None = None
    sessions: int | None = None
    tokens: int | None = None
    metrics: Mapping[str, float] = field(default_factory=dict)
    """What else its graders gave, by name."""


NO_SESSION = Standing()


# Not frozen: that takes three times as long to make, and there is one for each row of a large file.
@dataclass(slots=True)
class Record:
    """One row. `task_of` makes its task, which is only done when somebody asks for what depends on it."""

    index: int
    raw: RawRow | RowError
    standing: Standing
    task_of: Callable[[int, RawRow], Task | RowError]

    def fact(self, name: str) -> Any:
        """One of `expression.FACTS`."""
        match name:
            case "index":
                return self.index
            case "line":
                return self.raw.line
            case "prompt":
                task = self._task()
                return task.prompt if isinstance(task, Task) else None
            case "error":
                task = self._task()
                return task.reason if isinstance(task, RowError) else None
            case "state" if self.standing.state is None:
                return BAD_ROW if isinstance(self._task(), RowError) else None
            case _:
                return getattr(self.standing, name)

    def metric(self, name: str) -> float | None:
        """What graders gave beside the reward; None where they did not."""
        return self.standing.metrics.get(name)

    def column(self, path: str) -> Any:
        """The value at a dotted path; None where nothing is or where it is NaN. The whole row for ""."""
        if isinstance(self.raw, RowError):
            return None
        row = self.raw.value
        if not path:
            return row
        try:
            value = lookup(row, path)
        except NoField:
            return None
        return None if is_missing(value) else value

    def _task(self) -> Task | RowError:
        return self.raw if isinstance(self.raw, RowError) else self.task_of(self.index, self.raw)
