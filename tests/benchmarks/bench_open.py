"""Opening a dataset: until its first row is on the terminal, against a minimal Textual app and VisiData.

`pip install visidata && python tests/benchmarks/bench_open.py` prints the figures; without VisiData its
column is left out. Runs are interleaved and each figure is a median. Nothing here is a test.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

import pexpect

RUNS = 7
SIZES = (10_000, 100_000, 1_000_000)
PATIENCE = 60
FIRST = "zq1x"
MINIMAL = f"""
from textual.app import App
from textual.widgets import Static

class Minimal(App):
    def compose(self):
        yield Static({FIRST!r})

Minimal().run()
"""


def write_rows(file: Path, count: int) -> Path:
    """A file of rows of about 1 KB."""
    with file.open("w") as out:
        for number in range(count):
            prompt = FIRST if number == 0 else f"task number {number} " + "of words " * 100
            out.write(json.dumps({"user_prompt": prompt, "ground_truth": str(number)}) + "\n")
    return file


def seconds_until_shown(argv: list[str], home: Path) -> float:
    """From the start of the program until a row's text has come out of the terminal."""
    environ = {**os.environ, "AGENTSCOPE_HOME": str(home), "HOME": str(home), "TERM": "xterm-256color"}
    begun = time.perf_counter()
    child = pexpect.spawn(argv[0], argv[1:], env=environ, dimensions=(40, 120), timeout=PATIENCE)
    child.expect_exact(FIRST)
    took = time.perf_counter() - begun
    child.close(force=True)
    return took


def main() -> None:
    folder = Path(tempfile.mkdtemp(prefix="bench-open-"))
    home = folder / "home"
    home.mkdir()
    programs = Path(sys.executable).parent
    ours, visidata = str(programs / "agentscope"), programs / "vd"
    commands: dict[str, list[str]] = {"minimal": [sys.executable, "-c", MINIMAL]}
    try:
        for count in SIZES:
            file = str(write_rows(folder / f"rows{count}.jsonl", count))
            commands[f"agentscope {count:,}"] = [
                ours,
                file,
                "--model",
                "openai:none",
                "--base-url",
                "http://x",
            ]
            if visidata.exists():
                commands[f"vd {count:,}"] = [str(visidata), file]
        times: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(RUNS):
            for name, argv in commands.items():
                times[name].append(seconds_until_shown(argv, home))
    finally:
        shutil.rmtree(folder)
    medians = {name: statistics.median(found) for name, found in times.items()}
    least = medians["minimal"]
    for name, median in medians.items():
        print(
            f"{name:<24} {median * 1000:7.0f} ms  {median / least:5.2f} × minimal"
            f"  (best {min(times[name]) * 1000:.0f})"
        )
    million, hundred = (medians[f"agentscope {count:,}"] for count in (1_000_000, 100_000))
    print(f"a million rows against 100,000: {million / hundred:.2f} ×")


if __name__ == "__main__":
    main()
