"""Many rollouts, some at a time: jobs are taken as there is room, results are kept as they end."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

from agentscope_tui.batch.results import Key, RolloutResult
from agentscope_tui.batch.rollout import Account, Job
from agentscope_tui.clock import Clock
from agentscope_tui.datasets.task import RowError

NO_PROCESS = "no_process"
"""The error of a row for which no process could be started."""
SYSTEMIC = frozenset({"authentication", "permission", "quota", "unknown_model", "no_model", NO_PROCESS})
"""Errors that every further row would meet too, most of them a model's."""
MOST_TRIES = 3
"""How often a row is tried whose process or machine dies: it may be the row that kills it."""
_WINDOW = 15.0
"""Seconds over which the speed is taken."""


class Executor(Protocol):
    """Runs rollouts somewhere: in this process, in others, or on other machines."""

    async def run(self, account: Account) -> RolloutResult:
        """Run the account's task to its end. Cancelling ends its session; it never raises a UserError."""

    async def aclose(self) -> None:
        """Let go of what it holds. Nothing of it runs any more."""


class Progress:
    """How far a batch is. `total` counts all jobs, also those that an earlier run has done."""

    def __init__(
        self, total: int, earlier: Iterable[RolloutResult] = (), *, clock: Clock | None = None
    ) -> None:
        self.total = total
        self.done = self.failed = self.stopped = 0
        self.running: dict[Key, Account] = {}
        self.rewards: list[float] = []
        self.input_tokens = self.output_tokens = 0
        self.cost: float | None = None
        self._clock = clock or Clock()
        self.started = self._clock.monotonic()
        self._new = 0
        self._ended: deque[tuple[float, int]] = deque()
        for result in earlier:
            self._count(result)

    @property
    def left(self) -> int:
        """Jobs that have not ended."""
        return max(0, self.total - self.done - self.failed)

    @property
    def mean_reward(self) -> float | None:
        return sum(self.rewards) / len(self.rewards) if self.rewards else None

    @property
    def seconds(self) -> float:
        """Since the batch began."""
        return self._clock.monotonic() - self.started

    @property
    def tokens_per_second(self) -> float:
        """Tokens, in and out, of the rollouts that ended in the last seconds."""
        now = self._clock.monotonic()
        while self._ended and self._ended[0][0] < now - _WINDOW:
            self._ended.popleft()
        return sum(tokens for _, tokens in self._ended) / max(1.0, min(_WINDOW, self.seconds))

    @property
    def seconds_left(self) -> float | None:
        """How long the rest takes at the speed so far; None until one has ended."""
        return self.left * self.seconds / self._new if self._new else None

    def add(self, result: RolloutResult) -> None:
        """One more has ended."""
        self._count(result)
        self._new += result.state != "stopped"
        self._ended.append((self._clock.monotonic(), result.input_tokens + result.output_tokens))

    def _count(self, result: RolloutResult) -> None:
        match result.state:
            case "done":
                self.done += 1
            case "failed":
                self.failed += 1
            case "stopped":
                self.stopped += 1
        if result.reward is not None and result.state == "done":
            self.rewards.append(result.reward)
        self.input_tokens += result.input_tokens
        self.output_tokens += result.output_tokens
        if result.cost is not None:
            self.cost = (self.cost or 0.0) + result.cost


class Batch:
    """Runs jobs with an executor, at most `concurrency` at a time; `keep` gets each result as it ends."""

    def __init__(
        self,
        jobs: Iterable[Job],
        executor: Executor,
        progress: Progress,
        *,
        concurrency: int,
        keep: Callable[[RolloutResult], None],
    ) -> None:
        self.progress = progress
        self.stopped_by = ""
        """Why no more jobs are taken, in words; empty: nothing stopped it."""
        self.fatal = False
        """Whether an error that all jobs would meet stopped it."""
        self._jobs: Iterator[Job] = iter(jobs)
        self._executor = executor
        self._concurrency = concurrency
        self._keep = keep
        self._interrupted = False
        self._running: set[asyncio.Task[RolloutResult]] = set()

    def finish(self, reason: str) -> None:
        """Take no more jobs; those that run come to their end."""
        self.stopped_by = self.stopped_by or reason

    def interrupt(self, reason: str) -> None:
        """Take no more jobs, and end those that run now."""
        self.finish(reason)
        self._interrupted = True
        for task in self._running:
            task.cancel()

    async def run(self) -> None:
        """Return when all jobs have ended, or no more are taken and the running ones have ended.

        Raises:
            UserError: what `keep` raised; the jobs that ran then were ended.
        """
        workers = [asyncio.create_task(self._work(), name="batch worker") for _ in range(self._concurrency)]
        try:
            await asyncio.gather(*workers)
        except BaseException:
            self.interrupt("the batch was ended")
            await asyncio.gather(*workers, return_exceptions=True)
            raise

    async def _work(self) -> None:
        while not self.stopped_by and (job := next(self._jobs, None)) is not None:
            result = await self._run(Account(job))
            self.progress.add(result)
            self._keep(result)
            if result.code in SYSTEMIC and not self.stopped_by:
                self.fatal = True
                self.interrupt(result.error)

    async def _run(self, account: Account) -> RolloutResult:
        if isinstance(row := account.job.task, RowError):
            return account.result(error=row.reason)
        key = account.job.key
        self.progress.running[key] = account
        task = asyncio.create_task(self._executor.run(account), name=f"rollout {key[0]}.{key[1]}")
        self._running.add(task)
        try:
            result = await task
        except asyncio.CancelledError:
            if not self._interrupted:
                task.cancel()
                await asyncio.wait([task])
                raise
            result = account.result(stopped=True, error=self.stopped_by)
        except Exception as error:
            result = account.failure(error)
        finally:
            self._running.discard(task)
            del self.progress.running[key]
        # What met the error that stopped everything has told nothing about the agent.
        systemic = result.state == "failed" and result.code in SYSTEMIC
        return result.model_copy(update={"state": "stopped"}) if systemic else result
