"""How a session stands, as a fold over few of its events: state, turn, calls, tokens, cost and reward."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from agentscope_tui.events import (
    ErrorOccurred,
    Graded,
    LlmRequestSent,
    ModelChanged,
    Paused,
    Resumed,
    SessionEnded,
    SessionEvent,
    SessionStarted,
    StateChanged,
    TurnOutcome,
    UsageReported,
    UserMessageSent,
)

Word = Literal[
    "starting",
    "running",
    "paused",
    "waiting",
    "stopping",
    "idle",
    "done",
    "stopped",
    "limit",
    "failed",
    "ended",
]
"""How a session stands, in the word that is shown."""

TALLIED = frozenset(
    {
        "session_started",
        "user_message",
        "state",
        "llm_request",
        "usage",
        "paused",
        "resumed",
        "error",
        "graded",
        "model",
        "session_ended",
    }
)
"""The kinds of events that a tally is made of; the others, nearly all of a recording, leave it as it is."""

_OUTCOMES: Mapping[TurnOutcome, Word] = {
    "completed": "done",
    "failed": "failed",
    "interrupted": "stopped",
    "limit": "limit",
}


@dataclass(eq=False)
class Tally:
    """What is known of a session without its transcript. Reward, errors and outcome are the last turn's."""

    status: Literal["starting", "idle", "running", "interrupting", "ended", "failed"] = "starting"
    model: str = ""
    """The model that calls go to now."""
    turn: int = 0
    turn_started: datetime | None = None
    turn_ended: datetime | None = None
    outcome: TurnOutcome | None = None
    outcome_reason: str = ""
    holds: list[Paused] = field(default_factory=list)
    call: int = 0
    """The number of the newest model call."""
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None
    reward: float | None = None
    metrics: dict[str, float] = field(default_factory=dict)
    """What else the graders of the last turn gave, by name."""
    grade_error: str | None = None
    last_error: str | None = None

    @property
    def word(self) -> Word:
        """How it stands, in one word."""
        if self.status == "failed":
            return "failed"
        if self.holds:
            return "waiting" if any(hold.step == "failed_call" for hold in self.holds) else "paused"
        match self.status:
            case "starting" | "running":
                return self.status
            case "interrupting":
                return "stopping"
            case status:
                return _OUTCOMES[self.outcome] if self.outcome else status

    def apply(self, event: SessionEvent) -> None:
        """Take one event."""
        match event:
            case SessionStarted() | ModelChanged():
                self.model = event.model
            case UserMessageSent():
                self.turn_started, self.turn_ended = event.at, None
            case StateChanged():
                self._on_state_changed(event)
            case LlmRequestSent():
                self.call = event.call
            case UsageReported():
                self.input_tokens += event.input_tokens
                self.output_tokens += event.output_tokens
                if event.cost is not None:
                    self.cost = (self.cost or 0.0) + event.cost
            case Paused():
                self.holds.append(event)
            case Resumed():
                self.holds = [hold for hold in self.holds if hold.hold != event.hold]
            case ErrorOccurred():
                self.last_error = event.message
            case Graded(provisional=False) if event.turn == self.turn:
                self.metrics = {**self.metrics, **event.metrics}
                if event.error is None and (event.grader != "agent" or self.reward is None):
                    self.reward = event.reward
                self.grade_error = event.error
            case SessionEnded():
                self.status = event.status
                self.holds = []
            case _:
                pass

    def _on_state_changed(self, event: StateChanged) -> None:
        self.status = event.status
        self.turn = event.turn
        if event.status == "idle":
            self.outcome, self.outcome_reason = event.outcome, event.reason
            self.turn_ended = event.at
        elif event.status == "running":
            self.outcome, self.outcome_reason = None, ""
            self.reward = self.grade_error = self.last_error = None
            self.metrics = {}
