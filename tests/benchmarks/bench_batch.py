"""Many sessions: how fast, at which cost a call, how much memory each, and how two Ray workers scale.

`python tests/benchmarks/bench_batch.py [sessions|calls|memory|latency|ray]` prints the figures, ratios
taken in one run. Nothing here is a test.
"""

from __future__ import annotations

import asyncio
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from agentscope_tui.batch.batch import Batch, Executor, Progress
from agentscope_tui.batch.local import LocalExecutor
from agentscope_tui.batch.processes import ProcessExecutor, processes_for, setup_of
from agentscope_tui.batch.results import RolloutResult
from agentscope_tui.batch.rollout import Job
from agentscope_tui.config import Config, load_settings
from agentscope_tui.datasets.task import Task
from agentscope_tui.models.chat import ChatRequest
from agentscope_tui.session.launch import Launcher
from agentscope_tui.store.together import stay_in_the_loop

sys.path.insert(0, str(Path(__file__).parents[1]))
from waiting import wait_until

FAST = 1_000_000
"""Tokens a second of a model without latency."""
LOOK = {"name": "list_files", "arguments": {}}
UNKNOWN = {"name": "no_such_tool", "arguments": {}}
"""A call that the host refuses: it costs a round trip and no process."""


def reply(text: str, *calls: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"text": text, "tokens_per_second": FAST, **({"tool_calls": [*calls]} if calls else {}), **more}


class Bench:
    """A state folder, a script, and the launcher on them."""

    def __init__(self, folder: Path, *replies: dict[str, Any]) -> None:
        self.folder = folder
        script = folder / "script.yaml"
        script.write_text(yaml.safe_dump({"scripts": [{"replies": [*replies]}]}))
        self.model = f"scripted:{script}"
        environ = {**os.environ, "AGENTSCOPE_HOME": str(folder / "state")}
        flags = {"model.name": self.model, "sandbox.mode": "none", "limits.calls": 10_000}
        self.config: Config = load_settings(flags, cwd=folder, environ=environ)
        self.launcher = Launcher(self.config, folder / "rows.jsonl", model=self.model)

    def executor(self, processes: int) -> Executor:
        """What runs sessions in so many processes; one: this one."""
        if processes == 1:
            return LocalExecutor(self.launcher)
        return ProcessExecutor(setup_of(self.config, self.launcher, {}), processes)

    async def run(
        self, count: int, concurrency: int, executor: Executor | None = None
    ) -> list[RolloutResult]:
        """Run so many rows; all of them must be done."""
        results: list[RolloutResult] = []
        jobs = (Job(Task(row, row + 1, f"task {row}")) for row in range(count))
        executor = executor or LocalExecutor(self.launcher)
        progress = Progress(count)
        await Batch(jobs, executor, progress, concurrency=concurrency, keep=results.append).run()
        assert progress.done == count, results[:3]
        return results


@contextmanager
def bench(*replies: dict[str, Any]) -> Iterator[Bench]:
    with tempfile.TemporaryDirectory() as folder:
        yield Bench(Path(folder), *replies)


async def timed(what: Callable[[], Any]) -> tuple[float, float]:
    """Wall and processor seconds that awaiting it took."""
    wall, cpu = time.perf_counter(), time.process_time()
    await what()
    return time.perf_counter() - wall, time.process_time() - cpu


async def sessions() -> None:
    """Whole sessions of one call against a model without latency."""
    with bench(reply("done")) as rig:
        await rig.run(20, 10)
        wall, cpu = await timed(lambda: rig.run(500, 50))
    print(f"sessions of one call: {500 / wall:,.0f}/s, {cpu * 2:.2f} ms of processor each")


async def calls() -> None:
    """What a call costs in a session, against calling the same model in a bare loop."""
    count = 200
    script = [*(reply(f"step {n}", UNKNOWN) for n in range(count)), reply("done")]
    with bench(*script) as rig:
        await rig.run(2, 1)
        _, session = await timed(lambda: rig.run(10, 5))
        messages: list[dict[str, Any]] = [{"role": "user", "content": "task 0"}]
        model = rig.launcher.model(rig.model)

        async def bare() -> None:
            for _ in range(count):
                done = await model.complete(ChatRequest(messages=messages), lambda piece: None)
                messages.append(done.to_openai()["choices"][0]["message"])
                answered = done.tool_calls[0].id if done.tool_calls else "none"
                messages.append({"role": "tool", "tool_call_id": answered, "content": "unknown"})

        _, alone = await timed(bare)
    each, loop = session / 10 / count * 1000, alone / count * 1000
    print(
        f"a call in a session: {each:.2f} ms of processor, "
        f"in a bare loop {loop:.2f} ms: {each - loop:.2f} ms more"
    )


async def memory() -> None:
    """Resident memory of a session that waits for its model."""
    count = 1000
    with bench(reply("done", delay=3600)) as rig:
        await with_waiting(rig, 50)
        before = resident()
        waiting = await with_waiting(rig, count, keep=True)
        after = resident()
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
    print(f"a waiting session: {(after - before) / count / 1024:.0f} KiB")


async def with_waiting(rig: Bench, count: int, *, keep: bool = False) -> list[asyncio.Task[Any]]:
    """So many sessions that wait for their model; ended at once unless kept."""
    opened: list[Any] = []
    executor = LocalExecutor(rig.launcher, opened=opened.append)
    jobs = (Job(Task(row, row + 1, f"task {row}")) for row in range(count))
    batch = Batch(jobs, executor, Progress(count), concurrency=count, keep=lambda result: None)
    running = asyncio.create_task(batch.run())

    def all_wait() -> bool:
        return len(opened) == count and all(one.session.status == "running" for one in opened)

    await wait_until(all_wait, seconds=600)
    if not keep:
        batch.interrupt("measured")
        await running
    return [running]


def resident() -> int:
    """Bytes of this process in memory."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()


async def latency() -> None:
    """A thousand sessions of a model that takes a second, five hundred at a time: in one process, and in as
    many as `agentscope run` takes for so many. Six calls are the mean of the demo's rows; with one, all that
    a session costs beside its calls comes twice in two seconds."""
    for length in (6, 1):
        script = [*(reply(f"step {n}", UNKNOWN, delay=1) for n in range(length - 1)), reply("done", delay=1)]
        ideal = 1000 / 500 * length
        for processes in sorted({1, processes_for(500)}):
            with bench(*script) as rig:
                executor = rig.executor(processes)
                await rig.run(20 * processes, 20, executor)
                wall, _ = await timed(lambda rig=rig, executor=executor: rig.run(1000, 500, executor))
                await executor.aclose()
            print(
                f"1,000 sessions, each with {length} × 1 s of model, 500 at a time, processes: {processes}: "
                f"{wall:.2f} s, {wall / ideal:.2f} × the ideal {ideal:.0f} s"
            )


async def ray_workers() -> None:
    """The same rows on one Ray worker and on two."""
    from agentscope_tui.batch import ray_engine

    took: dict[int, float] = {}
    with bench(reply("look", LOOK), reply("done")) as rig:
        local, _ = await timed(lambda: rig.run(200, 20))
        for workers in (1, 2):
            ray_engine.connect("")
            executor = ray_engine.RayExecutor(
                ray_engine.setup_of(rig.config, rig.launcher),
                rig.folder / f"sessions-{workers}",
                workers=workers,
                concurrency=20,
            )
            await rig.run(10, 10, executor)
            took[workers], _ = await timed(lambda executor=executor: rig.run(200, 20, executor))
            await executor.aclose()
    print(
        f"200 sessions: here {200 / local:.0f}/s, one Ray worker {200 / took[1]:.0f}/s, "
        f"two {200 / took[2]:.0f}/s ({took[1] / took[2]:.2f} ×)"
    )


BENCHES = {"sessions": sessions, "calls": calls, "memory": memory, "latency": latency, "ray": ray_workers}

if __name__ == "__main__":
    # As `agentscope run` has it.
    stay_in_the_loop()
    for name in sys.argv[1:] or BENCHES:
        asyncio.run(BENCHES[name]())
