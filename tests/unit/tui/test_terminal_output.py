"""Writing to a terminal that is slow, stuck or gone."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from threading import Event

import pytest

from agentscope_tui.tui.terminal_output import MOST_WAITING, TerminalOutput

DEADLINE = 10.0


class Pipe:
    """A pipe in the terminal's place, and what the output told."""

    def __init__(self) -> None:
        self.ours, self.theirs = os.pipe()
        self.lost, self.caught_up = Event(), Event()
        self.output = TerminalOutput(self.theirs, on_lost=self.lost.set, on_caught_up=self.caught_up.set)

    def read(self, enough: Callable[[bytes], bool]) -> bytes:
        """Read until it is enough."""
        got = b""
        while not enough(got):
            got += os.read(self.ours, 1 << 16)
        return got


@pytest.fixture
def pipe() -> Iterator[Pipe]:
    pipe = Pipe()
    yield pipe
    os.close(pipe.ours)
    pipe.output.write("wakes a thread that waits")
    assert pipe.lost.wait(DEADLINE)
    os.close(pipe.theirs)


def test_all_arrives_in_order(pipe: Pipe) -> None:
    texts = [f"{number} é " for number in range(1000)]
    for text in texts:
        pipe.output.write(text)
    wanted = "".join(texts).encode()
    assert pipe.read(lambda got: len(got) >= len(wanted)) == wanted
    start = time.monotonic()
    pipe.output.flush(DEADLINE)
    assert time.monotonic() - start < DEADLINE / 2
    assert not pipe.caught_up.is_set()


def test_what_a_stuck_terminal_does_not_take_is_dropped_whole_and_drawn_anew(pipe: Pipe) -> None:
    line = "<" + "x" * 9_998 + ">"
    for _ in range(3 * MOST_WAITING // len(line)):
        pipe.output.write(line)
    pipe.output.flush(0.01)
    pipe.output.write("the last")
    got = pipe.read(lambda got: got.endswith(b"the last")).decode()
    assert pipe.caught_up.wait(DEADLINE)
    assert len(got) < 2 * MOST_WAITING
    assert got.replace(line, "") == "the last"


def test_a_lost_terminal_is_told_and_nothing_waits_for_it() -> None:
    pipe = Pipe()
    os.close(pipe.ours)
    pipe.output.write("x")
    assert pipe.lost.wait(DEADLINE)
    pipe.output.write("y")
    pipe.output.flush(DEADLINE * 10)
    os.close(pipe.theirs)
