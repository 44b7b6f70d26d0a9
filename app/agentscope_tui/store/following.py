"""Following a recording that another process still writes: what is new in it, and how that ends."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from agentscope_tui.events import SessionEnded
from agentscope_tui.store.event_source import FileEvents, PlacedEvent
from agentscope_tui.store.lock import is_locked
from agentscope_tui.store.tape import Tape

_LOCK_LOOKS = 10
"""Looks at the file between two at the lock, while nothing comes."""


class Look(NamedTuple):
    """The events that are new, and whether nothing more comes; `problem` says what was done to the file."""

    events: list[PlacedEvent]
    over: bool = False
    problem: str = ""


class Follower:
    """Looks at the end of a tape, from a thread: only whole lines are taken."""

    def __init__(self, tape: Tape, source: FileEvents, folder: Path) -> None:
        self._tape = tape
        self._source = source
        self._folder = folder
        self._quiet = 0

    def look(self) -> Look:
        """What came since the last look (OSError)."""
        if self._source.size() < self._tape.end:
            return Look([], True, "was cut short")
        events = self._tape.grow()
        if events:
            self._quiet = 0
            return Look(events, isinstance(events[-1].event, SessionEnded))
        self._quiet += 1
        if self._quiet % _LOCK_LOOKS:
            return Look([])
        if self._source.deleted:
            return Look([], True, "was deleted")
        if is_locked(self._folder):
            return Look([])
        # What was written between the last look and the end of the lock.
        return Look(self._tape.grow(), True)
