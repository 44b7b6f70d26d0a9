"""Files of many records, one a trajectory: JSON lines, or an array. Each is read when it is looked at."""

from __future__ import annotations

from abc import abstractmethod
from pathlib import Path
from typing import Any, Protocol

from agentscope_tui.store.imports.building import EventBuilder
from agentscope_tui.store.imports.fields import Fields
from agentscope_tui.store.imports.reading import LineFile, Unreadable
from agentscope_tui.store.imports.trajectories import Summary, Trajectories


class Records(Protocol):
    """JSON values by their place, from 0."""

    path: Path

    def __len__(self) -> int: ...

    def where(self, place: int) -> str:
        """Where a record stands, in words: `line 3`."""

    def value(self, place: int) -> Any:
        """A record (Unreadable, UserError)."""


class LineRecords:
    """A record a line."""

    def __init__(self, path: Path, lines: LineFile) -> None:
        self.path = path
        self._lines = lines

    def __len__(self) -> int:
        return len(self._lines)

    def where(self, place: int) -> str:
        return f"line {self._lines.number(place)}"

    def value(self, place: int) -> Any:
        return self._lines.value(place)


class ListRecords:
    """Records that are in memory: those of an array, or the only one of a file."""

    def __init__(self, path: Path, values: list[Any]) -> None:
        self.path = path
        self._values = values

    def __len__(self) -> int:
        return len(self._values)

    def where(self, place: int) -> str:
        return f"element {place + 1}"

    def value(self, place: int) -> Any:
        return self._values[place]


class RecordFile(Trajectories):
    """What every format of records has: a record that cannot be read is a session that says so."""

    def __init__(self, records: Records, format: str) -> None:
        super().__init__(records.path, format)
        self._records = records

    def __len__(self) -> int:
        return len(self._records)

    def summary(self, number: int) -> Summary:
        try:
            value = self._records.value(number)
        except Unreadable as problem:
            return Summary(problem=f"{self._records.where(number)}: {problem}")
        if not isinstance(value, dict):
            return Summary(problem=f"{self._records.where(number)} is no object")
        return self._summarize(Fields(value))

    def _tell(self, number: int, builder: EventBuilder) -> None:
        where = self._records.where(number)
        try:
            value = self._records.value(number)
        except Unreadable as problem:
            builder.fails(f"{where} of the file cannot be read: {problem}")
            return
        if isinstance(value, dict):
            self._tell_record(Fields(value), builder)
        else:
            builder.fails(f"{where} of the file is no object")
            builder.extra(where, value)

    @abstractmethod
    def _summarize(self, record: Fields) -> Summary:
        """A record in short."""

    @abstractmethod
    def _tell_record(self, record: Fields, builder: EventBuilder) -> None:
        """Tell all that a record says, `start` first."""
