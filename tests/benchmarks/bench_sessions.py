"""The run index over many small recordings: made from nothing, brought up to date, and asked.

`python tests/benchmarks/bench_sessions.py [COUNT]` prints seconds, and each as a share of the first. Nothing
here is a test.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from agentscope_tui.datasets.expression import parse_expression
from agentscope_tui.store.run_index import RunIndex, Wanted
from fakes.listed_sessions import write_recording


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    with tempfile.TemporaryDirectory(prefix="bench-sessions-") as name:
        state = Path(name)
        for number in range(count):
            write_recording(
                state / "sessions" / f"20260101-{number:06}-row{number % 100}-aaaa",
                row=number % 100,
                calls=5,
                reward=number % 3 / 2,
                dataset="/data/rows.jsonl",
                identity="abc",
            )
        size = sum(file.stat().st_size for file in state.glob("sessions/*/events.jsonl"))
        print(f"{count:,} recordings, {size / 1e6:.0f} MB")
        index = RunIndex(state)
        first = measured("made from nothing", lambda: index.sync(), 0)
        measured("up to date, all looked at", lambda: index.sync(), first)
        measured("up to date, new ones looked for", lambda: index.sync(thorough=False), first)
        newest = state / "sessions" / f"20260101-{count - 1:06}-row{(count - 1) % 100}-aaaa"
        write_recording(newest, row=1, calls=9)
        measured("one changed", lambda: index.sync(), first)
        measured("newest 50", lambda: index.find(Wanted(), 50), first)
        where = parse_expression("reward < 1 and calls > 3")
        measured("all for which `reward < 1 and calls > 3`", lambda: index.find(Wanted(where=where)), first)
        measured("all with a word", lambda: index.find(Wanted(words=("task",))), first)
        measured("the newest of each row", lambda: index.of_rows("/data/rows.jsonl", "abc"), first)
        index.close()
        measured("opened again and up to date", lambda: RunIndex(state).sync(), first)


def measured(what: str, act: Callable[[], object], first: float) -> float:
    """Print how long something takes; in seconds."""
    begun = time.perf_counter()
    act()
    took = time.perf_counter() - begun
    print(f"{took:8.3f} s  {100 * took / (first or took):6.2f} %  {what}")
    return took


if __name__ == "__main__":
    main()
