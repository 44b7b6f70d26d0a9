"""One of the processes among which a run is divided.

It talks over an inherited socket, runs many sessions at a time, and ends when the run's process is gone.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
import socket
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from agentscope_tui.batch.local import LocalExecutor
from agentscope_tui.batch.pickled import Pickled
from agentscope_tui.batch.results import RolloutResult
from agentscope_tui.batch.rollout import Account, Job
from agentscope_tui.config import Config
from agentscope_tui.logs import start_log
from agentscope_tui.models.chat import ModelError
from agentscope_tui.models.endpoint import ApiKey
from agentscope_tui.models.key_command import ask_elsewhere
from agentscope_tui.own_memory import close_own_memory
from agentscope_tui.session.launch import Launcher
from agentscope_tui.store.together import stay_in_the_loop

log = logging.getLogger(__name__)

_THRESHOLDS = 50_000, 5, 4
"""Of the garbage collector: hundreds of sessions live at a time, and each look at them all takes long."""
READY = "ready"
"""What a process says first."""


@dataclass(frozen=True)
class Setup:
    """What a process is told first. `labels` go into each session's `meta.json`."""

    config: Config
    dataset: Path
    model: str
    identity: str
    sessions: Path
    labels: Mapping[str, object]


@dataclass(frozen=True)
class Run:
    """Run a job."""

    number: int
    job: Job


@dataclass(frozen=True)
class End:
    """End the session of a job now."""

    number: int


@dataclass(frozen=True)
class AskKey:
    """Get the key that a command prints; `refused` is the one that is of no use any more. `source` is the
    name of the command's setting."""

    number: int
    command: str
    source: str
    refused: ApiKey | None


@dataclass(frozen=True)
class GotKey:
    """The key that was asked for, or why there is none."""

    number: int
    key: ApiKey | None
    error: str


@dataclass(frozen=True)
class Ended:
    """What came of a job: the result, or what is known of a session that was to end before it had one."""

    number: int
    result: RolloutResult | None
    known: dict[str, Any]


class _Process:
    """Takes what it is told until the run's process is gone."""

    def __init__(self, told: Pickled, setup: Setup) -> None:
        self._told = told
        self._launcher = Launcher(
            setup.config,
            setup.dataset,
            model=setup.model,
            identity=setup.identity,
            sessions=setup.sessions,
        )
        self._executor = LocalExecutor(self._launcher, labels=setup.labels)
        self._running: dict[int, asyncio.Task[RolloutResult]] = {}
        self._ending: set[int] = set()
        self._numbers = count()
        self._asked: dict[int, asyncio.Future[GotKey]] = {}

    async def ask_key(self, command: str, source: str, refused: ApiKey | None) -> ApiKey:
        """As `key_command.Ask`: the run's own process runs the command, once for all."""
        number = next(self._numbers)
        answer: asyncio.Future[GotKey] = asyncio.get_running_loop().create_future()
        self._asked[number] = answer
        self._told.send(AskKey(number, command, source, refused))
        try:
            got = await answer
        finally:
            del self._asked[number]
        if got.key is None:
            raise ModelError(got.error, kind="authentication")
        return got.key

    async def work(self) -> None:
        try:
            while True:
                match await self._told.receive():
                    case Run(number, job):
                        self._start(number, job)
                    case End(number) if number in self._running:
                        self._end(number)
                    case GotKey(number) as got if number in self._asked:
                        answer = self._asked[number]
                        if not answer.done():
                            answer.set_result(got)
        except EOFError:
            for number in self._running:
                self._end(number)
            await asyncio.gather(*self._running.values(), return_exceptions=True)
        finally:
            await self._launcher.aclose()

    def _start(self, number: int, job: Job) -> None:
        account = Account(job)
        name = f"rollout {job.key[0]}.{job.key[1]}"
        task = self._running[number] = asyncio.create_task(self._executor.run(account), name=name)
        # Also of one that is ended before its first step.
        task.add_done_callback(partial(self._ended, number, account))

    def _end(self, number: int) -> None:
        # A session that is being ended is not to be disturbed at that.
        if number not in self._ending:
            self._ending.add(number)
            self._running[number].cancel()

    def _ended(self, number: int, account: Account, task: asyncio.Task[RolloutResult]) -> None:
        del self._running[number]
        self._ending.discard(number)
        result: RolloutResult | None = None
        if not task.cancelled():
            error = task.exception()
            result = account.failure(error) if isinstance(error, Exception) else task.result()
        self._told.send(Ended(number, result, {} if result else account.known))


async def _main(descriptor: int) -> None:
    os.set_inheritable(descriptor, False)
    # Whoever means all processes of the run: its own process says what is to end.
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, lambda: None)
    told = Pickled(*await asyncio.open_connection(sock=socket.socket(fileno=descriptor)))
    try:
        setup: Setup = await told.receive()
        start_log(setup.config.environ, setup.config.settings.log.level)
        stay_in_the_loop()
        process = _Process(told, setup)
        ask_elsewhere(process.ask_key)
        gc.collect()
        gc.freeze()
        gc.set_threshold(*_THRESHOLDS)
        told.send(READY)
        await process.work()
    except EOFError:
        pass
    except Exception as error:
        log.critical("a process of the run failed", exc_info=error)
        sys.exit(1)
    finally:
        told.close()


def main() -> None:
    """Work for the run's process at the other end of the socket that the first argument names."""
    close_own_memory()
    asyncio.run(_main(int(sys.argv[1])))
