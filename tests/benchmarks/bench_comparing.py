"""Comparing two sessions of many calls, against reading their recordings, in one run.

`python tests/benchmarks/bench_comparing.py [CALLS]` prints the figures. Times are of this machine and mean
little; the ratios are the result.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from agentscope_tui.session.comparing import compare, state_of
from agentscope_tui.store.reopen import read_session
from agentscope_tui.tui.present.compare import call_block
from fakes.small_sessions import Did, past_session, recording_of

CALLS = 2_000
LINES = 35_000
T = TypeVar("T")


def timed(words: str, act: Callable[[], T], against: float | None = None) -> tuple[T, float]:
    began = time.perf_counter()
    found = act()
    took = time.perf_counter() - began
    ratio = "" if against is None else f"  {took / against:6.2f} × reading"
    print(f"{words:34} {took * 1000:8.1f} ms{ratio}")
    return found, took


def recorded(folder: Path, *did: Did) -> Path:
    folder.mkdir()
    (folder / "events.jsonl").write_text(recording_of(past_session(*did, session_id=folder.name)))
    return folder


def measure(name: str, left: Path, right: Path) -> None:
    print(name)
    pasts, reading = timed("reading both", lambda: [read_session(folder) for folder in (left, right)])
    states, _ = timed("folding both", lambda: [state_of(past.events) for past in pasts], reading)
    comparison, _ = timed("aligning", lambda: compare(states[0], states[1]), reading)
    blocks, _ = timed(
        "all differences, to the word",
        lambda: [call_block(pair, only_differences=False) for pair in comparison.pairs],
        reading,
    )
    print(
        f"{len(comparison.differences)} of {len(comparison.pairs) - 1} calls differ, {len(blocks)} blocks\n"
    )


def main() -> None:
    calls = int(sys.argv[1]) if len(sys.argv) > 1 else CALLS
    chance = random.Random(1)
    long = [
        Did(
            f"step {number}: I look at {chance.randrange(1000)}",
            chance.choice(["bash", "read_file"]),
            f'{{"command": "cat {chance.randrange(50)}"}}',
            "\n".join(f"line {chance.randrange(99_999)}" for _ in range(20)),
        )
        for number in range(calls)
    ]
    other = [
        replace(did, result=did.result.replace("7", "8")) if chance.random() < 0.5 else did
        for did in long
        if chance.random() > 0.1
    ]
    output = "\n".join(f"cc -c file{number}.c -o file{number}.o" for number in range(LINES))
    big = Did("", "bash", '{"command": "make"}', output)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        measure(f"{calls:,} calls", recorded(folder / "a", *long), recorded(folder / "b", *other))
        changed = replace(big, result=output.replace("3", "4", LINES))
        measure(f"an output of {LINES:,} lines", recorded(folder / "c", big), recorded(folder / "d", changed))


if __name__ == "__main__":
    main()
