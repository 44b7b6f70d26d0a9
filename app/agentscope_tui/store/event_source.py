"""Where the events of a recording are read, in order from a place, or one of them again: a file or a list."""

from __future__ import annotations

import os
import weakref
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pydantic_core import from_json, to_jsonable_python

from agentscope_tui.event_lines import event_from_json
from agentscope_tui.events import SessionEvent

CHUNK = 256 * 1024
"""Bytes that are read at once."""


class Place(NamedTuple):
    """Where an event is: from `start` to before `end`, where the next one starts.

    Bytes of a file, or positions in a list. Below 0: it is not in the recording, but was added to it.
    """

    start: int
    end: int


class PlacedEvent(NamedTuple):
    """An event and where it is."""

    event: SessionEvent
    place: Place


class EventSource(ABC):
    """May be used from any thread."""

    def __init__(self) -> None:
        self.added: list[SessionEvent] = []
        """Events after the recorded ones, which close what hung when the recording ended."""

    def event(self, place: Place) -> SessionEvent:
        """The event at a place.

        Raises:
            OSError: it cannot be read.
            ValueError: no event is there any more.
        """
        return self._added(place) if place.start < 0 else self._event(place)

    def values(self, place: Place) -> Any:
        """The event at a place as JSON values, which is quicker where one text of it is wanted.

        Raises:
            OSError: it cannot be read.
            ValueError: nothing of the kind is there any more.
        """
        if place.start < 0:
            return to_jsonable_python(self._added(place))
        return self._values(place)

    def _added(self, place: Place) -> SessionEvent:
        number = -place.start - 1
        if number not in range(len(self.added)):
            raise ValueError(f"nothing was added at {place.start}")
        return self.added[number]

    @abstractmethod
    def _event(self, place: Place) -> SessionEvent: ...

    @abstractmethod
    def _values(self, place: Place) -> Any: ...

    @abstractmethod
    def size(self) -> int:
        """Where the recording ends now, about; 0 if it is gone (OSError)."""

    @abstractmethod
    def read(self, start: int, end: int | None = None) -> Iterator[list[PlacedEvent]]:
        """The events from a place on, some at a time, up to the first that is not whole (OSError).

        With `end` only those that start before it.
        """


class FileEvents(EventSource):
    """The lines of an `events.jsonl`. The file stays open, and is read even after it was deleted."""

    def __init__(self, path: Path) -> None:
        """Opens the file.

        Raises:
            OSError: it cannot be read.
        """
        super().__init__()
        self._descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        # States that were made from it may read it for as long as somebody looks at them.
        weakref.finalize(self, os.close, self._descriptor)

    @property
    def deleted(self) -> bool:
        """Whether the file has no name any more."""
        return os.fstat(self._descriptor).st_nlink == 0

    def size(self) -> int:
        return os.fstat(self._descriptor).st_size

    def _event(self, place: Place) -> SessionEvent:
        return event_from_json(self._line(place))

    def _values(self, place: Place) -> Any:
        return from_json(self._line(place))

    def _line(self, place: Place) -> bytes:
        if not place.start < place.end <= self.size():
            raise ValueError(f"there is no line at {place.start}")
        return os.pread(self._descriptor, place.end - place.start, place.start)

    def read(self, start: int, end: int | None = None) -> Iterator[list[PlacedEvent]]:
        rest = b""
        while end is None or start + len(rest) < end:
            at, most = start + len(rest), max(CHUNK, len(rest))
            data = os.pread(self._descriptor, most if end is None else min(most, end - at), at)
            if not data:
                return
            *lines, rest = (rest + data).split(b"\n")
            found: list[PlacedEvent] = []
            for line in lines:
                place = Place(start, start + len(line) + 1)
                try:
                    found.append(PlacedEvent(event_from_json(line), place))
                except ValueError:
                    yield found
                    return
                start = place.end
            yield found


class GivenEvents(EventSource):
    """Events in memory: of a session that was imported."""

    _AT_ONCE = 500

    def __init__(self, events: Sequence[SessionEvent]) -> None:
        super().__init__()
        self._events = events

    def size(self) -> int:
        return len(self._events)

    def _event(self, place: Place) -> SessionEvent:
        if not place.start < len(self._events):
            raise ValueError(f"there is no event at {place.start}")
        return self._events[place.start]

    def _values(self, place: Place) -> Any:
        return to_jsonable_python(self._event(place))

    def read(self, start: int, end: int | None = None) -> Iterator[list[PlacedEvent]]:
        last = len(self._events) if end is None else min(end, len(self._events))
        for first in range(start, last, self._AT_ONCE):
            events = self._events[first : min(first + self._AT_ONCE, last)]
            yield [
                PlacedEvent(event, Place(position, position + 1))
                for position, event in enumerate(events, start=first)
            ]
