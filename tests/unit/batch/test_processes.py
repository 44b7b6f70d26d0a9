"""Rollouts in real processes beside this one: results, ends, a process that dies."""

from __future__ import annotations

import asyncio
import errno
import gc
import os
import pickle
import signal
import weakref
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agentscope_tui.batch import processes
from agentscope_tui.batch.batch import MOST_TRIES, Batch, Progress
from agentscope_tui.batch.local import LocalExecutor
from agentscope_tui.batch.pickled import Pickled
from agentscope_tui.batch.processes import ProcessExecutor, processes_for, setup_of, undivided_because
from agentscope_tui.batch.results import RolloutResult
from agentscope_tui.batch.rollout import Account, Job
from agentscope_tui.config import load_settings
from agentscope_tui.datasets.task import RowError, Task
from agentscope_tui.store.past import PastSession
from agentscope_tui.store.reopen import closing_events, read_session
from fakes.batches import SECRET, Rows, commands, kinds, waiting
from fakes.raw_server import RawServer, plain, says
from waiting import wait_until

SECONDS = 60


class Divided(Rows):
    """Two processes, and what they have run."""

    def __init__(self, folder: Path, *replies: dict[str, Any], **more: Any) -> None:
        super().__init__(folder, *replies, **more)
        self.executor = ProcessExecutor(setup_of(self.config, self.launcher, {"run": "r"}), 2)

    def pids(self) -> list[int]:
        """Those that have started."""
        return [pid_of(one) for one in self.executor._processes if one._starting is not None]

    def recorded(self) -> list[PastSession]:
        """All sessions that have begun, by row."""
        sessions = self.launcher.sessions
        folders = [folder for folder in sessions.iterdir() if (folder / "events.jsonl").exists()]
        return sorted(map(read_session, folders), key=lambda past: past.meta["row"])

    def at_work(self, row: int | None = None) -> list[Path]:
        """The folders of the sessions, of one row or of all, whose tools have begun; the newest last."""
        name = "*" if row is None else f"*-row{row}-*"
        made = self.launcher.sessions.glob(f"{name}/files/made.txt")
        return [file.parent.parent for file in sorted(made, key=lambda file: file.stat().st_mtime_ns)]

    async def until_tools_run(self, count: int) -> None:
        """Return once so many tools wait for `go`, or have waited for it."""
        await wait_until(lambda: len(self.at_work()) >= count, f"{count} tools", seconds=SECONDS)


def pid_of(process: Any) -> int:
    return int(process._starting.result().child.pid)


def holder_of(file: Path) -> int:
    """The process that has a file open."""
    for link in Path("/proc").glob("[0-9]*/fd/*"):
        try:
            if link.readlink() == file:
                return int(link.parts[2])
        except OSError:
            continue
    raise AssertionError(f"nothing holds {file}")


@pytest.fixture
async def rig(tmp_path: Path) -> AsyncIterator[Divided]:
    rig = Divided(tmp_path, waiting(tmp_path), {"text": "it was 2"})
    yield rig
    await rig.executor.aclose()


@pytest.mark.timeout(180)
async def test_it_gives_what_one_process_gives(rig: Divided) -> None:
    rig.go.write_text("go")
    await asyncio.wait_for(rig.batch(6, rig.executor).run(), SECONDS)
    there, rig.results = sorted(rig.results, key=lambda one: one.row), []
    assert len(rig.pids()) == 2
    await asyncio.wait_for(rig.batch(6, LocalExecutor(rig.launcher, labels={"run": "r"})).run(), SECONDS)
    here = sorted(rig.results, key=lambda one: one.row)
    differs = {"session", "seconds", "ended"}
    assert [one.model_dump(exclude=differs) for one in there] == [
        one.model_dump(exclude=differs) for one in here
    ]
    assert [(one.reward, one.calls) for one in there] == [(float(row == 2), 2) for row in range(6)]
    for far, near in zip(there, here, strict=True):
        folder, beside = (rig.launcher.sessions / one.session for one in (far, near))
        past, local = read_session(folder), read_session(beside)
        assert kinds(past.events) == kinds(local.events)
        assert [event.seq for event in past.events] == [*range(1, len(past.events) + 1)]
        assert (folder / "files" / "made.txt").read_text() == "made\n"
        own = {"session_id", "created"}
        assert {**past.meta, **dict.fromkeys(own)} == {**local.meta, **dict.fromkeys(own)}
        assert past.meta["run"] == "r"
        assert oct(folder.stat().st_mode)[-3:] == "700"


async def test_a_row_that_is_no_task_takes_no_process(rig: Divided) -> None:
    bad = RowError(4, 5, "user_prompt is missing")
    await Batch([Job(bad)], rig.executor, Progress(1), concurrency=1, keep=rig.results.append).run()
    (result,) = rig.results
    assert (result.state, result.error, rig.pids()) == ("failed", "user_prompt is missing", [])


@pytest.mark.timeout(180)
async def test_why_a_session_could_not_begin_is_told(tmp_path: Path) -> None:
    rig = Divided(tmp_path, {"text": "hello"})
    (tmp_path / "script.yaml").unlink()
    result = await asyncio.wait_for(rig.executor.run(Account(Job(Task(0, 1, "task")))), SECONDS)
    await rig.executor.aclose()
    assert result.state == "failed"
    assert "script.yaml" in result.error


@pytest.mark.timeout(180)
async def test_the_rows_of_a_process_that_was_killed_are_run_in_another(rig: Divided) -> None:
    running = asyncio.create_task(rig.batch(4, rig.executor).run())
    await rig.until_tools_run(4)
    os.kill(rig.pids()[0], signal.SIGKILL)
    await rig.until_tools_run(6)
    rig.go.write_text("go")
    await asyncio.wait_for(running, SECONDS)
    assert sorted((one.row, one.state, one.calls) for one in rig.results) == [
        (row, "done", 2) for row in range(4)
    ]
    assert len(rig.recorded()) == 6
    kept = {one.session for one in rig.results}
    for past in rig.recorded():
        if past.session_id not in kept:
            assert kinds(past.events)[-1] == "tool_call"
            assert kinds(closing_events(past.events)) == ["tool_result", "session_ended"]


@pytest.mark.timeout(180)
async def test_a_row_that_kills_each_process_fails_and_the_rows_beside_it_do_not(rig: Divided) -> None:
    running = asyncio.create_task(rig.batch(6, rig.executor).run())
    for count in range(1, MOST_TRIES + 1):
        await wait_until(lambda count=count: len(rig.at_work(0)) == count, f"try {count}", seconds=SECONDS)
        os.kill(holder_of(rig.at_work(0)[-1] / "events.jsonl"), signal.SIGKILL)
    rig.go.write_text("go")
    await asyncio.wait_for(running, SECONDS)
    (failed,) = (one for one in rig.results if one.state == "failed")
    assert failed.row == 0
    assert failed.error == "the processes that ran it ended, 3 times: the last was killed by signal 9"
    assert {one.row for one in rig.results if one.state == "done"} == {1, 2, 3, 4, 5}


@pytest.mark.timeout(180)
async def test_a_signal_to_all_processes_leaves_the_end_to_the_run(rig: Divided) -> None:
    running = asyncio.create_task(rig.batch(2, rig.executor).run())
    await rig.until_tools_run(2)
    for pid in rig.pids():
        os.kill(pid, signal.SIGTERM)
    rig.go.write_text("go")
    await asyncio.wait_for(running, SECONDS)
    assert [one.state for one in rig.results] == ["done", "done"]


def with_key_command(folder: Path, command: str, base_url: str = "http://127.0.0.1:9/v1") -> Divided:
    flags = {"model.name": "openai:m", "model.base_url": base_url, "model.api_key_command": command}
    return Divided(folder, flags=flags)


@pytest.mark.timeout(180)
async def test_a_command_that_prints_a_key_runs_once_for_all_and_again_when_it_is_refused(
    tmp_path: Path,
) -> None:
    runs = tmp_path / "runs"
    # Slow: both processes ask for it.
    printing = f"sleep 1; echo x >> {runs}; echo token-number-$(wc -l < {runs})"
    async with RawServer([plain(401, {"error": {"message": "expired"}}), says("it was 1")]) as server:
        rig = with_key_command(tmp_path, f"sh -c '{printing}'", server.base_url)
        await asyncio.wait_for(rig.batch(4, rig.executor).run(), SECONDS)
        assert len(rig.pids()) == 2
        await rig.executor.aclose()
    assert [one.state for one in rig.results] == ["done"] * 4
    keys = [request.headers["authorization"] for request in server.requests]
    assert (len(keys), keys[0], keys[-1]) == (5, "Bearer token-number-1", "Bearer token-number-2")
    assert runs.read_text() == "x\n" * 2


@pytest.mark.timeout(180)
async def test_a_command_that_prints_no_key_runs_once_and_each_row_says_why(tmp_path: Path) -> None:
    runs, go = tmp_path / "runs", tmp_path / "go"
    script = f"echo x >> {runs}; while [ ! -e {go} ]; do sleep 0.02; done; exit 3"
    rig = with_key_command(tmp_path, f"sh -c '{script}'")
    jobs = [Account(Job(Task(row, row + 1, "task"))) for row in range(4)]
    running = asyncio.gather(*(rig.executor.run(job) for job in jobs))

    def all_ask() -> bool:
        recordings = rig.launcher.sessions.glob("*/events.jsonl")
        return sum('"kind":"llm_request"' in file.read_text() for file in recordings) == len(jobs)

    await wait_until(all_ask, "all need the key", seconds=SECONDS)
    go.write_text("go")
    results = await asyncio.wait_for(running, SECONDS)
    await rig.executor.aclose()
    said = "the command of model.api_key_command, sh, ended with exit code 3: run it in a terminal to see why"
    assert {(one.state, one.code, one.error) for one in results} == {("failed", "authentication", said)}
    assert len(rig.pids()) == 2
    assert runs.read_text() == "x\n"


@pytest.mark.timeout(180)
async def test_a_key_that_cannot_be_asked_for_fails_the_row(tmp_path: Path) -> None:
    rig = with_key_command(tmp_path, "no\0command")
    result = await asyncio.wait_for(rig.executor.run(Account(Job(Task(0, 1, "task")))), SECONDS)
    await rig.executor.aclose()
    assert (result.state, result.code) == ("failed", "authentication")
    assert "the command of model.api_key_command could not be run: ValueError" in result.error


@pytest.mark.timeout(180)
async def test_a_run_ends_also_while_a_key_is_being_printed(tmp_path: Path) -> None:
    started = tmp_path / "started"
    rig = with_key_command(tmp_path, f"sh -c 'echo $$ > {started}; sleep 600; echo key'")
    batch = rig.batch(2, rig.executor)
    running = asyncio.create_task(batch.run())
    await wait_until(lambda: started.exists() and started.read_text().endswith("\n"), seconds=SECONDS)
    batch.interrupt("enough")
    await asyncio.wait_for(running, SECONDS)
    await asyncio.wait_for(rig.executor.aclose(), SECONDS)
    assert {one.state for one in rig.results} == {"stopped"}
    with pytest.raises(ProcessLookupError):
        os.kill(int(started.read_text()), 0)


@pytest.mark.timeout(180)
async def test_a_job_that_is_ended_as_it_is_sent_is_answered(rig: Divided) -> None:
    rig.go.write_text("go")
    await asyncio.wait_for(rig.batch(2, rig.executor).run(), SECONDS)
    began = asyncio.get_running_loop().time()
    jobs = [asyncio.create_task(rig.executor.run(Account(Job(Task(0, 1, "task 0"))))) for _ in range(4)]
    await asyncio.sleep(0)
    for job in jobs:
        job.cancel()
    await asyncio.wait(jobs)
    assert all(job.cancelled() for job in jobs)
    assert asyncio.get_running_loop().time() - began < processes._END_SECONDS / 2


@pytest.mark.timeout(180)
async def test_a_result_that_crosses_with_the_end_counts(
    rig: Divided, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = asyncio.create_task(rig.executor.run(Account(Job(Task(2, 3, "task 2", ground_truth="2")))))
    await rig.until_tools_run(1)
    monkeypatch.setattr(Pickled, "send", lambda told, message: rig.go.write_text("go"))
    running.cancel()
    result = await asyncio.wait_for(running, SECONDS)
    assert (result.state, result.reward) == ("done", 1.0)
    monkeypatch.undo()


async def test_no_room_for_a_process_stops_the_run(rig: Divided, monkeypatch: pytest.MonkeyPatch) -> None:
    async def none(*words: str, **options: object) -> None:
        raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))

    monkeypatch.setattr(asyncio, "create_subprocess_exec", none)
    batch = rig.batch(6, rig.executor)
    await asyncio.wait_for(batch.run(), SECONDS)
    assert batch.fatal
    assert batch.stopped_by.startswith("a process of the run cannot be started: Resource temporarily unavail")
    await rig.executor.aclose()


@pytest.mark.timeout(180)
async def test_a_session_whose_end_is_disturbed_is_recorded_to_its_end(rig: Divided) -> None:
    executor = LocalExecutor(rig.launcher)
    running = asyncio.create_task(executor.run(Account(Job(Task(0, 1, "task 0")))))
    await rig.until_tools_run(1)
    running.cancel()
    await asyncio.sleep(0)
    running.cancel()
    await asyncio.wait([running])

    def ended() -> bool:
        return rig.recorded()[0].events[-1].kind == "session_ended"

    await wait_until(ended, "the end", seconds=SECONDS)


@pytest.mark.timeout(180)
async def test_processes_that_cannot_start_stop_the_run(tmp_path: Path) -> None:
    rig = Divided(tmp_path, {"text": "hello"})
    setup = replace(rig.executor._setup, config="none")  # type: ignore[arg-type]
    rig.executor = ProcessExecutor(setup, 2)
    batch = rig.batch(6, rig.executor)
    await asyncio.wait_for(batch.run(), SECONDS)
    await rig.executor.aclose()
    assert batch.fatal
    reason = "a process of the run ended with exit code 1 before it was ready (see the log file)"
    assert batch.stopped_by == reason
    assert {one.state for one in rig.results} == {"stopped"}


@pytest.mark.timeout(180)
async def test_interrupting_ends_the_sessions_and_what_is_known_of_them_is_kept(rig: Divided) -> None:
    batch = rig.batch(2, rig.executor)
    running = asyncio.create_task(batch.run())
    await rig.until_tools_run(2)
    batch.interrupt("enough")
    await asyncio.wait_for(running, SECONDS)
    assert [(one.state, one.error, one.calls) for one in rig.results] == [("stopped", "enough", 1)] * 2
    assert str(rig.go) not in commands()
    recorded = rig.recorded()
    assert {one.session for one in rig.results} == {past.session_id for past in recorded}
    assert [past.events[-1].kind for past in recorded] == ["session_ended"] * 2


@pytest.mark.timeout(180)
async def test_closing_ends_the_processes_and_their_tools(rig: Divided) -> None:
    running = asyncio.create_task(rig.executor.run(Account(Job(Task(0, 1, "task 0")))))
    await rig.until_tools_run(1)
    pids = rig.pids()
    running.cancel()
    await asyncio.wait([running])
    await rig.executor.aclose()
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
    assert str(rig.go) not in commands()


@pytest.mark.timeout(180)
async def test_secrets_are_masked_in_what_a_process_records(tmp_path: Path) -> None:
    rig = Divided(tmp_path, {"text": f"the key is {SECRET}"})
    await asyncio.wait_for(rig.batch(1, rig.executor).run(), SECONDS)
    await rig.executor.aclose()
    assert rig.results[0].state == "done"
    for file in (tmp_path / "state").rglob("*"):
        assert not file.is_file() or SECRET.encode() not in file.read_bytes(), file
    assert "the key is ***" in (rig.recorded()[0].folder.path / "events.jsonl").read_text()


async def test_a_session_that_has_ended_leaves_nothing_to_the_garbage_collector(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = Rows(tmp_path, {"text": "it was 2"})
    opened: list[weakref.ref[Any]] = []

    async def noted(*args: Any, open_row: Any = rows.launcher.open, **kwargs: Any) -> Any:
        session = await open_row(*args, **kwargs)
        opened.extend(map(weakref.ref, (session, session.session, session.bus, session.recorder)))
        return session

    monkeypatch.setattr(rows.launcher, "open", noted)
    gc.disable()
    try:
        await rows.batch(2, LocalExecutor(rows.launcher)).run()
        await asyncio.sleep(0)
        assert [ref() for ref in opened] == [None] * 8
    finally:
        gc.enable()


def test_as_many_processes_as_are_worth_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes.os, "sched_getaffinity", lambda pid: set(range(4)))
    assert [processes_for(count) for count in (1, 8, 99, 100, 199, 200, 5000)] == [1, 1, 1, 2, 3, 4, 4]


@pytest.mark.parametrize(
    ("flags", "reason"),
    [
        ({}, ""),
        ({"runner.listen": "127.0.0.1:0"}, "runners dial in at one process (--listen)"),
        ({"grading.judge": "local"}, "each would start the local model's server"),
        ({"model.replay_fallback": "local:x.gguf"}, "each would start the local model's server"),
    ],
)
def test_sessions_that_share_something_stay_in_one_process(
    tmp_path: Path, flags: dict[str, object], reason: str
) -> None:
    rig = Rows(tmp_path)
    config = load_settings({**rig.config.flags, **flags}, cwd=tmp_path, environ=rig.config.environ)
    assert undivided_because(config, rig.launcher) == reason


async def test_a_result_goes_through_a_socket_as_it_is(tmp_path: Path) -> None:
    account = Account(Job(Task(3, 4, "task")), session="s", answer="a")
    other = Account(Job(Task(3, 4, "task")))
    other.learn(pickle.loads(pickle.dumps(account.known)))
    assert other.result() == account.result()
    assert isinstance(other.result(), RolloutResult)
