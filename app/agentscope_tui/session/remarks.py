"""The remarks of a runner as events, and no more of them than a transcript can carry."""

from __future__ import annotations

from collections.abc import Callable

from agentscope_tui.events import AgentNote, Event

MOST_REMARKS = 10_000
MOST_TEXT = 4 * 1024 * 1024
"""Characters of all remarks of a session together."""
TOO_MANY = f"[the runner made more than {MOST_REMARKS:,} remarks or 4 MiB of them: what follows is not kept]"


class Remarks:
    """Takes what a runner says beside its work."""

    def __init__(self, publish: Callable[[Event], Event]) -> None:
        self._publish = publish
        self._left = MOST_REMARKS
        self._room = MOST_TEXT

    def __call__(self, text: str) -> None:
        """One remark."""
        if self._left < 0:
            return
        self._left -= 1
        self._room -= len(text)
        if self._room < 0:
            self._left = -1
        self._publish(AgentNote(text=TOO_MANY if self._left < 0 else text))
