"""`agentscope run`: rows to the end without a screen; nothing pauses, and a failed call fails the turn."""

from __future__ import annotations

import asyncio
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import aclosing, contextmanager
from pathlib import Path
from typing import TextIO

from agentscope_tui.batch.printer import TranscriptPrinter
from agentscope_tui.config import Config
from agentscope_tui.datasets.dataset import Dataset
from agentscope_tui.datasets.task import RowError, Task
from agentscope_tui.errors import UsageError, UserError
from agentscope_tui.event_lines import event_to_json
from agentscope_tui.events import SessionEvent
from agentscope_tui.options import Options
from agentscope_tui.printable import printable
from agentscope_tui.session.launch import Launcher, open_rows
from agentscope_tui.session.state import SessionState

Show = Callable[[SessionEvent], None]

INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells have it."""


def run_rows(config: Config, options: Options) -> int:
    """Run the rows one after the other; 0 when all were done, 1 when some row failed with an error.

    Raises:
        UserError: dataset, row, model or grader cannot be had.
    """
    launcher, dataset = open_rows(config, options)
    try:
        return asyncio.run(_run_and_close(launcher, dataset, options))
    except asyncio.CancelledError:
        return INTERRUPTED


async def _run_and_close(launcher: Launcher, dataset: Dataset, options: Options) -> int:
    try:
        return await _run(launcher, dataset, options)
    finally:
        dataset.close()
        await launcher.aclose()


async def _run(launcher: Launcher, dataset: Dataset, options: Options) -> int:
    loop = asyncio.get_running_loop()
    main = asyncio.current_task()
    assert main is not None
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, main.cancel)
    await _refuse_unconfined(launcher)
    if guesses := dataset.columns.guesses:
        print(f"agentscope: columns: {printable(guesses)}", file=sys.stderr)
    failed = False
    with _output(options) as shows:
        for row in _rows(dataset, options):
            if isinstance(row, RowError):
                print(f"agentscope: {printable(str(row))}", file=sys.stderr)
                failed = True
            else:
                failed |= not await _run_row(launcher, row, shows)
    return 1 if failed else 0


def _rows(dataset: Dataset, options: Options) -> Iterator[Task | RowError]:
    if options.rows:
        yield from [dataset.row(index) for index in options.rows]
        return
    dataset.scan(threading.Event(), lambda count: None)
    for position in range(len(dataset)):
        yield dataset.row_at(position)


async def _run_row(launcher: Launcher, task: Task, shows: list[Show]) -> bool:
    """Run one row to its end; whether it was done without an error."""
    state = SessionState()
    try:
        async with aclosing(await launcher.open(task, patient=False)) as opened:
            for callback in (state.apply, *shows):
                opened.bus.subscribe(callback)
            await opened.start()
            await opened.session.settled()
    except UserError as error:
        print(f"agentscope: row {task.index}: {printable(str(error))}", file=sys.stderr)
        return False
    return state.outcome == "completed" and state.grade_error is None and state.status != "failed"


async def _refuse_unconfined(launcher: Launcher) -> None:
    if reason := await launcher.unconfined_reason():
        raise UsageError(
            f"nothing can confine the agent's tools here ({reason}): "
            "use --no-sandbox if they may run as you, with your files and your network"
        )


@contextmanager
def _output(options: Options) -> Iterator[list[Show]]:
    """Where a run shows itself: a transcript, or events as JSON lines, or both when these go to a file."""
    if options.events is None:
        yield [TranscriptPrinter(sys.stdout)]
    elif options.events == "-":
        yield [_event_writer(sys.stdout)]
    else:
        with _opened(options.events) as file:
            yield [TranscriptPrinter(sys.stdout), _event_writer(file)]


def _opened(path: str) -> TextIO:
    try:
        return Path(path).open("w", encoding="utf-8")
    except OSError as error:
        raise UserError(f"cannot write events to {path}: {error.strerror}") from error


def _event_writer(out: TextIO) -> Show:
    def write(event: SessionEvent) -> None:
        out.write(event_to_json(event) + "\n")
        out.flush()

    return write
