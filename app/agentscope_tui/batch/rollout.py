"""One rollout: a session on a row from its start to its end, with nobody who must press a key."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field

from agentscope_tui.batch.results import Key, RolloutResult
from agentscope_tui.bus import Callback
from agentscope_tui.datasets.task import RowError, Task
from agentscope_tui.errors import UserError
from agentscope_tui.events import ErrorOccurred, SessionEvent, Submitted
from agentscope_tui.session.launch import Launcher
from agentscope_tui.session.open_session import OpenSession
from agentscope_tui.session.tally import Tally


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


async def run_rollout(
    launcher: Launcher,
    account: Account,
    *,
    opened: Callable[[OpenSession], None] = lambda session: None,
    watchers: Sequence[Callback] = (),
    labels: Mapping[str, object] | None = None,
) -> RolloutResult:
    """Run one rollout to its end; `opened` gets its session before it starts, `watchers` its events, and its
    `meta.json` keeps the `labels`.

    Cancelling this ends the session; what came of it until then is in the account.
    """
    task = account.job.task
    if isinstance(task, RowError):
        return account.result(error=task.reason)
    try:
        session = await launcher.open(task, mode="run", patient=False, labels=labels)
        async with aclosing(session):
            account.session = session.folder.path.name
            session.bus.subscribe(account)
            for watcher in watchers:
                session.bus.subscribe(watcher)
            opened(session)
            await session.start()
            await session.session.settled()
    except UserError as error:
        return account.result(error=str(error))
    return account.result()
