"""The end of a program's log, for the message that says why it ended."""

from __future__ import annotations

from collections import deque

_KEPT = 20
_LAST = 3
_SHOWN = 300


class LastLines:
    """Keeps the last lines that were added."""

    def __init__(self) -> None:
        self._lines: deque[str] = deque(maxlen=_KEPT)

    def add(self, line: str) -> None:
        self._lines.append(line)

    def after(self, reason: str) -> str:
        """`reason`, and the last three lines that are not blank, each cut at 300 characters."""
        last = [line.strip()[:_SHOWN] for line in self._lines if line.strip()][-_LAST:]
        return f"{reason}; the end of its log: {' | '.join(last)}" if last else reason
