"""Datasets against plain reading of the same bytes: index, first rows, random row, memory, walk, search.

`python tests/benchmarks/bench_datasets.py [FOLDER]` writes its files to FOLDER (default: a temporary one), a
million rows of about 1 KB among them, and prints the figures. Times are of this machine and mean little; the
ratios are the result. Nothing here is a test.
"""

from __future__ import annotations

import csv
import gzip
import json
import os
import random
import sys
import tempfile
import threading
import time
import tracemalloc
from collections import deque
from collections.abc import Callable, Iterable
from pathlib import Path

from agentscope_tui.datasets.dataset import Dataset
from agentscope_tui.datasets.expression import parse_expression
from agentscope_tui.datasets.query import Order, find, ordered, search
from agentscope_tui.datasets.source import open_dataset

WORDS = [f"word{number}" for number in range(5000)]
FEW = 50_000


def best(
    work: Callable[[], object], times: int = 3, *, clock: Callable[[], float] = time.perf_counter
) -> float:
    """The shortest of some times, in seconds."""
    seconds = []
    for _ in range(times):
        start = clock()
        work()
        seconds.append(clock() - start)
    return min(seconds)


def row(number: int) -> dict[str, object]:
    text = " ".join(random.choices(WORDS, k=105))
    return {
        "id": str(number),
        "prompt": text + (', "so"\nit ends' if number % 3 == 0 else ""),
        "answer": "42",
    }


def write_lines(path: Path, count: int) -> Path:
    if not path.exists():
        with path.open("w") as file:
            for number in range(count):
                file.write(json.dumps(row(number)) + "\n")
    return path


def write_formats(folder: Path) -> list[Path]:
    import pyarrow as pa
    import pyarrow.parquet
    import zstandard

    rows = [row(number) for number in range(FEW)]
    lines = "".join(json.dumps(value) + "\n" for value in rows).encode()
    table = pa.Table.from_pylist(rows)
    names = ("few.jsonl", "few.jsonl.gz", "few.jsonl.zst", "few.json", "few.csv", "few.parquet", "few.arrow")
    paths = [folder / name for name in names]
    paths[0].write_bytes(lines)
    paths[1].write_bytes(gzip.compress(lines, 1))
    paths[2].write_bytes(zstandard.compress(lines))
    paths[3].write_text(json.dumps(rows))
    with paths[4].open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    pyarrow.parquet.write_table(table, paths[5], row_group_size=10_000)
    with pa.ipc.new_stream(str(paths[6]), table.schema) as stream:
        stream.write_table(table, max_chunksize=1000)
    return paths


def plain_reading(path: Path) -> None:
    with path.open("rb", buffering=0) as file:
        buffer = bytearray(64 << 10)
        while file.readinto(buffer):
            pass


def first_rows(path: Path) -> None:
    dataset = open_dataset(path)
    for position in range(min(50, len(dataset))):
        dataset.raw_at(position)
    dataset.close()


def scanned(path: Path) -> Dataset:
    dataset = open_dataset(path)
    dataset.scan(threading.Event(), lambda count: None)
    return dataset


def random_row(dataset: Dataset) -> float:
    """Seconds for a row that was not read before, the median of 201."""
    seconds = []
    for position in random.sample(range(len(dataset)), 201):
        start = time.perf_counter()
        dataset.raw_at(position)
        seconds.append(time.perf_counter() - start)
    return sorted(seconds)[100]


def walk(dataset: Dataset) -> int:
    return sum(1 for _ in dataset.walk())


def report_lines(folder: Path) -> None:
    paths = [write_lines(folder / f"{count}.jsonl", count) for count in (10_000, 100_000, 1_000_000)]
    firsts = [best(lambda path=path: first_rows(path), 9) for path in paths]  # type: ignore[misc]
    for path, seconds in zip(paths, firsts, strict=True):
        print(
            f"first 50 rows of {path.stem:>9}: {seconds * 1000:6.1f} ms  {seconds / firsts[1]:5.2f} of 100000"
        )
    big = paths[-1]
    size = big.stat().st_size
    reading, index = best(lambda: plain_reading(big)), best(lambda: scanned(big).close())
    cpu = best(lambda: scanned(big).close(), clock=time.process_time)
    print(
        f"index of {size / 1e9:.2f} GB: {size / index / 1e9:.2f} GB/s, {index / reading:.1f} x plain reading"
    )
    print(f"the same per second of processor time: {size / cpu / 1e9:.2f} GB")
    tracemalloc.start()
    dataset = scanned(big)
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    print(f"memory of {len(dataset)} rows: {kept / 1e6:.2f} MB")
    print(f"random row of {len(dataset)}: {random_row(dataset) * 1000:.3f} ms")
    dataset.close()


def report_looking(path: Path) -> None:
    """Looking through all rows, against `json.loads` of each, by the processor's time."""
    dataset = scanned(path)
    lines = path.read_bytes().splitlines()
    never = threading.Event()
    parsing = best(lambda: [json.loads(line) for line in lines], clock=time.thread_time)
    print(f"\nlooking through {len(lines)} rows")
    passes = parse_expression('answer == "41"').matches
    works: dict[str, Callable[[], Iterable[object]]] = {
        "search, no hit": lambda: search(dataset, "no such text", never),
        "search, a hit in each row": lambda: search(dataset, "word", never),
        "search, a number": lambda: search(dataset, "123456", never),
        "filter": lambda: find(dataset, passes, {}, never),
        "sort": lambda: ordered(dataset, Order("row.prompt"), {}, never, among=None),
    }
    for name, work in works.items():
        seconds = best(lambda work=work: deque(work(), 0), clock=time.thread_time)  # type: ignore[misc]
        speed = path.stat().st_size / seconds / 1e6
        print(f"{name:<26}{speed:6.0f} MB/s {seconds / parsing:6.2f} x json.loads each")
    dataset.close()


def report_formats(folder: Path) -> None:
    print(f"\n{FEW} rows in:   first 50     index   MB/s   random row      walk  of json.loads each")
    paths = write_formats(folder)
    lines = paths[0].read_bytes().splitlines()
    parsing = best(lambda: [json.loads(line) for line in lines])
    size = paths[0].stat().st_size
    for path in paths:
        first = best(lambda path=path: first_rows(path))  # type: ignore[misc]
        index = best(lambda path=path: scanned(path).close())  # type: ignore[misc]
        dataset = scanned(path)
        one, all_rows = random_row(dataset), best(lambda dataset=dataset: walk(dataset), 1)  # type: ignore[misc]
        dataset.close()
        print(
            f"{path.name:<14} {first * 1000:7.1f} ms {index * 1000:6.0f} ms {size / index / 1e6:6.0f} "
            f"{one * 1000:9.3f} ms {all_rows:7.2f} s {all_rows / parsing:6.2f} x"
        )


def report(folder: Path) -> None:
    report_lines(folder)
    report_formats(folder)
    report_looking(folder / "few.jsonl")


def main() -> None:
    random.seed(1)
    if len(sys.argv) > 1:
        folder = Path(sys.argv[1])
        os.makedirs(folder, exist_ok=True)
        report(folder)
        return
    with tempfile.TemporaryDirectory() as name:
        report(Path(name))


if __name__ == "__main__":
    main()
