"""The transcript against Textual's `Static`, `Markdown` and `RichLog`: opening, streaming, keys meanwhile.

`python tests/benchmarks/bench_transcript.py` prints the figures. Times are of this machine and mean little;
the ratios are the result. Nothing here is a test.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable

import pexpect
from rich.markdown import Markdown as RichMarkdown
from textual.app import App, ComposeResult
from textual.containers import VerticalScroll
from textual.widget import Widget
from textual.widgets import Markdown, RichLog, Static

from agentscope_widgets.blocks import Block
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
STREAMS = {
    "paragraphs": "A sentence with **bold** words and `code`.\n\n" * 60,
    "one list": "- an item with **bold** words\n" * 90,
    "one paragraph": "many words with *emphasis* in one line " * 70,
    "one code fence": "```python\n" + "x = compute(1, 2)  # a comment\n" * 80,
}
"""Answers of about 2,500 characters."""
PIECE = 27
"""Characters that come 30 times a second at 200 tokens a second."""
FRAMES = 30
KEYS = 60
SIZE = (120, 40)


class Pane(ABC):
    """A widget, how a conversation comes into it, and how an answer grows in it."""

    widget: Widget

    @abstractmethod
    async def open(self, count: int) -> None:
        """Show this many messages."""

    @abstractmethod
    async def grow(self, whole: str, piece: str) -> None:
        """The answer is `whole` now, `piece` is what came."""


class OurPane(Pane):
    def __init__(self) -> None:
        self.widget = self.transcript = Transcript()

    async def open(self, count: int) -> None:
        self.count = count
        self.transcript.show(
            [
                Block(f"b{number}", "assistant", "assistant", MESSAGE, "markdown", call=number)
                for number in range(count)
            ]
        )

    async def grow(self, whole: str, piece: str) -> None:
        self.transcript.put(self.count, Block("live", "assistant", "assistant", whole, "markdown", live=True))


class StaticPane(Pane):
    """A `Static` for each message, its text as it is written."""

    def __init__(self) -> None:
        self.widget = self.scroll = VerticalScroll()
        self.live = Static(markup=False)

    async def open(self, count: int) -> None:
        await self.scroll.mount(*(Static(MESSAGE, markup=False) for _ in range(count)), self.live)
        self.scroll.anchor()

    async def grow(self, whole: str, piece: str) -> None:
        self.live.update(whole)


class MarkdownPane(Pane):
    """A `Markdown` for each message."""

    def __init__(self) -> None:
        self.widget = self.scroll = VerticalScroll()
        self.live = Markdown()

    async def open(self, count: int) -> None:
        await self.scroll.mount(*(Markdown(MESSAGE) for _ in range(count)), self.live)
        self.scroll.anchor()

    async def grow(self, whole: str, piece: str) -> None:
        await self.live.append(piece)


class RichPane(Pane):
    """One `RichLog` of rendered Markdown; an answer can only be written line by line, when it is there."""

    def __init__(self) -> None:
        self.widget = self.log = RichLog(wrap=True)

    async def open(self, count: int) -> None:
        for _ in range(count):
            self.log.write(RichMarkdown(MESSAGE))

    async def grow(self, whole: str, piece: str) -> None:
        self.log.write(piece)


PANES: dict[str, tuple[Callable[[], Pane], int]] = {
    "Transcript": (OurPane, 2_000),
    "Transcript, 20,000": (OurPane, 20_000),
    "RichLog": (RichPane, 2_000),
    "Static": (StaticPane, 2_000),
    "Markdown, last 40": (MarkdownPane, 40),
    "one Static, a floor": (StaticPane, 1),
}
"""Each pane with the messages that it holds while keys are measured."""


class Bench(App[None]):
    """A pane and how many keys were seen; with messages to hold an answer streams all the time."""

    def __init__(self, pane: Pane, count: int = 0) -> None:
        super().__init__()
        self.pane = pane
        self.count = count
        self.keys = 0
        self.pieces = 0
        self.seen = Static("", markup=False)

    def compose(self) -> ComposeResult:
        yield self.seen
        yield self.pane.widget

    async def on_mount(self) -> None:
        if self.count:
            await self.pane.open(self.count)
            self.seen.update("ready ")
            self.set_interval(1 / FRAMES, self._feed)

    async def _feed(self) -> None:
        answer = STREAMS["paragraphs"] + STREAMS["one list"] + STREAMS["one code fence"]
        start = self.pieces * PIECE % (len(answer) - PIECE)
        self.pieces += 1
        await self.pane.grow(answer[: start + PIECE], answer[start : start + PIECE])

    def on_key(self) -> None:
        """Every key scrolls, half of them up."""
        self.keys += 1
        pages = -1 if self.keys % 4 < 2 else 1
        self.pane.widget.scroll_relative(y=pages * 30, animate=False, force=True)
        self.seen.update(f"key {self.keys} ")


async def measured(pane: Pane, load: Callable[[], Awaitable[None]]) -> float:
    """Seconds of work until the load is on the screen."""
    app = Bench(pane)
    async with app.run_test(size=SIZE):
        start = time.process_time()
        await load()
        drawn = asyncio.Event()
        app.call_after_refresh(drawn.set)
        pane.widget.refresh()
        await drawn.wait()
        return time.process_time() - start


async def opened(make: Callable[[], Pane], count: int) -> float:
    pane = make()
    return await measured(pane, lambda: pane.open(count))


async def resized() -> float:
    """Seconds of work from another width to what is in sight, with 20,000 messages."""
    pane = OurPane()
    app = Bench(pane)
    async with app.run_test(size=SIZE) as pilot:
        await pane.open(20_000)
        await pilot.pause()
        start = time.process_time()
        pane.transcript._layout.resize(90, pane.transcript.scroll_offset.y)
        pane.transcript.resized()
        return time.process_time() - start


async def streamed(make: Callable[[], Pane], answer: str) -> list[float]:
    """Seconds of work for each update of an answer that grows, drawn each time."""
    pane = make()
    app = Bench(pane)
    times: list[float] = []
    async with app.run_test(size=SIZE):
        await pane.open(4)
        for end in range(PIECE, len(answer), PIECE):
            start = time.process_time()
            await pane.grow(answer[:end], answer[end - PIECE : end])
            drawn = asyncio.Event()
            app.call_after_refresh(drawn.set)
            await drawn.wait()
            times.append(time.process_time() - start)
    return times


def key_times(name: str) -> list[float]:
    """Milliseconds from a key that scrolls to the screen, on a terminal, while 200 tokens a second come."""
    child = pexpect.spawn(sys.executable, [__file__, name], dimensions=(SIZE[1], SIZE[0]), timeout=90)
    child.expect("ready ")
    child.delaybeforesend = None
    times: list[float] = []
    for number in range(1, KEYS + 1):
        time.sleep(0.05)
        start = time.perf_counter()
        child.send("k")
        child.expect_exact(f"key {number} ")
        times.append((time.perf_counter() - start) * 1000)
    child.send("\x11")
    child.expect(pexpect.EOF)
    return times


def report(name: str, seconds: float, against: dict[str, float] | None = None) -> None:
    ratios = "".join(f"  {other}: {value / seconds:,.1f}x" for other, value in (against or {}).items())
    print(f"{name:<46}{seconds * 1000:>10.1f} ms{ratios}", flush=True)


def main() -> None:
    few = 20
    others = {"a Static each": StaticPane, "a Markdown each": MarkdownPane, "RichLog": RichPane}
    scaled = {name: asyncio.run(opened(make, few)) * 2_000 / few for name, make in others.items()}
    report("open 2,000 messages", asyncio.run(opened(OurPane, 2_000)), scaled)
    report("open 20,000 messages", asyncio.run(opened(OurPane, 20_000)))
    report("another width, 20,000 messages", asyncio.run(resized()))
    for name, answer in STREAMS.items():
        times = asyncio.run(streamed(OurPane, answer))
        theirs = asyncio.run(streamed(MarkdownPane, answer))
        report(f"{name}, mean update", statistics.mean(times), {"Markdown": statistics.mean(theirs)})
        report(f"{name}, slowest update", max(times), {"Markdown": max(theirs)})
    for name in PANES:
        times = key_times(name)
        p50, p95 = (statistics.quantiles(times, n=100)[at - 1] for at in (50, 95))
        print(f"key to screen, {name:<31}{p50:>10.1f} ms p50{p95:>10.1f} ms p95", flush=True)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        kind, held = PANES[sys.argv[1]]
        Bench(kind(), held).run()
    else:
        main()
