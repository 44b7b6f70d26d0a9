"""A recording as a tape: the state at any place of it, what comes after, and what is still added to it.

Reading is for threads, one at a time. What was found stays: checkpoints in memory, and those of a long
recording in `events.idx`.
"""

from __future__ import annotations

import logging
import threading
import time
from bisect import bisect_right, insort
from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter
from pathlib import Path

from agentscope_tui.events import SessionEvent
from agentscope_tui.store.checkpoints import PlacedFold
from agentscope_tui.store.event_index import Checkpoint, Stored, read_index, write_index
from agentscope_tui.store.event_source import EventSource, Place, PlacedEvent
from agentscope_tui.store.marks import Mark, marks_of

log = logging.getLogger(__name__)

SMALL = 1 << 20
"""Bytes of a recording up to which it is read whole, which takes no longer than to use a checkpoint."""
GROWTH = 1.5
"""How many times as long the recording is at the next checkpoint that is kept on disk."""
_NEAREST = 250
"""Events before a place that was gone back to, where the nearest checkpoint before it is kept."""
_MOST_KEPT = 64 << 20
"""Bytes of checkpoints in memory."""

Progress = Callable[[float], None]
"""Called now and then with how much is done, from 0 to 1."""

_seq = attrgetter("seq")


class Stopped(Exception):
    """Reading was stopped."""


class Tape:
    """Events are numbered from 1; `marks` are the places to go to, in order."""

    def __init__(self, source: EventSource, folder: Path | None = None) -> None:
        """`folder` is the session's, whose index is used if it fits. What comes after the newest checkpoint
        is not known yet: `to_end` reads it."""
        self.source = source
        self.marks: list[Mark] = []
        self._folder = folder
        self._on_disk: list[Checkpoint] = []
        self._kept: list[Checkpoint] = []
        self._kept_size = 0
        self._recorded = self._end = 0
        if folder is not None:
            self._take_index(folder)

    @property
    def last(self) -> int:
        """The number of the newest event that is known, those included that were added to the recording."""
        return self._recorded + len(self.source.added)

    @property
    def end(self) -> int:
        """Where the part of the recording ends that is known."""
        return self._end

    def _take_index(self, folder: Path) -> None:
        checkpoints, marks = read_index(folder)
        while checkpoints and not self._fits(checkpoints[-1]):
            checkpoints.pop()
        if checkpoints:
            self._on_disk = checkpoints
            self._recorded, self._end = checkpoints[-1].seq, checkpoints[-1].end
            self.marks = [mark for mark in marks if mark.seq <= self._recorded]

    def _fits(self, checkpoint: Checkpoint) -> bool:
        """Whether the event that a checkpoint comes after is where it was."""
        try:
            values = self.source.values(Place(checkpoint.start, checkpoint.end))
            return bool(values["seq"] == checkpoint.seq)
        except (OSError, ValueError, LookupError, TypeError):
            return False

    # Reading

    def to_end(
        self, stop: threading.Event, progress: Progress | None = None, *, gently: bool = False
    ) -> PlacedFold:
        """The state at the end of what is recorded now. `gently` lets other threads go first.

        Raises:
            Stopped: `stop` was set.
            OSError: the recording cannot be read.
        """
        fold = self._nearest(self._recorded)
        begun = fold.end
        size = max(1, self.source.size() - begun)
        due = max(SMALL, (self._on_disk[-1].end if self._on_disk else 0) * GROWTH)
        for batch in self.source.read(begun):
            if stop.is_set():
                raise Stopped
            for placed in batch:
                fold.apply(placed)
                self._know(placed)
                if self._folder is not None and placed.place.end >= due:
                    self._on_disk.append(_checkpoint(placed, fold))
                    due = placed.place.end * GROWTH
            if progress is not None:
                progress(min(1.0, (self._end - begun) / size))
            if gently:
                time.sleep(0.001)
        self._apply_added(fold, self.last)
        return fold

    def at(self, seq: int, stop: threading.Event, progress: Progress | None = None) -> PlacedFold:
        """The state after event number `seq`; after the last one that is known, where that is later.

        Raises:
            Stopped: `stop` was set.
            OSError: the recording cannot be read.
        """
        seq = min(seq, self.last)
        fold = self._nearest(seq)
        begun, last = fold.seq, min(seq, self._recorded)

        def tell(done: int) -> None:
            if progress is not None:
                progress((done - begun) / (last - begun))

        keep = _places_before(last)
        for placed in self._until(fold, last, stop, tell):
            fold.apply(placed)
            if keep and fold.seq >= keep[-1]:
                while keep and fold.seq >= keep[-1]:
                    keep.pop()
                self._keep(_checkpoint(placed, fold))
        self._apply_added(fold, seq)
        return fold

    def _until(
        self,
        fold: PlacedFold,
        last: int,
        stop: threading.Event,
        tell: Callable[[int], None] = lambda done: None,
    ) -> Iterator[PlacedEvent]:
        if fold.seq >= last:
            return
        for batch in self.source.read(fold.end):
            if stop.is_set():
                raise Stopped
            for placed in batch:
                yield placed
                if placed.event.seq >= last:
                    return
            if batch:
                tell(batch[-1].event.seq)

    def up_to(self, fold: PlacedFold, seq: int, stop: threading.Event) -> list[PlacedEvent]:
        """The events after a place and up to number `seq`.

        Raises:
            Stopped: `stop` was set.
            OSError: the recording cannot be read.
        """
        last = min(seq, self._recorded)
        found = list(self._until(fold, last, stop))
        return [*found, *(one for one in self._added() if fold.seq < one.event.seq <= seq)]

    def after(self, seq: int, end: int, most: int) -> list[PlacedEvent]:
        """The events after number `seq`, which ends at `end`: `most` of them or a few more (OSError)."""
        found: list[PlacedEvent] = []
        for batch in self.source.read(end) if seq < self._recorded else ():
            found += batch
            if len(found) >= most:
                break
        return [
            *(one for one in found if one.event.seq <= self._recorded),
            *(one for one in self._added() if seq < one.event.seq and len(found) < most),
        ]

    def grow(self) -> list[PlacedEvent]:
        """The events that came since the end that is known (OSError)."""
        new: list[PlacedEvent] = []
        for batch in self.source.read(self._end):
            for placed in batch:
                self._know(placed)
                new.append(placed)
        return new

    def add(self, events: Sequence[SessionEvent]) -> list[PlacedEvent]:
        """Add events after the recorded ones: they close what hung when the recording ended."""
        self.source.added.extend(events)
        for event in events:
            self.marks += marks_of(event, self._end)
        return self._added()[-len(events) :] if events else []

    def _know(self, placed: PlacedEvent) -> None:
        event, place = placed
        if place.end > self._end:
            self._recorded, self._end = event.seq, place.end
            self.marks += marks_of(event, place.start)

    def _added(self) -> list[PlacedEvent]:
        places = (Place(-number, self._end) for number in range(1, len(self.source.added) + 1))
        return [PlacedEvent(event, place) for event, place in zip(self.source.added, places, strict=True)]

    def _apply_added(self, fold: PlacedFold, seq: int) -> None:
        for placed in self._added():
            if fold.seq < placed.event.seq <= seq:
                fold.apply(placed)

    # Checkpoints

    def save_index(self, fold: PlacedFold) -> None:
        """Write the index of a recording that is long enough for one; `fold` is the state at its end.

        Raises:
            OSError: it cannot be written.
        """
        if self._folder is None or self._end < SMALL or self.source.added:
            return
        newest = self._on_disk[-1].end if self._on_disk else 0
        if self._end - newest > SMALL // 4 and fold.end == self._end:
            self._on_disk.append(Checkpoint(fold.seq, fold.start, fold.end, Stored(fold.save())))
        if any(type(checkpoint.stored) is Stored for checkpoint in self._on_disk):
            write_index(self._folder, self._on_disk, self.marks)

    def _nearest(self, seq: int) -> PlacedFold:
        """The state of the last checkpoint that is not after event number `seq`, or of the start."""
        while found := max((_up_to(self._on_disk, seq), _up_to(self._kept, seq)), key=lambda one: one[0]):
            number, checkpoints, place = found
            if not number:
                break
            try:
                fold = PlacedFold.load(checkpoints[place].stored.read(), self.source)
                if (fold.seq, fold.end) == (number, checkpoints[place].end):
                    return fold
                del checkpoints[place]
            except (OSError, ValueError) as error:
                log.info("a checkpoint of %s is not used: %s", self._folder, str(error).partition("\n")[0])
                del checkpoints[place]
        return PlacedFold(self.source)

    def _keep(self, checkpoint: Checkpoint) -> None:
        if any(one.seq == checkpoint.seq for one in self._kept):
            return
        insort(self._kept, checkpoint, key=_seq)
        self._kept_size += checkpoint.stored.size
        while self._kept_size > _MOST_KEPT:
            # The first ones are the cheapest to make again.
            self._kept_size -= self._kept.pop(0).stored.size


def _checkpoint(placed: PlacedEvent, fold: PlacedFold) -> Checkpoint:
    return Checkpoint(placed.event.seq, *placed.place, Stored(fold.save()))


def _up_to(checkpoints: list[Checkpoint], seq: int) -> tuple[int, list[Checkpoint], int]:
    """The number of the last of some checkpoints that is not after `seq`, 0 if all are, and which it is."""
    place = bisect_right(checkpoints, seq, key=_seq) - 1
    return (checkpoints[place].seq if place >= 0 else 0), checkpoints, place


def _places_before(seq: int) -> list[int]:
    """Numbers of events before one, the last first and each twice as far from it as the one before."""
    places: list[int] = []
    distance = _NEAREST
    while distance < seq:
        places.append(seq - distance)
        distance *= 2
    return places
