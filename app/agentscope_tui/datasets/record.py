"""A row as a query sees it: its columns, where it is, and how its session stands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from agentscope_tui.datasets.fields import NoField, is_missing, lookup
from agentscope_tui.datasets.raw import RawRow
from agentscope_tui.datasets.task import RowError, Task

BAD_ROW = "bad row"
"""The state of a row that is no task."""


@dataclass(frozen=True, slots=True)
class Standing:
    """How a row's session stands: the state is its word on screen, the duration its turn's, in seconds."""

    state: str | None = None
    calls: int | None = None
    reward: float | None = None
    duration: float | None = None


NO_SESSION = Standing()


@dataclass(frozen=True, slots=True)
class Record:
    """One row. `task_of` makes its task, which is only done when somebody asks for what depends on it."""

    index: int
    raw: RawRow | RowError
    standing: Standing
    task_of: Callable[[RawRow], Task | RowError]

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

    def column(self, path: str) -> Any:
        """The value at a dotted path; None where nothing is or where it is NaN. The whole row for ""."""
        if isinstance(self.raw, RowError):
            return None
        row = self.raw.value
        if not path:
            return row
        try:
            value = row[path] if path in row else lookup(row, path)
        except NoField:
            return None
        return None if is_missing(value) else value

    def contains(self, needle: str, *, fold: bool) -> bool:
        """Whether any text or number in the row has `needle` in it; with `fold`, whatever the case."""
        if isinstance(self.raw, RowError):
            return _has(self.raw.reason, needle, fold)
        return _has(self.raw.value, needle, fold)

    def _task(self) -> Task | RowError:
        return self.raw if isinstance(self.raw, RowError) else self.task_of(self.raw)


def _has(value: Any, needle: str, fold: bool) -> bool:
    # No `match` and no generators: all rows of a large file come through here.
    kind = type(value)
    if kind is str:
        return needle in (value.casefold() if fold else value)
    if kind is dict:
        value = value.values()
    elif kind is not list:
        return kind is not bool and value is not None and needle in str(value)
    for item in value:  # noqa: SIM110
        if _has(item, needle, fold):
            return True
    return False
