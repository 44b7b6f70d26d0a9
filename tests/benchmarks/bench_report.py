"""Reports of large runs: how long they take, and in how much memory, against only parsing the results.

`python tests/benchmarks/bench_report.py [ROLLOUTS]` (100,000) prints the figures. Nothing here is a test.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import orjson

sys.path.insert(0, str(Path(__file__).parents[1]))
from fakes.run_folders import result, write_run

ROLLOUTS = 4
"""Of each row."""
COMMANDS = {
    "text": [],
    "page": ["--html", "report.html"],
    "CSV": ["--csv", "report.csv"],
    "Parquet": ["--parquet", "report.parquet"],
    "against itself": ["run"],
}


def write(folder: Path, count: int) -> None:
    chance = random.Random(7)
    lines = (
        result(
            number // ROLLOUTS,
            chance.choice([0.0, 1.0, round(chance.random(), 2)]),
            number % ROLLOUTS,
            metrics={"style": chance.random()},
            answer="word " * chance.randrange(200),
            cost=chance.random(),
            calls=chance.randrange(1, 20),
            seconds=100 * chance.random(),
        )
        for number in range(count)
    )
    write_run(folder)
    with (folder / "results.jsonl").open("w") as file:
        file.writelines(f"{json.dumps(line)}\n" for line in lines)


def main(count: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder / "run", count)
        size = (folder / "run" / "results.jsonl").stat().st_size
        begun = time.process_time()
        for line in (folder / "run" / "results.jsonl").open("rb"):
            orjson.loads(line)
        parsed = time.process_time() - begun
        print(f"{count:,} rollouts, {size / 1e6:.0f} MB; parsing alone: {parsed:.2f} s")
        command = str(Path(sys.executable).with_name("agentscope"))
        for what, words in COMMANDS.items():
            begun = time.perf_counter()
            process = subprocess.Popen(
                [command, "report", "run", *words],
                cwd=folder,
                env={**os.environ, "AGENTSCOPE_HOME": str(folder / "state")},
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            _, status, usage = os.wait4(process.pid, 0)
            assert status == 0, what
            wall, cpu = time.perf_counter() - begun, usage.ru_utime + usage.ru_stime
            print(
                f"{what:>15}: {wall:5.1f} s, {cpu:5.1f} s of processor ({cpu / parsed:4.0f} × parsing), "
                f"{usage.ru_maxrss / 1024:4.0f} MiB"
            )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
