"""What `agentscope run` shows while it works: a panel on a terminal, else plain lines; on standard error, but
for the results, which are its output."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from agentscope_tui.batch.batch import Progress
from agentscope_tui.batch.results import RolloutResult
from agentscope_tui.options import RunOptions
from agentscope_tui.printable import printable

if TYPE_CHECKING:
    from rich.console import RenderableType

_LINE_EVERY = 10.0
"""Seconds between two lines of progress where there is no terminal."""
_FRAME = 0.25
_MARKS = {"done": "✓", "failed": "✗", "stopped": "■"}


class RunDisplay:
    """Tells of each result, and of all together."""

    def __init__(self, progress: Progress, options: RunOptions) -> None:
        self.options = options
        self._progress = progress
        self._print: Callable[[str], Any] = lambda line: print(line, file=sys.stderr)
        # What a program reads is JSON or events, or it is a transcript already.
        self._silent = options.as_json or options.events == "-" or options.transcript
        self._on_terminal = sys.stderr.isatty()

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Show the progress while this block runs."""
        if self.options.transcript:
            yield
        elif self._on_terminal:
            with self._panel():
                yield
        else:
            telling = asyncio.get_running_loop().create_task(self._tell_now_and_then(), name="progress")
            try:
                yield
            finally:
                telling.cancel()

    def ended(self, result: RolloutResult) -> None:
        """One more has ended."""
        if self.options.transcript:
            if result.state == "failed" and not result.session:
                self.say(f"row {result.row}: {result.error}")
        elif not self._silent and not self._on_terminal:
            print(printable(line_of(result)), flush=True)
        elif result.state == "failed":
            self._print(printable(line_of(result)))

    def say(self, text: str) -> None:
        """A remark of the program."""
        self._print(f"agentscope: {printable(text)}")

    @contextmanager
    def _panel(self) -> Iterator[None]:
        from rich.console import Console
        from rich.live import Live

        console = Console(stderr=True, highlight=False)
        with Live(console=console, get_renderable=self._drawn, refresh_per_second=1 / _FRAME, transient=True):
            before, self._print = self._print, lambda line: console.print(line, markup=False)
            try:
                yield
            finally:
                self._print = before

    def _drawn(self) -> RenderableType:
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        ended = self._progress.total - self._progress.left
        lines = Table.grid()
        lines.add_row(ProgressBar(total=max(1, self._progress.total), completed=ended, width=60))
        lines.add_row(Text(status_line(self._progress)))
        return lines

    async def _tell_now_and_then(self) -> None:
        with contextlib.suppress(asyncio.CancelledError):
            while True:
                await asyncio.sleep(_LINE_EVERY)
                self._print(status_line(self._progress))


def line_of(result: RolloutResult) -> str:
    """A result on a line: `✓ row 3  reward 1  2 calls  950 tokens  0.8 s  20261129-…`."""
    rollout = f".{result.rollout}" if result.rollout else ""
    parts = [f"{_MARKS[result.state]} row {result.row}{rollout}"]
    if result.reward is not None:
        parts.append(f"reward {result.reward:g}")
    parts += [f"{name} {value:g}" for name, value in result.metrics.items()]
    if result.calls:
        parts.append(f"{result.calls} call{'s' if result.calls > 1 else ''}")
    if tokens := result.input_tokens + result.output_tokens:
        parts.append(f"{tokens:,} tokens")
    parts.append(f"{result.seconds:.1f} s")
    parts += [text for text in (result.error, result.session) if text]
    return "  ".join(parts)


def status_line(progress: Progress) -> str:
    """How far it is: `120/1,000 · 8 running · 3 failed · reward 0.62 · 1,300 tok/s · $4 · 0:02:10 left`."""
    ended = progress.total - progress.left
    parts = [
        f"{ended:,}/{progress.total:,}",
        f"{len(progress.running):,} running",
        f"{progress.failed:,} failed",
    ]
    if progress.mean_reward is not None:
        parts.append(f"reward {progress.mean_reward:.3g}")
    parts.append(f"{progress.tokens_per_second:,.0f} tok/s")
    if progress.cost is not None:
        parts.append(f"${progress.cost:.4g}")
    parts.append(time_left(progress.seconds_left))
    return " · ".join(parts)


def time_left(seconds: float | None) -> str:
    """`0:02:10 left`; nothing is known before the first has ended."""
    return "… left" if seconds is None else f"{timedelta(seconds=round(seconds))} left"
