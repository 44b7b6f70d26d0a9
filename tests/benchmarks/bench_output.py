"""The output pane against Textual's `RichLog` and `Log`: lines a second, keys while lines come, memory.

`python tests/benchmarks/bench_output.py` prints the figures. Times are of this machine and mean little;
the ratios are the result. Nothing here is a test.
"""

from __future__ import annotations

import asyncio
import gc
import statistics
import sys
import time
import tracemalloc
from abc import ABC, abstractmethod
from collections.abc import Callable

import pexpect
from rich.text import Text
from textual.app import App, ComposeResult
from textual.widget import Widget
from textual.widgets import Log, RichLog, Static

from agentscope_widgets.output_buffer import OutputBuffer
from agentscope_widgets.output_view import OutputView

RATES = {"OutputView": 20_000, "RichLog": 1_000, "Log": 20_000}
"""Lines a second while keys are pressed. `RichLog` answers no key at all at 20,000."""
BATCH = 700
FRAMES = 30
KEYS = 40
PATIENCE = 20
"""Seconds."""
LINE = "{:06} collected tests/test_parser.py::test_case[{}] ok"
COLOURED = "\x1b[32m{:06}\x1b[0m collected tests/test_parser.py::test_case[\x1b[1m{}\x1b[0m] ok"


class Pane(ABC):
    """A widget and how lines come into it."""

    widget: Widget

    @abstractmethod
    def write(self, lines: list[str]) -> None:
        """Show these lines after those that are there."""


class OurPane(Pane):
    def __init__(self) -> None:
        self.widget = self.view = OutputView()
        self.buffer = OutputBuffer()

    def write(self, lines: list[str]) -> None:
        self.buffer.write("stdout", "\n".join(lines) + "\n")
        self.view.show(self.buffer)


class RichPane(Pane):
    def __init__(self) -> None:
        self.widget = self.log = RichLog()

    def write(self, lines: list[str]) -> None:
        for line in lines:
            self.log.write(Text.from_ansi(line) if "\x1b" in line else line)


class LogPane(Pane):
    def __init__(self) -> None:
        self.widget = self.log = Log()

    def write(self, lines: list[str]) -> None:
        self.log.write_lines(lines)


PANES: dict[str, Callable[[], Pane]] = {"OutputView": OurPane, "RichLog": RichPane, "Log": LogPane}


class Bench(App[None]):
    """A pane, and how many keys were seen; with a `rate` lines come all the time."""

    def __init__(self, pane: Pane, rate: int = 0) -> None:
        super().__init__()
        self.pane = pane
        self.rate = rate
        self.keys = 0
        self.lines = 0
        self.seen = Static("ready ", markup=False)
        self.started = 0.0

    def compose(self) -> ComposeResult:
        yield self.seen
        yield self.pane.widget

    def on_mount(self) -> None:
        self.started = time.perf_counter()
        if self.rate:
            self.set_interval(1 / FRAMES, self._feed)

    def _feed(self) -> None:
        due = int((time.perf_counter() - self.started) * self.rate)
        self.pane.write([LINE.format(number, number) for number in range(self.lines, due)])
        self.lines = due

    def on_key(self) -> None:
        self.keys += 1
        self.seen.update(f"key {self.keys} ")


async def lines_a_second(pane: Pane, line: str, count: int) -> float:
    """Batches as fast as they are taken, until the last is drawn."""
    app = Bench(pane)
    async with app.run_test(size=(120, 40)):
        start = time.perf_counter()
        for first in range(0, count, BATCH):
            pane.write([line.format(number, number) for number in range(first, first + BATCH)])
            await asyncio.sleep(0)
        drawn = asyncio.Event()
        app.call_after_refresh(drawn.set)
        await drawn.wait()
        return count / (time.perf_counter() - start)


async def bytes_a_line(pane: Pane, count: int) -> float:
    app = Bench(pane)
    async with app.run_test(size=(120, 40)) as pilot:
        gc.collect()
        tracemalloc.start()
        for first in range(0, count, 1_000):
            pane.write([LINE.format(number, number) for number in range(first, first + 1_000)])
        await pilot.pause()
        gc.collect()
        size, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return size / count


def key_times(name: str) -> tuple[list[float], int]:
    """Milliseconds from key to screen on a terminal while lines come, and the lines that came a second.

    A pane that does not answer within `PATIENCE` gets that time for every key, and 0 lines.
    """
    child = pexpect.spawn(sys.executable, [__file__, name], dimensions=(40, 120), timeout=PATIENCE)
    child.expect("ready ")
    child.delaybeforesend = None
    times: list[float] = []
    for number in range(1, KEYS + 1):
        time.sleep(0.05)
        start = time.perf_counter()
        child.send("k")
        if child.expect_exact([f"key {number} ", pexpect.TIMEOUT]):
            child.close(force=True)
            return [PATIENCE * 1000.0] * KEYS, 0
        times.append((time.perf_counter() - start) * 1000)
    child.send("\x11")
    child.expect(r"came (\d+) a second")
    rate = int(child.match[1]) if child.match else 0
    child.expect(pexpect.EOF)
    return times, rate


def scroll_times(count: int) -> dict[str, float]:
    """Milliseconds for what a user does in an output of which most is on disk."""

    async def run() -> dict[str, float]:
        pane = OurPane()
        app = Bench(pane)
        async with app.run_test(size=(120, 40)) as pilot:
            for first in range(0, count, 1_000):
                pane.write([COLOURED.format(number, number) for number in range(first, first + 1_000)])
            await pilot.pause()
            times: dict[str, float] = {}
            for what, act in (
                ("home", pane.view.action_go_start),
                ("page down", lambda: pane.view.action_scroll_page(1)),
                ("end", pane.view.action_go_end),
                ("wrap off", pane.view.action_toggle_wrap),
                ("wrap on", pane.view.action_toggle_wrap),
            ):
                start = time.perf_counter()
                act()
                pane.view.render_lines(pane.view.size.region)
                times[what] = (time.perf_counter() - start) * 1000
            return times

    return asyncio.run(run())


def compared(what: str, figures: dict[str, float], unit: str, *, more_is_better: bool) -> None:
    ours = figures["OutputView"]
    for name, figure in figures.items():
        ratio = ours / figure if more_is_better else figure / ours
        against = "" if name == "OutputView" else f"  OutputView is {ratio:,.1f} times better"
        print(f"{what:<34}{name:<12}{figure:>12,.1f} {unit}{against}")


def main() -> None:
    for what, line in (("plain", LINE), ("coloured", COLOURED)):
        counts = {"OutputView": 200_000, "RichLog": 10_000, "Log": 100_000}
        figures = {
            name: asyncio.run(lines_a_second(make(), line, counts[name]))
            for name, make in PANES.items()
            if what == "plain" or name != "Log"
        }
        compared(f"lines a second, {what}", figures, "/s", more_is_better=True)
    for count in (20_000, 200_000):
        figures = {
            name: asyncio.run(bytes_a_line(make(), count))
            for name, make in PANES.items()
            if count < 100_000 or name == "OutputView"
        }
        compared(f"bytes a line, {count:,} lines", figures, "B", more_is_better=False)
    times = {name: key_times(name) for name in PANES}
    for part, of in (("p50", 50), ("p95", 95)):
        figures = {name: statistics.quantiles(times[name][0], n=100)[of - 1] for name in PANES}
        compared(f"key to screen, {part}", figures, "ms", more_is_better=False)
    for name in PANES:
        print(f"{'lines a second while keys came':<34}{name:<12}{times[name][1]:>12,}")
    for what, milliseconds in scroll_times(300_000).items():
        print(f"300,000 coloured lines, {what:<22}{milliseconds:>12.1f} ms")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        bench = Bench(PANES[sys.argv[1]](), RATES[sys.argv[1]])
        bench.run()
        print(f"came {bench.lines / (time.perf_counter() - bench.started):.0f} a second")
    else:
        main()
