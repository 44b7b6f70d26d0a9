"""Keys in the rows while a thread reads a large file, against a minimal Textual app, in one run.

`python tests/benchmarks/bench_rows.py [DATASET]` prints the figures; without a file it writes one of 1 GB in
a temporary folder. Times are of this machine and mean little; the ratios are the result.
"""

from __future__ import annotations

import asyncio
import gc
import json
import random
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.reactive import reactive
from textual.widget import Widget
from textual.widgets import Static

from agentscope_tui.datasets.dataset import Dataset
from agentscope_tui.datasets.expression import parse_expression
from agentscope_tui.datasets.query import Order, find, ordered
from agentscope_tui.datasets.query import search as search_rows
from agentscope_tui.datasets.source import open_dataset
from agentscope_tui.tui.present.rows import COLUMNS, cells_of
from agentscope_widgets.row_list import RowCells, RowList

SIZE = (120, 40)
KEYS = 150
Latency = tuple[float, float]


class Minimal(Static, can_focus=True):
    """The least that answers a key: a number."""

    BINDINGS = [Binding("down,pagedown", "add")]
    cursor: reactive[int] = reactive(0)

    def action_add(self) -> None:
        self.cursor += 1
        self.update(str(self.cursor))


class Rows:
    """A dataset as the list shows it, without sessions."""

    def __init__(self, dataset: Dataset) -> None:
        self._dataset = dataset

    def __len__(self) -> int:
        return len(self._dataset)

    def cells(self, position: int) -> RowCells:
        row, raw = self._dataset.row_at(position), self._dataset.raw_at(position)
        return cells_of(row, raw, ["prompt"], session=None, standing=None, marked=False)


class Bench(App[None]):
    """One widget, full screen."""

    def __init__(self, widget: Widget) -> None:
        super().__init__()
        self.widget = widget

    def compose(self) -> ComposeResult:
        yield self.widget

    def on_mount(self) -> None:
        self.widget.focus()


async def latency(widget: Minimal | RowList, key: str, prepare: Callable[[], None] | None = None) -> Latency:
    """Median and 95th percentile of the seconds from a key to the frame that shows it."""
    app = Bench(widget)
    times = []
    async with app.run_test(size=SIZE) as pilot:
        if prepare is not None:
            prepare()
        await pilot.pause()
        for _ in range(KEYS):
            before, start = widget.cursor, time.perf_counter()
            app.simulate_key(key)
            while widget.cursor == before:  # noqa: ASYNC110
                await asyncio.sleep(0)
            drawn = asyncio.Event()
            widget.call_after_refresh(drawn.set)
            await drawn.wait()
            times.append(time.perf_counter() - start)
            await asyncio.sleep(0.01)
    return statistics.median(times), statistics.quantiles(times, n=20)[-1]


async def with_work(path: Path, key: str, work: Callable[[Dataset, threading.Event], object]) -> Latency:
    """Keys in the rows while a thread does something over and over."""
    dataset = open_dataset(path)
    if work is not index:
        dataset.scan(threading.Event(), lambda count: None)
    stop = threading.Event()

    def again() -> None:
        while not stop.is_set():
            work(dataset, stop)

    thread = threading.Thread(target=again)
    rows = RowList()
    rows_source = Rows(dataset)
    thread.start()
    try:
        return await latency(rows, key, lambda: rows.set_source(rows_source, COLUMNS))
    finally:
        stop.set()
        await asyncio.to_thread(thread.join)
        dataset.close()


def index(dataset: Dataset, stop: threading.Event) -> None:
    """Count the rows of the file anew."""
    again = open_dataset(dataset.path)
    again.scan(stop, lambda count: None)
    again.close()


def search(dataset: Dataset, stop: threading.Event) -> None:
    for _ in search_rows(dataset, "no such text", stop):
        pass


def filter_(dataset: Dataset, stop: threading.Event) -> None:
    for _ in find(dataset, parse_expression('"no" in question and level > 3').matches, {}, stop):
        pass


def sort(dataset: Dataset, stop: threading.Event) -> None:
    for _ in ordered(dataset, Order("row.question"), {}, stop, among=None):
        pass


def written(folder: Path, rows: int = 1_000_000) -> Path:
    """A file of rows of about 1 KB."""
    chance = random.Random(1)
    words = ["the", "tax", "of", "a", "number", "sum", "find", "total", "price", "train", "speed", "hour"]
    texts = [" ".join(chance.choices(words, k=180)) for _ in range(500)]
    path = folder / "rows.jsonl"
    with path.open("w") as file:
        for number in range(rows):
            row = {"id": number, "question": f"{number} {texts[number % 500]}", "level": number % 7}
            file.write(json.dumps(row) + "\n")
    return path


def report(name: str, times: Latency, base: Latency) -> None:
    shown = f"{times[0] * 1000:6.1f} ms{times[1] * 1000:8.1f} ms"
    print(f"{name:<32}{shown}   {times[0] / base[0]:4.1f}x {times[1] / base[1]:4.1f}x")


async def main() -> None:
    # As the app does before it starts.
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(sys.argv[1]) if len(sys.argv) > 1 else written(Path(folder))
        print(f"{'key to frame':<32}{'p50':>6}   {'p95':>8}      against a minimal app")
        base = await latency(Minimal(), "down")
        report("minimal app, down", base, base)
        works = {"nothing": lambda dataset, stop: stop.wait(0.05), "indexing": index, "searching": search}
        for name, work in {**works, "filtering": filter_, "sorting": sort}.items():
            for key in ("down", "pagedown"):
                report(f"{name}, {key}", await with_work(path, key, work), base)


if __name__ == "__main__":
    asyncio.run(main())
