"""Rollouts in several processes of this machine: one process keeps up with no more than one core does.

A process that dies takes its sessions with it: their recordings stay as far as they came, and their rows are
run again elsewhere.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import sys
from collections.abc import Mapping
from itertools import count
from typing import NamedTuple

from agentscope_tui.batch.batch import MOST_TRIES, NO_PROCESS
from agentscope_tui.batch.pickled import Pickled
from agentscope_tui.batch.results import RolloutResult
from agentscope_tui.batch.rollout import Account
from agentscope_tui.batch.worker_process import AskKey, End, Ended, GotKey, Run, Setup
from agentscope_tui.config import Config
from agentscope_tui.errors import UserError
from agentscope_tui.models.factory import LOCAL
from agentscope_tui.models.key_command import shared_key_command
from agentscope_tui.session.launch import Launcher

log = logging.getLogger(__name__)

AT_LEAST = 50
"""Sessions at a time that a process is started for, where nobody says how many are to be."""
_END_SECONDS = 10.0
_MAIN = "from agentscope_tui.batch.worker_process import main; main()"


def processes_for(concurrency: int) -> int:
    """How many processes are worth it for so many sessions at a time: at most one for each core."""
    mine = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(mine, concurrency // AT_LEAST))


def undivided_because(config: Config, launcher: Launcher) -> str:
    """Why only one process can run the launcher's sessions; empty: several can."""
    settings = config.settings
    if settings.runner.listen is not None:
        return "runners dial in at one process (--listen)"
    models = (launcher.model_name, settings.model.replay_fallback, settings.grading.judge)
    if any(model and model.partition(":")[0] == LOCAL for model in models):
        return "each would start the local model's server"
    return ""


def setup_of(config: Config, launcher: Launcher, labels: Mapping[str, object]) -> Setup:
    """What the processes are told."""
    return Setup(
        config, launcher.dataset, launcher.model_name, launcher.identity, launcher.sessions, dict(labels)
    )


class CannotStart(UserError):
    """A process could not be started, or ended before it was ready: others would too."""


class ProcessDied(Exception):
    """A process ended while it ran sessions; says how."""


class ProcessExecutor:
    """See `Executor`."""

    def __init__(self, setup: Setup, processes: int) -> None:
        self._setup = setup
        self._processes = [_Process(setup) for _ in range(processes)]
        self._alone = asyncio.Semaphore(processes)

    async def run(self, account: Account) -> RolloutResult:
        try:
            for _ in range(MOST_TRIES - 1):
                try:
                    return await self._run(account)
                except ProcessDied as death:
                    log.warning("a process of the run %s while it ran row %d", death, account.task.index)
                    account.reset()
            return await self._run_alone(account)
        except ProcessDied as death:
            reason = f"the processes that ran it ended, {MOST_TRIES} times: the last {death}"
            return account.result(error=reason)
        except CannotStart as error:
            account.code = NO_PROCESS
            return account.result(error=str(error))

    async def _run(self, account: Account) -> RolloutResult:
        """Run it where least runs."""
        place = min(range(len(self._processes)), key=lambda place: self._processes[place].load)
        process = self._processes[place]
        try:
            return await process.run(account)
        except ProcessDied:
            if self._processes[place] is process:
                self._processes[place] = _Process(self._setup)
            raise

    async def _run_alone(self, account: Account) -> RolloutResult:
        """Run it in a process of its own, so that the rows that ran beside one that kills it do not fail."""
        async with self._alone:
            process = _Process(self._setup)
            try:
                return await process.run(account)
            finally:
                await process.aclose()

    async def aclose(self) -> None:
        await asyncio.gather(*(process.aclose() for process in self._processes))


class _Started(NamedTuple):
    """A process that runs: what it is told by, and what takes what it says."""

    child: asyncio.subprocess.Process
    told: Pickled
    reading: asyncio.Task[None]


class _Process:
    """One of them, from here; it starts with the first job."""

    def __init__(self, setup: Setup) -> None:
        self.load = 0
        """Sessions that run in it."""
        self._setup = setup
        self._numbers = count()
        self._waiting: dict[int, asyncio.Future[Ended]] = {}
        self._answering: set[asyncio.Task[None]] = set()
        self._starting: asyncio.Task[_Started] | None = None

    async def run(self, account: Account) -> RolloutResult:
        """Run the account's job.

        Raises:
            CannotStart: the process did not come up.
            ProcessDied: it ended.
        """
        self.load += 1
        try:
            return await self._run(account)
        except EOFError:
            started = await self._started()
            raise ProcessDied(ending_of(await started.child.wait())) from None
        finally:
            self.load -= 1

    async def _run(self, account: Account) -> RolloutResult:
        started = await self._started()
        if started.reading.done():
            raise EOFError
        number = next(self._numbers)
        ended = self._waiting[number] = asyncio.get_running_loop().create_future()
        started.told.send(Run(number, account.job))
        try:
            reply: Ended = await asyncio.shield(ended)
        except asyncio.CancelledError:
            started.told.send(End(number))
            await asyncio.wait([ended], timeout=_END_SECONDS)
            if not ended.done() or ended.exception() is not None:
                raise
            reply = ended.result()
            account.learn(reply.known)
            if reply.result is None:
                raise
        finally:
            del self._waiting[number]
        assert reply.result is not None, "a job ends without one only when it is told to end"
        return reply.result

    async def aclose(self) -> None:
        """End what runs in it, and it."""
        if self._starting is None:
            return
        try:
            child, told, reading = await self._started()
        except CannotStart:
            # Whoever was to run in it was told.
            return
        told.close()
        try:
            async with asyncio.timeout(_END_SECONDS):
                await child.wait()
        except TimeoutError:
            log.error("a process of the run did not end and is killed")
            child.kill()
            await child.wait()
        await reading

    async def _started(self) -> _Started:
        if self._starting is None:
            self._starting = asyncio.create_task(self._start(), name="a process of the run starts")
        # Others wait for it too.
        return await asyncio.shield(self._starting)

    async def _start(self) -> _Started:
        ours, theirs = socket.socketpair()
        try:
            # ctrl+c is not for it: the run's own process says what is to end. Nothing is imported from the
            # working folder, which may be a stranger's.
            child = await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-c", _MAIN, str(theirs.fileno())),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=sys.stderr,
                pass_fds=[theirs.fileno()],
                process_group=0,
            )
        except OSError as error:
            ours.close()
            text = f"a process of the run cannot be started: {error.strerror} (--engine local:1 needs none)"
            raise CannotStart(text) from error
        finally:
            theirs.close()
        told = Pickled(*await asyncio.open_connection(sock=ours))
        told.send(self._setup)
        try:
            await told.receive()
        except EOFError:
            told.close()
            reason = ending_of(await child.wait())
            raise CannotStart(
                f"a process of the run {reason} before it was ready (see the log file)"
            ) from None
        return _Started(child, told, asyncio.create_task(self._read(told), name="what a process says"))

    async def _read(self, told: Pickled) -> None:
        try:
            while True:
                match await told.receive():
                    case Ended(number) as ended:
                        waiting = self._waiting.get(number)
                        if waiting is not None and not waiting.done():
                            waiting.set_result(ended)
                    case AskKey() as asked:
                        answering = asyncio.create_task(_answer(told, asked), name="a key is printed")
                        self._answering.add(answering)
                        answering.add_done_callback(self._answering.discard)
        except EOFError as error:
            told.close()
            for waiting in self._waiting.values():
                if not waiting.done():
                    waiting.set_exception(error)
            for answering in self._answering:
                answering.cancel()
            await asyncio.gather(*self._answering, return_exceptions=True)


async def _answer(told: Pickled, asked: AskKey) -> None:
    """Tell a process the key that it asked for. All that ask for the same one wait for one run."""
    try:
        command = shared_key_command(asked.command, asked.source)
        command.forget(asked.refused)
        told.send(GotKey(asked.number, await command.key(), ""))
    except UserError as error:
        told.send(GotKey(asked.number, None, str(error)))
    except Exception as error:
        log.exception("the command of %s could not be run", asked.source)
        failed = f"the command of {asked.source} could not be run: {type(error).__name__} (see the log file)"
        told.send(GotKey(asked.number, None, failed))


def ending_of(code: int) -> str:
    """How a process ended, in words."""
    return f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
