"""The end of a program's log, for the message that says why it ended."""

from __future__ import annotations

from collections import deque

_KEPT = 20
_LAST = 3
_SHOWN = 300


class LastLines:
    """Keeps the last `kept` lines that were added."""

    def __init__(self, kept: int = _KEPT) -> None:
        self._lines: deque[str] = deque(maxlen=kept)

    def add(self, line: str) -> None:
        self._lines.append(line)

    def after(self, reason: str) -> str:
        """`reason`, and the last three lines as `end` gives them."""
        last = self.end(_LAST)
        return f"{reason}; the end of its log: {last}" if last else reason

    def end(self, most: int) -> str:
        """The last lines that are not blank, at most so many, in one: each cut at 300 characters."""
        return " | ".join([line.strip()[:_SHOWN] for line in self._lines if line.strip()][-most:])

    @property
    def text(self) -> str:
        """All lines that are kept, whole."""
        return "\n".join(self._lines)
