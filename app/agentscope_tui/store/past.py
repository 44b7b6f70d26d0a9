"""A session that can be read: recorded by agentscope, or imported from another tool's file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from agentscope_tui.events import SessionEvent, SessionStarted
from agentscope_tui.store.folders import SessionFolder


@dataclass(frozen=True)
class PastSession:
    """All events of a session up to now, the first of them a `session_started`.

    The last `closed` events are not recorded: they close what was open when the recording ended. `cut` counts
    the bytes after the last whole event. An imported session has no `folder`: no files, no output files.
    """

    events: list[SessionEvent]
    folder: SessionFolder | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)
    closed: int = 0
    cut: int = 0

    @property
    def session_id(self) -> str:
        return self.events[0].session_id

    @property
    def started(self) -> SessionStarted:
        """How it began; of a recording that lost its beginning, nothing is known."""
        first = self.events[0]
        return first if isinstance(first, SessionStarted) else SessionStarted(version="")
