"""The panes against Textual's own widgets on the same load, in one run.

`python tests/benchmarks/bench_panes.py` prints the figures. Times are of this machine and mean little;
the ratios are the result. Nothing here is a test.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

from textual.app import App, ComposeResult
from textual.containers import VerticalScroll
from textual.widget import Widget
from textual.widgets import Log, Markdown, RichLog, Static

from agentscope_widgets.blocks import Block
from agentscope_widgets.output_buffer import OutputBuffer
from agentscope_widgets.output_view import OutputView
from agentscope_widgets.row_list import RowCells, RowList
from agentscope_widgets.transcript import Transcript

MESSAGE = """The reader drops the **last** line, see `parse()`:

1. it splits on newlines only
2. the final chunk has none

```python
def parse(text: str) -> list[str]:
    return text.split("\\n")  # keeps the last one
```

| file | lines |
|------|------:|
| src/parser.py | 12 |
"""
LINES = [f"{number:06} collected tests/test_parser.py::test_case[{number}] ok" for number in range(20_000)]
SIZE = (120, 40)


class Bench(App[None]):
    """One widget, full screen."""

    def __init__(self, widget: Widget) -> None:
        super().__init__()
        self.widget = widget

    def compose(self) -> ComposeResult:
        yield self.widget


async def measured(widget: Widget, load: Callable[[], Awaitable[None] | None]) -> float:
    """Seconds until the load is on the screen."""
    app = Bench(widget)
    async with app.run_test(size=SIZE):
        start = time.perf_counter()
        pending = load()
        if pending is not None:
            await pending
        drawn = asyncio.Event()
        app.call_after_refresh(drawn.set)
        widget.refresh()
        await drawn.wait()
        return time.perf_counter() - start


def blocks(count: int) -> list[Block]:
    return [
        Block(f"b{number}", title="assistant", body=MESSAGE, format="markdown") for number in range(count)
    ]


async def open_transcript(count: int) -> float:
    transcript = Transcript()
    return await measured(transcript, lambda: transcript.show(blocks(count)))


async def mount_each(kind: type[Widget], count: int) -> float:
    scroll = VerticalScroll()
    children = [kind(MESSAGE) for _ in range(count)]  # type: ignore[arg-type]
    return await measured(scroll, lambda: _mounted(scroll, children))


async def _mounted(scroll: VerticalScroll, children: list[Widget]) -> None:
    await scroll.mount(*children)


async def stream_transcript() -> float:
    """Seconds of work for a long answer that grows a token at a time, among 2,000 finished blocks."""
    transcript = Transcript()
    app = Bench(transcript)
    async with app.run_test(size=SIZE):
        transcript.show(blocks(2_000))
        whole = MESSAGE * 10
        start = time.perf_counter()
        updates = 0
        for end in range(0, len(whole), 24):
            transcript.put(
                2_000, Block("live", title="assistant", body=whole[:end], format="markdown", live=True)
            )
            updates += 1
        return (time.perf_counter() - start) / updates


async def output_view() -> float:
    output, buffer = OutputView(), OutputBuffer()

    def load() -> None:
        output.show(buffer)
        for start in range(0, len(LINES), 700):
            buffer.write("stdout", "\n".join(LINES[start : start + 700]) + "\n")
            output.refresh_output()

    return await measured(output, load)


async def rich_log() -> float:
    log = RichLog()

    def load() -> None:
        for line in LINES:
            log.write(line)

    return await measured(log, load)


async def textual_log() -> float:
    log = Log()

    def load() -> None:
        for start in range(0, len(LINES), 700):
            log.write_lines(LINES[start : start + 700])

    return await measured(log, load)


class Million:
    """A million rows that cost nothing to keep."""

    def __len__(self) -> int:
        return 1_000_000

    def cells(self, position: int) -> RowCells:
        return RowCells(position, "✓", "done", "3", "1.00", f"prompt {position}", "success")


async def row_list() -> float:
    rows = RowList()
    return await measured(rows, lambda: rows.set_source(Million()))


def report(name: str, seconds: float, against: dict[str, float] | None = None) -> None:
    ratios = "".join(f"  {other}: {value / seconds:,.0f}x" for other, value in (against or {}).items())
    print(f"{name:<44}{seconds * 1000:>10.1f} ms{ratios}")


async def main() -> None:
    few = 50
    statics = await mount_each(Static, few)
    markdowns = await mount_each(Markdown, few)
    report(f"{few} Static", statics)
    report(f"{few} Markdown", markdowns)
    report(
        "Transcript, 2,000 blocks",
        await open_transcript(2_000),
        {"a Static each": statics * 2_000 / few, "a Markdown each": markdowns * 2_000 / few},
    )
    report("Transcript, 20,000 blocks", await open_transcript(20_000))
    report("Transcript, one update of a live block", await stream_transcript())
    log, plain = await rich_log(), await textual_log()
    report("RichLog, 20,000 lines", log)
    report("Log, 20,000 lines in batches", plain)
    report("OutputView, 20,000 lines", await output_view(), {"RichLog": log, "Log": plain})
    report("RowList, 1,000,000 rows", await row_list())


if __name__ == "__main__":
    asyncio.run(main())
