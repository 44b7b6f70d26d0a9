"""Keeping the scratch folder at each model call, against what a call costs the host besides, in one run.

`python tests/benchmarks/bench_snapshots.py` prints the figures. Times are of this machine and mean little;
the ratios are the result. A snapshot is taken while the model answers: it delays only one that is faster.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from agentscope_tui.session.limits import Limits
from agentscope_tui.store.snapshots import Snapshots
from fakes.engine import FakeModel, FakeTools, returns, says
from fakes.session_rig import Rig

CALLS = 200
ROUNDS = 7


def main() -> None:
    call = asyncio.run(_call_seconds())
    print(f"one model call without a model, a tool or files: {_milli(call)}")
    print(f"{'files':>8} {'first':>10} {'one changed':>12} {'/ call':>8} {'restored':>10} {'kept':>7}")
    for count in (10, 1_000, 20_000):
        with tempfile.TemporaryDirectory() as folder:
            _measure(Path(folder), count, call)


async def _call_seconds() -> float:
    """What the host does for a call with a tool, of a session of many."""
    replies = [says("", ("look", "{}"), ids=f"c{number}") for number in range(CALLS)]
    limits = Limits(calls=10 * CALLS, tool_actions=10 * CALLS)
    async with Rig(FakeModel(*replies, says("end")), FakeTools(look=returns("seen")), limits=limits) as rig:
        started = time.perf_counter()
        await rig.run()
        return (time.perf_counter() - started) / CALLS


def _measure(folder: Path, count: int, call: float) -> None:
    files = folder / "files"
    size = 0
    for number in range(count):
        place = files / f"{number // 100}"
        place.mkdir(parents=True, exist_ok=True)
        size += (place / f"{number}.txt").write_text(f"file {number}\n" * 20)
    # A file that has just changed is read again: its times do not tell yet.
    time.sleep(0.2)
    kept = Snapshots(folder / "snapshots")
    first = _seconds(lambda: kept.take(files, 1))
    changed = []
    for number in range(2, ROUNDS + 2):
        (files / "0" / "0.txt").write_text(f"call {number}")
        changed.append(_seconds(lambda number=number: kept.take(files, number)))
    again = statistics.median(changed)
    (folder / "back").mkdir()
    restored = _seconds(lambda: kept.restore(1, folder / "back"))
    on_disk = sum(file.stat().st_size for file in (folder / "snapshots").rglob("*") if file.is_file())
    print(
        f"{count:>8,} {_milli(first):>10} {_milli(again):>12} {again / call:>7.1f}× {_milli(restored):>10} "
        f"{on_disk / size:>6.2f}×"
    )


def _seconds(act: Callable[[], object]) -> float:
    started = time.perf_counter()
    act()
    return time.perf_counter() - started


def _milli(seconds: float) -> str:
    return f"{seconds * 1000:,.1f} ms"


if __name__ == "__main__":
    main()
