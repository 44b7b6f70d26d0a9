"""Many jobs: so many at a time, results as they end, and the ways to stop."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agentscope_tui.batch.batch import Batch, Progress
from agentscope_tui.batch.local import LocalExecutor
from agentscope_tui.batch.results import RolloutResult
from agentscope_tui.batch.rollout import Account, Job
from agentscope_tui.clock import Clock
from agentscope_tui.datasets.task import RowError, Task
from agentscope_tui.errors import UserError
from waiting import wait_until

DEADLINE = 20


class Jobs:
    """An executor whose rollouts end when the test says so."""

    def __init__(self) -> None:
        self.begun: list[int] = []
        self.most = 0
        self._running: dict[int, asyncio.Future[dict[str, Any]]] = {}

    async def run(self, account: Account) -> RolloutResult:
        row = account.job.task.index
        self.begun.append(row)
        self._running[row] = asyncio.get_running_loop().create_future()
        self.most = max(self.most, len(self._running))
        try:
            fields = await self._running[row]
        finally:
            del self._running[row]
        return RolloutResult(row=row, **{"state": "done", **fields})

    async def aclose(self) -> None:
        pass

    async def end(self, row: int, **fields: Any) -> None:
        await wait_until(lambda: row in self._running)
        self._running[row].set_result(fields)
        await wait_until(lambda: row not in self._running)


class Rig:
    def __init__(self, count: int, concurrency: int) -> None:
        self.jobs = Jobs()
        self.kept: list[RolloutResult] = []
        self.progress = Progress(count)
        jobs = (Job(Task(row, row + 1, "task")) for row in range(count))
        self.batch = Batch(jobs, self.jobs, self.progress, concurrency=concurrency, keep=self.kept.append)
        self.task = asyncio.create_task(self.batch.run())

    async def over(self) -> None:
        await asyncio.wait_for(self.task, DEADLINE)

    def states(self) -> list[tuple[int, str]]:
        return [(result.row, result.state) for result in self.kept]


async def test_as_many_as_there_is_room_for_and_results_as_they_end() -> None:
    rig = Rig(4, 2)
    await wait_until(lambda: rig.jobs.begun == [0, 1])
    await rig.jobs.end(1, reward=1.0, input_tokens=10, cost=0.5)
    await wait_until(lambda: rig.jobs.begun == [0, 1, 2])
    assert (rig.progress.done, rig.progress.left, set(rig.progress.running)) == (1, 3, {(0, 0), (2, 0)})
    await rig.jobs.end(2, state="failed")
    await rig.jobs.end(0, reward=0.0, input_tokens=5)
    await rig.jobs.end(3, reward=0.5)
    await rig.over()
    assert rig.states() == [(1, "done"), (2, "failed"), (0, "done"), (3, "done")]
    assert rig.jobs.most == 2
    assert (rig.progress.mean_reward, rig.progress.input_tokens, rig.progress.cost) == (0.5, 15, 0.5)
    assert (rig.progress.failed, rig.progress.left, rig.batch.stopped_by) == (1, 0, "")


async def test_finishing_lets_what_runs_come_to_its_end() -> None:
    rig = Rig(10, 2)
    await wait_until(lambda: rig.jobs.begun == [0, 1])
    rig.batch.finish("enough")
    await rig.jobs.end(0)
    await rig.jobs.end(1)
    await rig.over()
    assert rig.states() == [(0, "done"), (1, "done")]
    assert (rig.batch.stopped_by, rig.progress.left) == ("enough", 8)


async def test_interrupting_ends_what_runs() -> None:
    rig = Rig(10, 2)
    await wait_until(lambda: rig.jobs.begun == [0, 1])
    rig.batch.finish("enough")
    rig.batch.interrupt("now")
    await rig.over()
    assert sorted(rig.states()) == [(0, "stopped"), (1, "stopped")]
    assert {result.error for result in rig.kept} == {"enough"}
    assert rig.progress.left == 10


@pytest.mark.parametrize("code", ["authentication", "permission", "quota", "unknown_model"])
async def test_an_error_that_all_would_meet_stops_at_once(code: str) -> None:
    rig = Rig(10, 3)
    await wait_until(lambda: len(rig.jobs.begun) == 3)
    await rig.jobs.end(1, state="failed", code=code, error="your key is wrong")
    await rig.over()
    assert rig.batch.fatal
    assert rig.batch.stopped_by == "your key is wrong"
    assert sorted(rig.states()) == [(0, "stopped"), (1, "stopped"), (2, "stopped")]


@pytest.mark.parametrize("code", ["", "timeout", "connection", "rate_limit", "server", "context_overflow"])
async def test_an_error_of_one_row_does_not(code: str) -> None:
    rig = Rig(2, 1)
    await rig.jobs.end(0, state="failed", code=code)
    await rig.jobs.end(1)
    await rig.over()
    assert not rig.batch.fatal
    assert rig.states() == [(0, "failed"), (1, "done")]


async def test_a_result_that_cannot_be_kept_ends_the_batch_and_is_raised() -> None:
    rig = Rig(10, 2)

    def refuse(result: RolloutResult) -> None:
        raise UserError("the disk is full")

    rig.batch._keep = refuse
    await rig.jobs.end(0)
    with pytest.raises(UserError, match="the disk is full"):
        await rig.over()
    assert rig.progress.running == {}


async def test_a_batch_that_is_cancelled_leaves_nothing_running() -> None:
    rig = Rig(10, 3)
    await wait_until(lambda: len(rig.jobs.begun) == 3)
    rig.task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await rig.over()
    assert rig.progress.running == {}
    assert [task for task in asyncio.all_tasks() if task.get_name().startswith("rollout")] == []


def test_speed_and_time_left_by_the_clock() -> None:
    now = [100.0]
    earlier = [RolloutResult(row=9, state="done", reward=1.0, input_tokens=1000)]
    progress = Progress(11, earlier, clock=Clock(monotonic=lambda: now[0]))
    assert (progress.seconds_left, progress.tokens_per_second) == (None, 0)
    for row in range(2):
        now[0] += 5
        progress.add(RolloutResult(row=row, state="done", input_tokens=40, output_tokens=10))
    assert progress.left == 8
    assert progress.seconds_left == 8 * 10 / 2
    assert progress.tokens_per_second == 100 / 10
    now[0] += 100
    assert progress.tokens_per_second == 0


async def test_a_row_that_is_no_task_fails_with_its_reason() -> None:
    bad = RowError(4, 5, "user_prompt is missing")
    results: list[RolloutResult] = []
    executor = LocalExecutor(None)  # type: ignore[arg-type]
    await Batch([Job(bad, 2)], executor, Progress(1), concurrency=1, keep=results.append).run()
    (result,) = results
    assert (result.key, result.state, result.error) == ((4, 2), "failed", "user_prompt is missing")
