"""One rollout: a session on a row from its start to its end, and what is to be said of it."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from agentscope_tui.batch.results import Key, RolloutResult
from agentscope_tui.datasets.task import RowError, Task
from agentscope_tui.events import ErrorOccurred, SessionEvent, Submitted
from agentscope_tui.session.tally import Tally

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Job:
    """A rollout to run: of a row, for the time `rollout` from 0."""

    task: Task | RowError
    rollout: int = 0

    @property
    def key(self) -> Key:
        return self.task.index, self.rollout


@dataclass(eq=False)
class Account:
    """What a result says of a session, as its events come."""

    job: Job
    session: str = ""
    tally: Tally = field(default_factory=Tally)
    answer: str | None = None
    code: str = ""

    @property
    def task(self) -> Task:
        """The job's task; for a row that is none nothing is run."""
        assert isinstance(self.job.task, Task)
        return self.job.task

    @property
    def known(self) -> dict[str, Any]:
        """All but the job: for an account of the same job in another process to `learn`."""
        return {name: value for name, value in vars(self).items() if name != "job"}

    def learn(self, known: Mapping[str, Any]) -> None:
        """Know what another account of the job knew."""
        vars(self).update(known)

    def reset(self) -> None:
        """Begin anew: another session runs the same job."""
        self.session, self.tally, self.answer, self.code = "", Tally(), None, ""

    def __call__(self, event: SessionEvent) -> None:
        """The bus callback."""
        self.tally.apply(event)
        match event:
            case ErrorOccurred(source="model"):
                self.code = event.code
            case Submitted():
                self.answer = event.answer
            case _:
                pass

    def failure(self, error: Exception) -> RolloutResult:
        """The result where we failed, and not the agent; the log gets the error."""
        log.error("row %d could not be run", self.job.task.index, exc_info=error)
        name = type(error).__name__
        return self.result(error=f"agentscope failed: {name}: {error} (see the log file)")

    def result(self, *, stopped: bool = False, error: str = "") -> RolloutResult:
        """What came of it; `error` says why there was no session, or why it ended early."""
        tally = self.tally
        done = (
            not error and tally.outcome == "completed" and not tally.grade_error and tally.status != "failed"
        )
        # Somebody who looks at one of many may interrupt it.
        stopped = stopped or tally.outcome == "interrupted"
        started, ended = tally.turn_started, tally.turn_ended
        return RolloutResult(
            row=self.job.task.index,
            rollout=self.job.rollout,
            state="stopped" if stopped else "done" if done else "failed",
            session=self.session,
            outcome=tally.outcome,
            reward=tally.reward,
            metrics=tally.metrics,
            answer=self.answer,
            error="" if done else error or tally.grade_error or tally.last_error or tally.outcome_reason,
            code=self.code if not done else "",
            calls=tally.call,
            input_tokens=tally.input_tokens,
            output_tokens=tally.output_tokens,
            cost=tally.cost,
            seconds=(ended - started).total_seconds() if started and ended else 0.0,
            ended=ended,
        )
