"""What the host notes about one turn while it runs, and the outcome that follows from it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from agentscope_tui.events import ErrorOccurred, Event, Interrupted, Submitted, TurnOutcome
from agentscope_tui.wire.frames import RunnerState


@dataclass
class Turn:
    """One turn. `answer` is what was submitted, `last_text` the last assistant text."""

    number: int
    message_ids: set[str] = field(default_factory=set)
    answer: str | None = None
    last_text: str = ""
    call_failed: bool = False
    """Whether the last model call failed: then the turn did, whatever the runner says."""
    failure: str = ""
    limit: str = ""
    """Why a limit ended the turn, if one did."""
    over: bool = False
    """The runner has said idle: nothing more of this turn is answered."""
    interrupted: str | None = None
    """Why the turn was interrupted, if it was."""
    cut_call: int | None = None
    finished: list[str] = field(default_factory=list)
    killed: list[str] = field(default_factory=list)
    side_effects: list[str] = field(default_factory=list)

    @property
    def text_to_grade(self) -> str:
        """What graders call the answer."""
        return self.last_text if self.answer is None else self.answer

    def last_words(self, runner: RunnerState) -> Iterator[Event]:
        """What the runner said as it went idle, as events; its answer counts where none was submitted."""
        if runner.error and runner.error != self.failure:
            yield ErrorOccurred(source="agent", message=runner.error, detail=runner.detail or "")
        if runner.answer is not None and self.answer is None:
            self.answer = runner.answer
            yield Submitted(call_id="", answer=runner.answer)

    def outcome(self, runner: RunnerState) -> tuple[TurnOutcome, str]:
        """How the turn ended and why: what the host saw, before what the runner says."""
        if self.limit:
            return "limit", self.limit
        if self.interrupted is not None:
            return "interrupted", self.interrupted
        if self.call_failed:
            return "failed", self.failure
        if runner.reason == "turn_limit":
            return (
                "limit",
                "limit reached: the runner has made all its calls of a turn (setting limits.calls)",
            )
        if runner.reason == "aborted":
            return "interrupted", "the runner stopped by itself"
        if runner.reason == "error":
            return "failed", runner.error or "the runner reported an error"
        return "completed", ""

    def abandoned(self, calls: Collection[int]) -> None:
        """The runner went idle; it still waited for the answers to these calls."""
        if calls:
            numbers = ", ".join(f"#{number}" for number in sorted(calls))
            self.call_failed = True
            self.failure = f"the runner did not wait for the answer to call {numbers}"

    def interrupt_report(self, not_run: list[str]) -> Interrupted:
        """The truth about the interrupt, as an event."""
        return Interrupted(
            reason=self.interrupted or "",
            model_call=self.cut_call,
            finished=self.finished,
            killed=self.killed,
            not_run=not_run,
            side_effects=self.side_effects,
        )
