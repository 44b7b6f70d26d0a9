"""Rollouts on a Ray cluster: sessions run on its workers, events come back into the same folder and screen.

A worker that dies takes its sessions with it: their recordings stay as far as they came, and their rows are
run again elsewhere.
"""

from __future__ import annotations

import asyncio
import io
import logging
import os
import tarfile
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from agentscope_tui.batch.batch import MOST_TRIES
from agentscope_tui.batch.elsewhere import OpenedElsewhere, unpack
from agentscope_tui.batch.ray_worker import Piece, Worker, WorkerSetup
from agentscope_tui.batch.results import RolloutResult
from agentscope_tui.batch.rollout import Account
from agentscope_tui.bus import Callback
from agentscope_tui.config import Config
from agentscope_tui.errors import UserError
from agentscope_tui.session.launch import Launcher
from agentscope_tui.store.reopen import closing_events

log = logging.getLogger(__name__)

_END_SECONDS = 10.0
_OPTIONS = {"logging_level": logging.ERROR, "log_to_driver": False, "configure_logging": False}


class RayExecutor:
    """See `Executor`."""

    def __init__(
        self,
        setup: WorkerSetup,
        sessions: Path,
        *,
        workers: int,
        concurrency: int,
        watchers: Sequence[Callable[[], Callback]] = (),
        labels: Mapping[str, object] | None = None,
        opened: Callable[[OpenedElsewhere], None] = lambda session: None,
    ) -> None:
        """A cluster is connected to; `aclose` leaves it. `workers` processes share the `concurrency`, and all
        else is as for the `LocalExecutor`."""
        self._setup = setup
        self._sessions = sessions
        self._watchers = watchers
        self._labels = labels or {}
        self._opened = opened
        self._at_once = max(1, -(-concurrency // workers)) * 3
        self._workers = [self._start() for _ in range(workers)]
        self._load = [0] * workers
        self._count = 0

    async def run(self, account: Account) -> RolloutResult:
        from ray.exceptions import RayActorError

        for attempt in range(1, MOST_TRIES + 1):
            place = min(range(len(self._workers)), key=self._load.__getitem__)
            worker = self._workers[place]
            self._load[place] += 1
            try:
                return await self._run_on(worker, account)
            except RayActorError as error:
                log.warning("a worker died while it ran row %d: %s", account.task.index, error)
                if self._workers[place] is worker:
                    self._workers[place] = self._start()
                reason = f"the workers that ran it died, {attempt} times"
            finally:
                self._load[place] -= 1
        return account.result(error=reason)

    async def aclose(self) -> None:
        import ray

        for worker in self._workers:
            ray.kill(worker)
        await asyncio.to_thread(ray.shutdown)

    def _start(self) -> Any:
        import ray

        # Three methods may be called while so many sessions run.
        options = {"max_concurrency": self._at_once, "scheduling_strategy": "SPREAD"}
        return ray.remote(Worker).options(**options).remote(self._setup)

    async def _run_on(self, worker: Any, account: Account) -> RolloutResult:
        """Run it on this worker; what an attempt before told is forgotten.

        Raises:
            RayActorError: the worker died.
        """
        account.reset()
        self._count += 1
        key = f"{os.getpid()}.{self._count}"
        labels = {**self._labels, "rollout": account.job.rollout}
        pieces = worker.run.options(num_returns="streaming").remote(key, account.task, labels)
        mirror = _Mirror(self, worker, key, account)
        taking = asyncio.create_task(mirror.take_all(pieces), name=f"pieces of {key}")
        try:
            await asyncio.shield(taking)
        except asyncio.CancelledError:
            await self._end(worker, key, taking)
            raise
        finally:
            await mirror.aclose()
        return account.result(error=mirror.refused)

    async def _end(self, worker: Any, key: str, taking: asyncio.Task[None]) -> None:
        """End the session where it runs, and wait for what still comes of it."""
        from ray.exceptions import RayError

        try:
            async with asyncio.timeout(_END_SECONDS):
                await worker.end.remote(key, "the run was stopped")
                await taking
        except (TimeoutError, RayError) as error:
            log.warning("session %s did not end in order: %s", key, error)

    def mirrored(self, opened: OpenedElsewhere, account: Account) -> None:
        """A session began somewhere: whoever wants its events gets them."""
        opened.bus.subscribe(account)
        for make in self._watchers:
            opened.bus.subscribe(make())
        self._opened(opened)

    @property
    def sessions(self) -> Path:
        """The folder of the sessions' folders, here."""
        return self._sessions


class _Mirror:
    """One session elsewhere, as its pieces come."""

    def __init__(self, executor: RayExecutor, worker: Any, key: str, account: Account) -> None:
        self.refused = ""
        self._executor = executor
        self._worker = worker
        self._key = key
        self._account = account
        self._opened: OpenedElsewhere | None = None

    async def take_all(self, pieces: AsyncIterator[Any]) -> None:
        """Take what comes until the session has ended; then its files are here too."""
        with tempfile.TemporaryFile() as packed:
            async for piece in pieces:
                self._take(await piece, packed)
            if self._opened is not None and packed.tell():
                packed.seek(0)
                await self._unpack(packed, self._opened.folder.path)

    def _take(self, piece: Piece, packed: IO[bytes]) -> None:
        match piece:
            case "opened", (str(name), bytes(meta)):
                self._open(name, meta)
            case "events", bytes(lines) if self._opened is not None:
                self._opened.take(lines)
            case "judge", (str(name), bytes(data)):
                self._judged_by(name, data)
            case "files", bytes(chunk):
                packed.write(chunk)
            case "refused", str(reason):
                self.refused = reason
            case _:
                log.warning("a worker sent what is not known: %s", piece[0])

    def _open(self, name: str, meta: bytes) -> None:
        folder = self._executor.sessions / Path(name).name
        try:
            self._executor.sessions.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder.mkdir(mode=0o700)
            (folder / "meta.json").touch(mode=0o600)
            (folder / "meta.json").write_bytes(meta)
        except OSError as error:
            raise UserError(f"cannot write the session to {folder}: {error.strerror}") from error
        self._opened = OpenedElsewhere(self._account.task, folder, self._act)
        self._account.session = folder.name
        self._executor.mirrored(self._opened, self._account)

    def _judged_by(self, name: str, data: bytes) -> None:
        """A judge's session, which nobody watched, comes over whole."""
        folder = self._executor.sessions / Path(name).name
        try:
            folder.mkdir(mode=0o700)
            unpack(io.BytesIO(data), folder)
        except (OSError, tarfile.TarError) as error:
            log.error("the judge's session %s did not come over: %s", folder.name, error)

    def _act(self, name: str, values: tuple[Any, ...], named: dict[str, Any]) -> None:
        self._worker.act.remote(self._key, name, values, named)

    async def _unpack(self, packed: IO[bytes], folder: Path) -> None:
        try:
            await asyncio.to_thread(unpack, packed, folder)
        except (OSError, tarfile.TarError) as error:
            log.error("the files of session %s did not come over: %s", folder.name, error)

    async def aclose(self) -> None:
        """Close the recording: what hung when the worker died gets an end."""
        if self._opened is not None:
            bus = self._opened.bus
            for event in closing_events(bus.read(1, bus.last_seq)):
                bus.repeat(event)
            await self._opened.aclose()


def connect(address: str) -> None:
    """Connect to the cluster at an address (`auto`: the one of this machine), or start one here ("").

    Raises:
        UserError: Ray is not installed, or there is no such cluster.
    """
    try:
        import ray
    except ImportError:
        raise UserError("--engine ray needs Ray: pip install 'agentscope-tui[ray]'") from None
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    options = {**_OPTIONS, "address": address} if address else {**_OPTIONS, "include_dashboard": False}
    try:
        ray.init(**options)
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise UserError(
            f"cannot connect to the Ray cluster {address or 'on this machine'}: {error}"
        ) from error


def setup_of(config: Config, launcher: Launcher) -> WorkerSetup:
    """What workers are told. No key is in it."""
    variables = {
        name: value
        for name, value in config.environ.items()
        if name.startswith("AGENTSCOPE_") and name != "AGENTSCOPE_HOME"
    }
    return WorkerSetup(
        dict(config.flags),
        config.chosen_tree(),
        variables,
        str(config.cwd),
        str(launcher.dataset),
        launcher.identity,
        launcher.model_name,
    )


def worker_count() -> int:
    """A worker for each processor of the cluster."""
    import ray

    resources: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]
    return max(1, int(resources.get("CPU", 1)))
