"""What there is to show of a session's runner: what it is, whether it answers, and its log."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any

from agentscope_tui.events import RunnerConnected, RunnerHealth, RunnerLogged
from agentscope_tui.tools.spec import Stream

MAX_LINES = 5000


@dataclass
class RunnerView:
    """A fold over the runner's events.

    `log` are its last lines as (stream, line); `logged` counts all lines that ever came, to tell new ones.
    """

    hello: dict[str, Any] = field(default_factory=dict)
    profile: str = ""
    patience: float | None = None
    answering: bool = True
    log: deque[tuple[Stream, str]] = field(default_factory=lambda: deque(maxlen=MAX_LINES))
    logged: int = 0

    def apply(self, event: RunnerConnected | RunnerHealth | RunnerLogged) -> None:
        match event:
            case RunnerConnected():
                self.hello, self.profile, self.patience = event.hello, event.profile, event.patience
            case RunnerHealth():
                self.answering = event.answering
            case RunnerLogged():
                for line in event.text.removesuffix("\n").split("\n"):
                    self.log.append((event.stream, line))
                    self.logged += 1
