"""Exports of a recording of 100 MB: time and the highest memory for each format, against reading it once.

`python tests/benchmarks/bench_export.py` prints the figures. Nothing here is a test.
"""

from __future__ import annotations

import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path

import agentscope_tui.events as ev
from agentscope_tui.event_lines import event_to_json
from agentscope_tui.models.chat import FunctionCall, ToolCallPart
from agentscope_tui.store.export.formats import FORMATS, Choices
from agentscope_tui.store.export.source import recorded

SIZE = 100_000_000
OUTPUT = 600_000
"""Characters that a tool prints; the result that the model gets of it is short, as the host makes it."""


def write_session(folder: Path) -> Path:
    """A session of many calls, each with streamed text and a tool that prints much."""
    (folder / "outputs").mkdir(parents=True)
    began, seq = datetime(2026, 1, 1, tzinfo=UTC), 0
    with (folder / "events.jsonl").open("w") as file:
        call = 0
        while file.tell() < SIZE:
            call += 1
            for event in events_of_call(call) if call > 1 else [*beginning(), *events_of_call(1)]:
                seq += 1
                stamp = {"seq": seq, "at": began + timedelta(seconds=seq), "session_id": "large"}
                file.write(event_to_json(event.model_copy(update=stamp)) + "\n")
    return folder


def beginning() -> Iterator[ev.Event]:
    yield ev.SessionStarted(version="1", model="fake", system="Be brief.")
    yield ev.UserMessageSent(msg_id="m", text="go", turn=1)


def events_of_call(call: int) -> Iterator[ev.Event]:
    text = f"call {call}: " + "I look at it **again**. " * 40
    part = ToolCallPart(id=f"c{call}", function=FunctionCall(name="bash", arguments='{"command": "make"}'))
    last = {"role": "tool", "tool_call_id": f"c{call - 1}", "content": "result " * 400}
    yield ev.LlmRequestSent(
        call=call, turn=1, req_id=f"r{call}", base=call - 1, kept=2 * call, messages=[last]
    )
    for place in range(0, len(text), 40):
        yield ev.AssistantDelta(call=call, text=text[place : place + 40])
    yield ev.AssistantMessage(call=call, text=text, tool_calls=[part], duration=1.0)
    yield ev.UsageReported(call=call, input_tokens=1000, output_tokens=200)
    yield ev.ToolCallStarted(call_id=f"c{call}", call=call, req_id=f"t{call}", name="bash")
    line = "\x1b[32mok\x1b[0m  compiling something of the file number\n"
    for _ in range(OUTPUT // 60_000):
        yield ev.ToolOutput(call_id=f"c{call}", stream="stdout", text=line * (60_000 // len(line)))
    yield ev.ToolResult(call_id=f"c{call}", call=call, name="bash", status="done", content="result " * 400)


def measure(folder: Path, format: str, pipe: Connection) -> None:
    """In a process of its own: seconds, MB at the peak, MB written."""
    source = recorded(folder)
    path = folder / f"out.{format}"
    begun = time.perf_counter()
    if format == "reading":
        for _ in source.events():
            pass
        path.touch()
    else:
        with path.open("w") as out:
            FORMATS[format].writer(source, out, Choices())
    took = time.perf_counter() - begun
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    pipe.send((took, peak, path.stat().st_size / 1e6))


def main() -> None:
    folder = Path(tempfile.mkdtemp(prefix="bench-export-"))
    try:
        session = write_session(folder / "large")
        size = (session / "events.jsonl").stat().st_size / 1e6
        print(f"a recording of {size:.0f} MB", file=sys.stderr)
        for format in ("reading", *(name for name, one in FORMATS.items() if not one.has_files)):
            ours, theirs = get_context("spawn").Pipe()
            process = get_context("spawn").Process(target=measure, args=(session, format, theirs))
            process.start()
            took, peak, written = ours.recv()
            process.join()
            print(f"{format:<10} {took:6.1f} s  {peak:5.0f} MB at the peak  {written:6.1f} MB written")
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
