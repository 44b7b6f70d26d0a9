"""Runs of many rows behind the screen: the one that runs now, and what came of those before."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from agentscope_tui.batch.batch import Batch, Progress
from agentscope_tui.batch.local import LocalExecutor
from agentscope_tui.batch.results import RESULTS, Key, RolloutResult, read_results
from agentscope_tui.batch.rollout import Account
from agentscope_tui.batch.run_folder import RunFolder, RunInfo, read_run
from agentscope_tui.batch.selection import selected, spans_of
from agentscope_tui.batch.starting import jobs_of, new_name, run_info
from agentscope_tui.clock import Clock
from agentscope_tui.datasets.dataset import Dataset
from agentscope_tui.errors import UserError
from agentscope_tui.events import SessionEvent
from agentscope_tui.folders import runs_dir
from agentscope_tui.options import parse_rows, rows_text
from agentscope_tui.session.launch import Launcher
from agentscope_tui.session.open_session import OpenSession
from agentscope_tui.session.tally import TALLIED

log = logging.getLogger(__name__)

CONCURRENCY = 8
"""Sessions at a time, unless the user says otherwise."""
CLOSE_SECONDS = 2.0
"""How long quitting waits for the sessions of a run to end in order."""


@dataclass(eq=False)
class Run:
    """One run: `rows` are the indices of its rows, in order, `results` what came of its rollouts by now.

    `batch` runs them, if this process does or did; `problem` says why it could not go on.
    """

    path: Path
    info: RunInfo
    rows: Sequence[int]
    results: Mapping[Key, RolloutResult]
    progress: Progress
    batch: Batch | None = None
    problem: str = ""
    running: bool = False
    indices: frozenset[int] = field(init=False)

    def __post_init__(self) -> None:
        self.indices = frozenset(self.rows)

    @property
    def complete(self) -> bool:
        """Whether all rollouts have ended."""
        return not self.progress.left

    @property
    def state(self) -> str:
        """How it stands, in a word or a sentence."""
        stopped = self.batch.stopped_by if self.batch is not None else ""
        if self.running:
            return "no more rows are taken, those that run come to their end" if stopped else "running"
        if self.problem or stopped:
            return f"stopped: {self.problem or stopped}"
        return "done" if self.complete else "not complete"


@dataclass(frozen=True)
class RowRollouts:
    """What a run makes of one row: `total` rollouts are wanted; some run, some have ended, others wait."""

    total: int
    running: Sequence[Account]
    ended: Sequence[RolloutResult]

    @property
    def newest(self) -> str:
        """The id of the session that began last; empty: there was none."""
        ids = [*(account.session for account in self.running), *(result.session for result in self.ended)]
        return max(ids, default="")


class Batches:
    """The runs of the open dataset, one at a time. All calls are made on the event loop."""

    def __init__(self, launcher: Launcher, clock: Clock | None = None) -> None:
        self._launcher = launcher
        self._clock = clock or Clock()
        self._runs = runs_dir(launcher.state)
        self._task: asyncio.Task[None] | None = None
        self._changed: set[int] = set()
        self._ended: list[Run] = []
        self._starting = False
        self._kept: dict[Path, tuple[object, Run]] = {}
        self.run: Run | None = None
        """The run whose rows are shown: the one that runs, else the one that was started or chosen last."""
        self.opened: dict[str, OpenSession] = {}
        """The sessions that run in it now, by id."""
        self.concurrency = CONCURRENCY
        """Sessions at a time, as they were asked for last."""

    @property
    def running(self) -> Run | None:
        """The run that runs now."""
        return self.run if self.run is not None and self.run.running else None

    async def start(self, dataset: Dataset, rows: Sequence[int], *, rollouts: int, concurrency: int) -> Run:
        """Run these rows, `rollouts` times each.

        Raises:
            UserError: another run is under way, something that no row can do without is missing, or its
                folder cannot be written.
        """
        with self._alone():
            now = self._clock.now()
            await asyncio.to_thread(self._launcher.check)
            name = new_name(self._launcher, self._runs, now)
            text = rows_text(spans_of(rows))
            info = run_info(self._launcher, name, now, rows=text, rollouts=rollouts)
            folder = await asyncio.to_thread(RunFolder, self._runs / name, info)
            return self._begin(dataset, folder, rows, concurrency)

    async def resume(self, dataset: Dataset, path: Path, *, retry_failed: bool = False) -> Run:
        """Run what an earlier run did not come to; with `retry_failed` also what failed in it.

        Raises:
            UserError: as `start`; or the dataset, the agent, the model or the settings are others now.
        """
        with self._alone():
            await asyncio.to_thread(self._launcher.check)
            before, rows = await asyncio.to_thread(_read, dataset, path)
            info = run_info(
                self._launcher, before.name, before.created, rows=before.rows, rollouts=before.rollouts
            )
            folder = await asyncio.to_thread(partial(RunFolder, path, info, goes_on=True))
            return self._begin(dataset, folder, rows, self.concurrency, retry_failed=retry_failed)

    async def show(self, dataset: Dataset, path: Path) -> Run:
        """Have the rows show what came of an earlier run.

        Raises:
            UserError: another run is under way, or it cannot be read.
        """
        with self._alone():
            run = await asyncio.to_thread(read_whole_run, dataset, path)
            self._take(run)
            return run

    async def known(self, dataset: Dataset) -> list[Run]:
        """The runs of this dataset that are kept in the state folder, the newest first.

        Raises:
            UserError: its rows are not all counted yet.
        """
        return await asyncio.to_thread(self._known, dataset)

    def _known(self, dataset: Dataset) -> list[Run]:
        """In a thread. What has not changed on disk is not read again."""
        _refuse_uncounted(dataset)
        found: dict[Path, tuple[object, Run]] = {}
        for path in sorted(self._runs.glob("*"), reverse=True):
            try:
                info = read_run(path)
                if info is None or info.dataset_identity != dataset.identity():
                    continue
                place = _place(path)
                before = self._kept.get(path)
                unchanged = before is not None and before[0] == place
                found[path] = before if unchanged and before else (place, read_whole_run(dataset, path))
            except UserError as error:
                # The others are as good as before.
                log.warning("a run is left out: %s", error)
        self._kept = found
        return [run for _, run in found.values()]

    def rollouts_of(self, index: int) -> RowRollouts | None:
        """What the run that is shown makes of a row; None: nothing by now."""
        run = self.run
        if run is None or index not in run.indices:
            return None
        keys = [(index, rollout) for rollout in range(run.info.rollouts)]
        running = [account for key in keys if (account := run.progress.running.get(key)) is not None]
        busy = {account.job.key for account in running}
        ended = [result for key in keys if key not in busy and (result := run.results.get(key)) is not None]
        return RowRollouts(len(keys), running, ended) if running or ended else None

    def take_changed(self) -> set[int]:
        """The indices of the rows that stand otherwise since the last time."""
        changed, self._changed = self._changed, set()
        return changed

    def take_ended(self) -> list[Run]:
        """The runs that have ended since the last time."""
        ended, self._ended = self._ended, []
        return ended

    async def aclose(self) -> None:
        """Interrupt what runs; what came of it until then is kept."""
        if self._task is None or self.run is None or self.run.batch is None:
            return
        self.run.batch.interrupt("agentscope was left")
        await asyncio.wait([self._task], timeout=CLOSE_SECONDS)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        if self._starting or self.running is not None:
            raise UserError("a run is under way: wait for its end, or stop it")
        self._starting = True
        try:
            yield
        finally:
            self._starting = False

    def _begin(
        self,
        dataset: Dataset,
        folder: RunFolder,
        rows: Sequence[int],
        concurrency: int,
        *,
        retry_failed: bool = False,
    ) -> Run:
        keys = [(index, rollout) for index in rows for rollout in range(folder.info.rollouts)]
        due = [*folder.due(keys, retry_failed=retry_failed)]
        earlier = [folder.results[key] for key in {*keys} - {*due}]
        progress = Progress(len(keys), earlier)
        run = Run(folder.path, folder.info, rows, folder.results, progress, running=True)
        self.concurrency = concurrency
        executor = LocalExecutor(self._launcher, labels={"run": run.info.name}, opened=self._session_opened)
        run.batch = Batch(
            jobs_of(dataset, due),
            executor,
            progress,
            concurrency=concurrency,
            keep=partial(self._keep, folder),
        )
        self._take(run)
        self._task = asyncio.create_task(self._run(run, run.batch, folder), name="batch")
        return run

    def _take(self, run: Run) -> None:
        """Show the rows of this run from now on."""
        before = self.run
        self._changed |= run.indices | (before.indices if before is not None else frozenset())
        self.run = run

    async def _run(self, run: Run, batch: Batch, folder: RunFolder) -> None:
        try:
            await batch.run()
        except UserError as error:
            run.problem = str(error)
        except Exception as error:
            log.exception("the run %s broke off", run.path)
            run.problem = f"agentscope failed: {type(error).__name__}: {error} (see the log file)"
        finally:
            folder.close()
            self.opened.clear()
            run.running = False
            self._ended.append(run)

    def _session_opened(self, opened: OpenSession) -> None:
        index = opened.task.index
        self.opened[opened.folder.path.name] = opened

        def note(event: SessionEvent) -> None:
            if event.kind in TALLIED:
                self._changed.add(index)

        opened.bus.subscribe(note)

    def _keep(self, folder: RunFolder, result: RolloutResult) -> None:
        self.opened.pop(result.session, None)
        self._changed.add(result.row)
        folder.add(result)


def read_whole_run(dataset: Dataset, path: Path) -> Run:
    """An earlier run, for a thread.

    Raises:
        UserError: it cannot be read, or names rows that the dataset does not have.
    """
    info, rows = _read(dataset, path)
    try:
        results = read_results(path)
    except OSError as error:
        raise UserError(f"the results in {path} cannot be read: {error.strerror or error}") from error
    wanted = {(index, rollout) for index in rows for rollout in range(info.rollouts)}
    kept = {key: result for key, result in results.items() if key in wanted}
    return Run(path, info, rows, kept, Progress(len(wanted), kept.values()))


def _read(dataset: Dataset, path: Path) -> tuple[RunInfo, Sequence[int]]:
    _refuse_uncounted(dataset)
    info = read_run(path)
    if info is None:
        raise UserError(f"there is no run in {path}")
    return info, list(selected(dataset, parse_rows(info.rows or None), lambda: None))


def _refuse_uncounted(dataset: Dataset) -> None:
    if not dataset.complete:
        raise UserError("the rows are still being counted: try again in a moment")


def _place(path: Path) -> object:
    """What is another value once more results are there."""
    try:
        stat = (path / RESULTS).stat()
    except OSError:
        return None
    return stat.st_size, stat.st_mtime_ns
