"""Recordings: opening the end of a long one against a short one and against reading it all; going back in it.

`PYTHONPATH=tests python tests/benchmarks/bench_recordings.py` prints the figures, as medians and ratios of
one run. Nothing here is a test.
"""

from __future__ import annotations

import shutil
import statistics
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

from agentscope_tui.session.state import SessionState
from agentscope_tui.store.event_index import INDEX_FILE
from agentscope_tui.store.event_source import FileEvents
from agentscope_tui.store.indexing import index
from agentscope_tui.store.reopen import read_session
from agentscope_tui.store.tape import Tape
from agentscope_tui.tui.present.transcript import block_of
from fakes.long_recordings import write_long

RUNS = 5
MEGABYTES = (1, 10, 100)


def seconds(work: Callable[[], object], runs: int = RUNS) -> float:
    found = []
    for _ in range(runs):
        begun = time.perf_counter()
        work()
        found.append(time.perf_counter() - begun)
    return statistics.median(found)


def read_all(folder: Path) -> SessionState:
    state = SessionState()
    for event in read_session(folder).events:
        state.apply(event)
    return state


def tape_of(folder: Path) -> Tape:
    return Tape(FileEvents(folder / "events.jsonl"), folder)


def open_end(folder: Path) -> SessionState:
    return tape_of(folder).to_end(threading.Event()).state


def blocks(state: SessionState) -> int:
    """What the transcript draws its end from."""
    return len([block_of(state, position) for position in range(len(state.entries))])


def main() -> None:
    base = Path(tempfile.mkdtemp(prefix="bench-recordings-"))
    opened: dict[int, float] = {}
    try:
        for size in MEGABYTES:
            folder = base / f"r{size}"
            events = len(write_long(folder, size << 20))
            whole = seconds(lambda folder=folder: read_all(folder), 1 if size > 10 else RUNS)
            first = seconds(lambda folder=folder: index(folder, threading.Event()), 1)
            opened[size] = seconds(lambda folder=folder: open_end(folder))
            state = open_end(folder)
            drawn = seconds(lambda state=state: blocks(state), 1)
            tape = tape_of(folder)
            last = tape.to_end(threading.Event()).seq
            back = seconds(lambda tape=tape, last=last: tape.at(last - 1, threading.Event()), 1)
            again = seconds(lambda tape=tape, last=last: tape.at(last - 2, threading.Event()))
            file = folder / INDEX_FILE
            kept = file.stat().st_size / (1 << 20) if file.exists() else 0
            print(f"{size} MB, {events:,} events, index {kept:.1f} MB")
            for what, took in (
                ("read it all", whole),
                ("make the index", first),
                ("open its end", opened[size]),
                ("blocks of its transcript", drawn),
                ("first step back", back),
                ("next step back", again),
            ):
                print(f"  {what:<26}{took * 1000:8.0f} ms  {took / opened[size]:6.1f} ×")
    finally:
        shutil.rmtree(base)
    print(f"the end of 100 MB against that of 1 MB: {opened[100] / opened[1]:.1f} ×")


if __name__ == "__main__":
    main()
