"""When the next event of a recording is due while it is played: real time, with long gaps cut short."""

from __future__ import annotations

from collections import deque
from datetime import datetime

from agentscope_tui.store.event_source import PlacedEvent

MOST_GAP = 1.0
"""Seconds that a longer gap between two events takes, at speed 1."""
SPEEDS: tuple[float, ...] = (0.5, 1, 2, 4, 8, 16, 0)
"""How many times as fast as it was recorded; 0: as fast as it can be drawn."""
MOST_AT_ONCE = 1_000
"""Events that are due at once, at most: the screen is drawn in between."""


class Player:
    """Times are seconds of a clock that only goes forward. `ahead` are the events to come, as far as read."""

    def __init__(self) -> None:
        self.ahead: deque[PlacedEvent] = deque()
        self._speed = SPEEDS.index(1)
        self._looked: float | None = None
        self._credit = 0.0

    @property
    def playing(self) -> bool:
        return self._looked is not None

    @property
    def speed(self) -> float:
        """One of `SPEEDS`."""
        return SPEEDS[self._speed]

    @property
    def since(self) -> float:
        """Recorded seconds since the last event."""
        return self._credit

    def play(self, now: float) -> None:
        """Go on from here."""
        self._looked, self._credit = now, 0.0

    def pause(self) -> None:
        self._looked, self._credit = None, 0.0

    def change_speed(self, steps: int) -> None:
        """Faster, or slower if negative; the ends are the ends."""
        self._speed = max(0, min(self._speed + steps, len(SPEEDS) - 1))

    def moved(self) -> None:
        """The playhead is elsewhere: what was read ahead is of no use."""
        self.ahead.clear()
        self._credit = 0.0

    def due(self, now: float, last: datetime) -> list[PlacedEvent]:
        """The events that come until now after one of the time `last`, and are taken out of `ahead`."""
        if self._looked is None:
            return []
        self._credit += (now - self._looked) * self.speed
        self._looked = now
        found: list[PlacedEvent] = []
        while self.ahead and len(found) < MOST_AT_ONCE:
            at = self.ahead[0].event.at
            gap = min(max((at - last).total_seconds(), 0.0), MOST_GAP)
            if self.speed:
                if gap > self._credit:
                    break
                self._credit -= gap
            found.append(self.ahead.popleft())
            last = at
        if not self.ahead:
            # What comes next was not read yet: that is no time of the recording.
            self._credit = min(self._credit, MOST_GAP)
        return found


def speed_word(speed: float) -> str:
    """A speed as it is shown: `2x`, `max`."""
    return f"{speed:g}x" if speed else "max"
