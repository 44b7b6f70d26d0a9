"""`agentscope run`: rows to the end without a screen; nothing pauses, and a failed call fails the turn."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TextIO

from agentscope_tui.batch.batch import Batch, Executor, Progress
from agentscope_tui.batch.local import LocalExecutor
from agentscope_tui.batch.printer import TranscriptPrinter
from agentscope_tui.batch.processes import ProcessExecutor, processes_for, setup_of, undivided_because
from agentscope_tui.batch.results import RolloutResult
from agentscope_tui.batch.run_folder import SESSIONS, RunFolder, newest_like
from agentscope_tui.batch.selection import selected
from agentscope_tui.batch.starting import jobs_of, new_name, run_info
from agentscope_tui.batch.summary import conclusion, summary
from agentscope_tui.bus import Callback
from agentscope_tui.clock import Clock
from agentscope_tui.config import Config
from agentscope_tui.datasets.dataset import Dataset
from agentscope_tui.errors import UsageError, UserError
from agentscope_tui.event_lines import event_to_json
from agentscope_tui.events import SessionEvent
from agentscope_tui.folders import open_state_dir, runs_dir
from agentscope_tui.options import Options, RunOptions, rows_text
from agentscope_tui.printable import printable
from agentscope_tui.progress import progress_bar
from agentscope_tui.run_display import RunDisplay
from agentscope_tui.session.launch import Launcher, open_rows
from agentscope_tui.store.together import in_the_loop
from agentscope_tui.trust import remember_own

FAILED, STOPPED_BY_ERROR, INTERRUPTED = 1, 3, 130
"""Exit codes: a rollout failed; an error that all would meet ended the run; ctrl+c did, as shells have it."""


def run_rows(config: Config, options: RunOptions) -> int:
    """Run the rows; gives the exit code.

    Raises:
        UserError: dataset, row, model or grader cannot be had, or the run's folder cannot be used.
    """
    sessions = None if options.out is None else options.out / SESSIONS
    launcher, dataset = open_rows(config, Options(options.dataset), sessions=sessions)
    # Whoever waits here looks at no screen that a piece of work on files could hold up.
    with in_the_loop():
        return asyncio.run(_run_and_close(config, launcher, dataset, options))


async def _run_and_close(config: Config, launcher: Launcher, dataset: Dataset, options: RunOptions) -> int:
    try:
        return await _run(config, launcher, dataset, options)
    finally:
        dataset.close()
        await launcher.aclose()


async def _run(config: Config, launcher: Launcher, dataset: Dataset, options: RunOptions) -> int:
    await _refuse_unconfined(launcher)
    _check_processes(config, launcher, options)
    if guesses := dataset.columns.guesses:
        print(f"agentscope: columns: {printable(guesses)}", file=sys.stderr)
    rows = selected(dataset, options.rows, lambda: _scan(dataset))
    keys = [(index, rollout) for index in rows for rollout in range(options.rollouts)]
    with _folder(config, launcher, options) as folder, _watchers(options) as watchers:
        due = keys if folder is None else [*folder.due(keys, retry_failed=options.retry_failed)]
        results = {} if folder is None else {key: folder.results[key] for key in {*keys} - {*due}}
        progress = Progress(len(keys), results.values())
        labels = {} if folder is None else {"run": folder.info.name}
        executor = await _executor(
            config, launcher, options, max(1, min(options.concurrency, len(due))), watchers, labels
        )
        display = RunDisplay(progress, options)

        def keep(result: RolloutResult) -> None:
            results[result.key] = result
            if folder is not None:
                folder.add(result)
            display.ended(result)

        batch = Batch(jobs_of(dataset, due), executor, progress, concurrency=options.concurrency, keep=keep)
        with _stopping(batch, display), display.shown():
            await _run_batch(batch, executor)
    path = None if folder is None else folder.path
    if options.as_json:
        print(json.dumps(summary(progress, results.values(), path), indent=2))
    elif not options.transcript:
        out = sys.stderr if options.events == "-" else sys.stdout
        print("\n".join(conclusion(progress, path)), file=out)
    sys.stdout.flush()
    if batch.fatal:
        print(f"agentscope: stopped: {printable(batch.stopped_by)}", file=sys.stderr)
        return STOPPED_BY_ERROR
    if batch.stopped_by:
        return INTERRUPTED
    return FAILED if progress.failed else 0


async def _executor(
    config: Config,
    launcher: Launcher,
    options: RunOptions,
    concurrency: int,
    watchers: Sequence[Callable[[], Callback]],
    labels: Mapping[str, object],
) -> Executor:
    """What runs so many sessions at a time: this process, several, or a cluster."""
    engine, _, where = options.engine.partition(":")
    if engine == "local":
        processes = int(where) if where else processes_for(concurrency)
        if processes == 1 or _whole(config, launcher, options):
            return LocalExecutor(launcher, watchers=watchers, labels=labels)
        return ProcessExecutor(setup_of(config, launcher, labels), processes)
    from agentscope_tui.batch import ray_engine

    print("agentscope: connecting to Ray …", file=sys.stderr)
    ray_engine.connect(where)
    return ray_engine.RayExecutor(
        ray_engine.setup_of(config, launcher),
        launcher.sessions,
        workers=min(ray_engine.worker_count(), concurrency),
        concurrency=concurrency,
        watchers=watchers,
        labels=labels,
    )


def _check_processes(config: Config, launcher: Launcher, options: RunOptions) -> None:
    """Refuse several processes where only one can run the sessions, before anything is written."""
    engine, _, asked = options.engine.partition(":")
    if engine == "local" and asked not in ("", "1") and (whole := _whole(config, launcher, options)):
        raise UsageError(f"--engine {options.engine}: only one process can run these sessions: {whole}")


def _whole(config: Config, launcher: Launcher, options: RunOptions) -> str:
    """Why the sessions stay in one process; empty: several can share them."""
    watched = options.transcript or options.events is not None
    return "what happens in them is told here" if watched else undivided_because(config, launcher)


def _scan(dataset: Dataset) -> None:
    with progress_bar() as tell:
        dataset.scan(threading.Event(), lambda count: tell(0, None, f"counting rows: {count:,}"))


async def _run_batch(batch: Batch, executor: Executor) -> None:
    try:
        await batch.run()
    finally:
        await executor.aclose()


@contextmanager
def _stopping(batch: Batch, display: RunDisplay) -> Iterator[None]:
    """ctrl+c once lets what runs come to its end, twice interrupts it; SIGTERM interrupts it at once."""
    loop = asyncio.get_running_loop()

    def on_interrupt() -> None:
        if batch.stopped_by or display.options.transcript:
            batch.interrupt("interrupted")
        else:
            batch.finish("interrupted")
            display.say("no more rows are taken, the running ones come to their end: ctrl+c again ends them")

    loop.add_signal_handler(signal.SIGINT, on_interrupt)
    loop.add_signal_handler(signal.SIGTERM, partial(batch.interrupt, "ended by a signal"))
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGINT)
        loop.remove_signal_handler(signal.SIGTERM)


@contextmanager
def _folder(config: Config, launcher: Launcher, options: RunOptions) -> Iterator[RunFolder | None]:
    """The folder that keeps the results; None for single rows that are only looked at."""
    if options.transcript and options.out is None:
        yield None
        return
    folder = _open_folder(config, launcher, options)
    try:
        yield folder
    finally:
        folder.close()


def _open_folder(config: Config, launcher: Launcher, options: RunOptions) -> RunFolder:
    now = Clock().now()
    runs = runs_dir(open_state_dir(config.environ))
    name = options.out.name if options.out else new_name(launcher, runs, now)
    info = run_info(launcher, name, now, rows=rows_text(options.rows), rollouts=options.rollouts)
    if options.out is not None:
        path = options.out
    elif options.goes_on:
        path = newest_like(info, runs)
    else:
        path = runs / info.name
    folder = RunFolder(path, info, goes_on=options.goes_on)
    remember_own(config.state, path)
    return folder


async def _refuse_unconfined(launcher: Launcher) -> None:
    if reason := await launcher.unconfined_reason():
        raise UsageError(
            f"nothing can confine the agent's tools here ({reason}): "
            "use --no-sandbox if they may run as you, with your files and your network"
        )


@contextmanager
def _watchers(options: RunOptions) -> Iterator[Sequence[Callable[[], Callback]]]:
    """Who sees the events of each session, made anew for each: a transcript, or events as JSON lines, or both
    when these go to a file."""
    transcript = [lambda: TranscriptPrinter(sys.stdout)] if options.transcript else []
    if options.events is None:
        yield transcript
    elif options.events == "-":
        yield [lambda: _event_writer(sys.stdout)]
    else:
        with _opened(options.events) as file:
            yield [*transcript, lambda: _event_writer(file)]


def _opened(path: str) -> TextIO:
    try:
        return Path(path).open("w", encoding="utf-8")
    except OSError as error:
        raise UserError(f"cannot write events to {path}: {error.strerror}") from error


def _event_writer(out: TextIO) -> Callback:
    def write(event: SessionEvent) -> None:
        out.write(event_to_json(event) + "\n")
        out.flush()

    return write
