"""The event bus of one session: numbers events and hands them on without ever waiting for anyone.

Nothing is dropped or reordered. Memory stays bounded: the bus keeps a tail of events, and a subscription
that falls behind it goes on from the recording, by `seq`.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable
from datetime import datetime
from typing import Protocol, TypeVar, cast

from agentscope_tui.clock import Clock
from agentscope_tui.events import Event, SessionEvent
from agentscope_tui.masked_events import masked_event
from agentscope_tui.secrets import MASKER, Masker

log = logging.getLogger(__name__)

E = TypeVar("E", bound=Event)
Callback = Callable[[SessionEvent], None]


class Backlog(Protocol):
    """Where events older than the tail can be read again: the recorder."""

    @property
    def recorded(self) -> int:
        """The number of the newest event that can be read."""

    def read(self, first: int, last: int) -> list[SessionEvent]:
        """The events with `first <= seq <= last`, in order; without those that were lost."""


class EventBus:
    """Publish and subscribe for the events of one session."""

    def __init__(
        self,
        session_id: str,
        *,
        clock: Clock | None = None,
        backlog: Backlog | None = None,
        tail: int = 1024,
        masker: Masker = MASKER,
    ) -> None:
        """`tail` is how many events stay in memory, beside those that are not yet recorded; without a
        backlog all of them do. `masker` takes the secrets out of every event."""
        self.session_id = session_id
        self._clock = clock or Clock()
        self._backlog = backlog
        self._tail: deque[SessionEvent] = deque()
        self._tail_size = tail
        self._masker = masker
        self._undelivered: deque[SessionEvent] = deque()
        self._delivering = False
        self._seq = 0
        self._callbacks: list[Callback] = []

    @property
    def last_seq(self) -> int:
        """The number of the newest event; 0 before the first."""
        return self._seq

    def now(self) -> datetime:
        """The time by the clock that stamps the events."""
        return self._clock.now()

    def publish(self, event: E) -> E:
        """Number the event, mask its secrets, keep it, and call every callback; returns what they got.

        A callback that raises is reported to the log, and the others still run. What a callback publishes
        is delivered after the event that it was called with, so that all see the same order.
        """
        self._seq += 1
        stamp = {"seq": self._seq, "at": self._clock.now(), "session_id": self.session_id}
        stamped = masked_event(event.model_copy(update=stamp), self._masker)
        self._hand_on(cast(SessionEvent, stamped))
        return stamped

    def repeat(self, event: SessionEvent) -> None:
        """Hand on an event that another bus has numbered and masked: of the same session, elsewhere."""
        self._seq = event.seq
        self._hand_on(event)

    def _hand_on(self, event: SessionEvent) -> None:
        self._keep(event)
        if not self._delivering:
            self._delivering = True
            try:
                while self._undelivered:
                    self._deliver(self._undelivered.popleft())
            finally:
                self._delivering = False

    def _keep(self, event: SessionEvent) -> None:
        self._tail.append(event)
        self._undelivered.append(event)
        if self._backlog is not None:
            while len(self._tail) > self._tail_size and self._tail[0].seq <= self._backlog.recorded:
                self._tail.popleft()

    def _deliver(self, event: SessionEvent) -> None:
        for callback in tuple(self._callbacks):
            try:
                callback(event)
            except Exception:
                log.exception("an event callback failed on %s #%d", event.kind, event.seq)

    def subscribe(self, callback: Callback) -> Callable[[], None]:
        """Call `callback` with each event from now on; returns what unsubscribes it."""
        self._callbacks.append(callback)

        def unsubscribe() -> None:
            if callback in self._callbacks:
                self._callbacks.remove(callback)

        return unsubscribe

    def subscription(self, after: int = 0) -> Subscription:
        """A reader of its own pace, from the event after number `after`."""
        return Subscription(self, after)

    def read(self, first: int, last: int) -> list[SessionEvent]:
        """The events with `first <= seq <= last`: from the tail, and from the backlog what is older."""
        oldest = self._tail[0].seq if self._tail else self._seq + 1
        older: list[SessionEvent] = []
        if first < oldest and self._backlog is not None:
            older = self._backlog.read(first, min(last, oldest - 1))
        start, end = max(first - oldest, 0), min(last - oldest + 1, len(self._tail))
        return older + [self._tail[place] for place in range(start, end)]


class Subscription:
    """What one subscriber has not seen yet. It holds only its place, so a slow one costs no memory."""

    def __init__(self, bus: EventBus, after: int) -> None:
        self._bus = bus
        self._seen = after

    @property
    def pending(self) -> int:
        """How many events wait."""
        return self._bus.last_seq - self._seen

    def drain(self, limit: int = 2000) -> list[SessionEvent]:
        """The next events, in order, at most `limit`."""
        last = min(self._bus.last_seq, self._seen + limit)
        events = self._bus.read(self._seen + 1, last)
        self._seen = last
        return events
