"""Rollouts on a real Ray cluster of this machine with two workers: results, acts, a worker that dies."""

from __future__ import annotations

import asyncio
import os
import pickle
import signal
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from agentscope_tui.batch import ray_engine
from agentscope_tui.batch.elsewhere import OpenedElsewhere
from agentscope_tui.batch.local import LocalExecutor
from agentscope_tui.batch.ray_engine import RayExecutor
from agentscope_tui.store.reopen import read_session
from fakes.batches import Rows, commands, kinds, waiting
from waiting import wait_until

SECONDS = 60


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    import ray

    # Two workers share what may be one processor.
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False)
    yield
    ray.shutdown()


class Cluster(Rows):
    """Two workers on a scripted model, and what they have run."""

    def __init__(self, folder: Path, *replies: dict[str, Any], **grading: str) -> None:
        super().__init__(folder, *replies, **grading)
        self.setup = ray_engine.setup_of(self.config, self.launcher)
        self.opened: dict[int, list[OpenedElsewhere]] = {}
        self.executor = RayExecutor(
            self.setup, folder / "there", workers=2, concurrency=4, opened=self._opened, labels={"run": "r"}
        )

    def end(self) -> None:
        import ray

        for worker in self.executor._workers:
            ray.kill(worker)

    def _opened(self, opened: OpenedElsewhere) -> None:
        self.opened.setdefault(opened.task.index, []).append(opened)

    async def running(self, row: int) -> OpenedElsewhere:
        """The newest session of a row, once its tool runs."""

        def runs() -> bool:
            return any(event.kind == "tool_call" for event in self.newest(row))

        await wait_until(runs, f"row {row}", seconds=SECONDS)
        return self.opened[row][-1]

    def newest(self, row: int) -> list[Any]:
        if row not in self.opened:
            return []
        bus = self.opened[row][-1].bus
        return bus.read(1, bus.last_seq)


@pytest.fixture
async def rig(cluster: None, tmp_path: Path) -> AsyncIterator[Cluster]:
    rig = Cluster(tmp_path, waiting(tmp_path), {"text": "it was 2"})
    yield rig
    rig.end()


async def over(running: asyncio.Task[None]) -> None:
    await asyncio.wait_for(running, SECONDS)


@pytest.mark.timeout(180)
async def test_it_gives_what_the_local_engine_gives(rig: Cluster) -> None:
    rig.go.write_text("go")
    await asyncio.wait_for(rig.batch(6, rig.executor).run(), SECONDS)
    there, rig.results = sorted(rig.results, key=lambda one: one.row), []
    await asyncio.wait_for(rig.batch(6, LocalExecutor(rig.launcher)).run(), SECONDS)
    here = sorted(rig.results, key=lambda one: one.row)
    differs = {"session", "seconds", "ended"}
    assert [one.model_dump(exclude=differs) for one in there] == [
        one.model_dump(exclude=differs) for one in here
    ]
    assert [one.reward for one in there] == [0, 0, 1, 0, 0, 0]
    for far, near in zip(there, here, strict=True):
        folder = rig.executor.sessions / far.session
        past, local = read_session(folder), read_session(rig.launcher.sessions / near.session)
        assert kinds(past.events) == kinds(local.events)
        assert [event.seq for event in past.events] == [*range(1, len(past.events) + 1)]
        assert (folder / "files" / "made.txt").read_text() == "made\n"
        assert (past.meta["run"], past.meta["row"], past.meta["rollout"]) == ("r", far.row, 0)
        assert oct(folder.stat().st_mode)[-3:] == "700"


@pytest.mark.timeout(180)
async def test_acts_reach_a_session_where_it_runs(rig: Cluster) -> None:
    running = asyncio.create_task(rig.batch(1, rig.executor).run())
    opened = await rig.running(0)
    assert opened.session.status == "running"
    opened.session.send("look at 0 too")
    await wait_until(
        lambda: any(event.kind == "steer" for event in rig.newest(0)), "the steer", seconds=SECONDS
    )
    opened.session.pause()
    rig.go.write_text("go")
    await wait_until(lambda: opened.tally.holds, "a pause", seconds=SECONDS)
    steers = [event.status for event in rig.newest(0) if event.kind == "steer"]
    assert steers == ["queued", "handed_over", "in_call", "answered"]
    opened.session.run_on()
    await over(running)
    assert [one.state for one in rig.results] == ["done"]


@pytest.mark.timeout(180)
async def test_the_rows_of_a_worker_that_was_killed_are_run_elsewhere(rig: Cluster) -> None:
    running = asyncio.create_task(rig.batch(4, rig.executor).run())
    for row in range(4):
        await rig.running(row)
    first = {row: opened[-1].folder.path for row, opened in rig.opened.items()}
    pid = await rig.executor._workers[0].pid.remote()
    os.kill(pid, signal.SIGKILL)
    await wait_until(
        lambda: sum(len(opened) for opened in rig.opened.values()) == 6, "two sessions more", seconds=SECONDS
    )
    rig.go.write_text("go")
    await over(running)
    assert sorted((one.row, one.state, one.calls) for one in rig.results) == [
        (row, "done", 2) for row in range(4)
    ]
    again = {row for row, opened in rig.opened.items() if len(opened) == 2}
    assert len(again) == 2
    for row in again:
        events = read_session(first[row]).events
        assert [event.kind for event in events][-2:] == ["tool_result", "session_ended"]
        assert events[-1].reason == "agentscope ended before this session did"
    sessions = {one.row: one.session for one in rig.results}
    assert all(sessions[row] != first[row].name for row in again)


@pytest.mark.timeout(180)
async def test_interrupting_ends_the_sessions_and_their_tools(rig: Cluster) -> None:
    batch = rig.batch(2, rig.executor)
    running = asyncio.create_task(batch.run())
    await rig.running(0)
    await rig.running(1)
    batch.interrupt("enough")
    await over(running)
    assert [(one.state, one.error) for one in rig.results] == [("stopped", "enough")] * 2
    for row in range(2):
        assert [event.kind for event in rig.newest(row)][-1] == "session_ended"
        assert str(rig.go) not in commands()


@pytest.mark.timeout(180)
async def test_a_judges_session_comes_over_too_and_nothing_stays_there(cluster: None, tmp_path: Path) -> None:
    judge, rubric = tmp_path / "judge.yaml", tmp_path / "style.md"
    verdict = {"name": "verdict", "arguments": {"scores": {"right": 0.5}, "reason": "half"}}
    judge.write_text(yaml.safe_dump({"scripts": [{"replies": [{"tool_calls": [verdict]}]}]}))
    rubric.write_text("- right: it is right")
    rig = Cluster(tmp_path, {"text": "it was 2"}, grader="rubric:style.md", judge=f"scripted:{judge}")
    await asyncio.wait_for(rig.batch(1, rig.executor).run(), SECONDS)
    (result,) = rig.results
    assert (result.state, result.reward) == ("done", 0.5), result.error
    (name,) = next(event.sessions for event in rig.newest(0) if event.kind == "graded")
    past = read_session(rig.executor.sessions / name)
    assert past.meta["judge_of"] == result.session
    assert past.events[-1].kind == "session_ended"
    left = [await worker.sessions.remote() for worker in rig.executor._workers]
    assert left == [[], []]
    rig.end()


@pytest.mark.timeout(180)
async def test_no_key_goes_along_with_a_job(rig: Cluster) -> None:
    assert b"canary" not in pickle.dumps(rig.setup)
    assert "AGENTSCOPE_HOME" not in rig.setup.variables
