"""Under load: fifty sessions at once, a million events, a runner that floods, a tool that prints a gigabyte.

`python tests/benchmarks/bench_load.py [sessions|events|flood|output]` prints the figures. Times are of this
machine and mean little; what matters is that the loop stays quick and memory bounded. Nothing here is a test.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import os
import resource
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pexpect
import yaml

from agentscope_tui.bus import EventBus, Subscription
from agentscope_tui.config import load_settings
from agentscope_tui.events import (
    AssistantDelta,
    AssistantMessage,
    Event,
    ToolCallStarted,
    ToolOutput,
    ToolResult,
    UsageReported,
)
from agentscope_tui.session.launch import Launcher
from agentscope_tui.session.open_session import OpenSession
from agentscope_tui.session.state import SessionState
from agentscope_tui.store.recorder import Recorder

SESSIONS = 50
EVENTS = 1_000_000
FLOOD_SECONDS = 10.0
OUTPUT = 1 << 30
FRAME = 1 / 30
KEYS = 20
PATIENCE = 1800
STREAMING = (
    "for i in $(seq 50); do printf 'a line of a tool that streams %s\\n' 1 2 3 4 5 6 7 8 9; sleep 0.1; done"
)
PRINTING = f"yes 'a line of output, as long as lines of a build or of a test run are' | head -c {OUTPUT}"
FLOOD = """
import base64, json, sys
def line(frame):
    return base64.b64encode(json.dumps(frame).encode()) + b"\\n"
out = sys.stdout.buffer
out.write(line({"type": "hello", "mode": "session"}) + line({"type": "state", "status": "idle"}))
out.flush()
notes = b"".join(line({"type": "note", "text": f"a remark {number} " * 4}) for number in range(1000))
while True:
    out.write(notes)
"""


def show(what: str, figure: float, unit: str) -> None:
    print(f"{what:<58}{figure:>12,.1f} {unit}", flush=True)


def memory(pid: int | None = None, field: str = "VmRSS") -> float:
    """MiB of a process, this one by default; `VmHWM` is the most it had."""
    status = Path(f"/proc/{pid or 'self'}/status").read_text()
    return int(status.partition(f"{field}:")[2].split()[0]) / 1024


class Lag:
    """How late the loop was, in milliseconds, each time that it was to do something.

    A loop that is late while this process has little of a processor waits for the machine, not for us.
    """

    def __init__(self) -> None:
        self.late: list[float] = []
        self._began = time.perf_counter(), time.process_time()

    async def watch(self) -> None:
        while True:
            due = time.perf_counter() + 0.01
            await asyncio.sleep(0.01)
            self.late.append((time.perf_counter() - due) * 1000)

    def show(self, what: str) -> None:
        late = sorted(self.late)
        show(f"{what}: loop late, p50", statistics.median(late), "ms")
        show(f"{what}: loop late, p95", late[int(len(late) * 0.95)], "ms")
        show(f"{what}: loop late, most", late[-1], "ms")
        spent, used = time.perf_counter() - self._began[0], time.process_time() - self._began[1]
        show(f"{what}: of one processor, this process had", 100 * used / spent, "%")


class Screen:
    """Folds the events of sessions thirty times a second, as the app does."""

    def __init__(self, sessions: list[OpenSession]) -> None:
        self.states: list[tuple[Subscription, SessionState]] = [
            (opened.bus.subscription(), SessionState()) for opened in sessions
        ]
        self.events = 0

    def look(self) -> None:
        for subscription, state in self.states:
            for event in subscription.drain():
                state.apply(event)
                self.events += 1

    async def watch(self) -> None:
        while True:
            self.look()
            await asyncio.sleep(FRAME)


@asynccontextmanager
async def running(*tasks: Any) -> AsyncIterator[None]:
    """Run coroutines beside the block."""
    started = [asyncio.create_task(task) for task in tasks]
    try:
        yield
    finally:
        for task in started:
            task.cancel()
        await asyncio.wait(started)


def launcher_in(folder: Path, command: str, rows: int, **settings: object) -> Launcher:
    """Opens rows of a model that runs a command, then submits."""
    dataset, script = write_task(folder, command, rows)
    flags = {"model.name": script, "sandbox.mode": "none", **settings}
    environ = {"AGENTSCOPE_HOME": str(folder / "state"), "PATH": os.environ["PATH"]}
    config = load_settings(flags, cwd=folder, environ=environ)
    return Launcher(config, dataset, model=script)


def write_task(folder: Path, command: str, rows: int) -> tuple[Path, str]:
    """A dataset, and the name of a scripted model for it."""
    calls: list[dict[str, Any]] = [
        {"tool_calls": [{"name": "bash", "arguments": {"command": command}}]},
        {"tool_calls": [{"name": "submit", "arguments": {"answer": "done"}}]},
    ]
    replies = [{"text": "I begin now. " * 10, "tokens_per_second": 200, **call} for call in calls]
    script = folder / "script.yaml"
    script.write_text(yaml.safe_dump({"scripts": [{"replies": replies}]}))
    dataset = folder / "tasks.jsonl"
    dataset.write_text("".join(json.dumps({"user_prompt": f"task {row}"}) + "\n" for row in range(rows)))
    return dataset, f"scripted:{script}"


async def many_sessions(folder: Path) -> None:
    """Fifty rows whose tools print a hundred lines a second each."""
    launcher = launcher_in(folder, STREAMING, SESSIONS)
    dataset = launcher.open_dataset()
    before, lag = memory(), Lag()
    opened: list[OpenSession] = []
    for index in range(SESSIONS):
        task = dataset.row(index)
        opened.append(await launcher.open(task, mode="run"))  # type: ignore[arg-type]
    screen = Screen(opened)
    start = time.perf_counter()
    async with running(lag.watch(), screen.watch()):
        await asyncio.gather(*(session.start() for session in opened))
        await asyncio.gather(*(session.session.settled() for session in opened))
        spent, held = time.perf_counter() - start, memory() - before
    screen.look()
    await asyncio.gather(*(session.aclose() for session in opened))
    await launcher.aclose()
    dataset.close()
    show(f"{SESSIONS} sessions: events", screen.events, "")
    show(f"{SESSIONS} sessions: events a second", screen.events / spent, "/s")
    lag.show(f"{SESSIONS} sessions")
    show(f"{SESSIONS} sessions: memory of each", held / SESSIONS, "MiB")


def a_long_session() -> Iterator[Event]:
    """Calls of 60 deltas and tools of 35 pieces of output, without end."""
    call = 0
    while True:
        call += 1
        yield from (AssistantDelta(call=call, text="some words of it ") for _ in range(60))
        yield AssistantMessage(call=call, text="some words of it " * 60)
        yield UsageReported(call=call, input_tokens=1000, output_tokens=60)
        yield ToolCallStarted(
            call_id=f"c{call}", call=call, req_id="r", name="bash", arguments={"command": "x"}
        )
        for _ in range(35):
            yield ToolOutput(call_id=f"c{call}", stream="stdout", text="a line of output\n" * 4)
        yield ToolResult(call_id=f"c{call}", call=call, name="bash", status="done", content="ok " * 50)


async def many_events(folder: Path) -> None:
    """One session of a million events through bus, recorder and fold."""
    events = a_long_session()
    recorder = make_recorder(folder)
    bus = EventBus("load", backlog=recorder)
    bus.subscribe(recorder)
    subscription, state, lag = bus.subscription(), SessionState(), Lag()
    before, start = memory(), time.perf_counter()
    async with running(lag.watch()):
        for number in range(1, EVENTS + 1):
            bus.publish(next(events))
            if number % 100 == 0:
                for event in subscription.drain():
                    state.apply(event)
                await recorder.caught_up()
                await asyncio.sleep(0)
            if number % (EVENTS // 4) == 0:
                gc.collect()
                show(f"events: memory at {number:,}", memory() - before, "MiB more")
        await recorder.flush()
    spent = time.perf_counter() - start
    show("events: a second, published, recorded and folded", EVENTS / spent, "/s")
    lag.show("events")
    show("events: recording", recorder.path.stat().st_size / (1 << 20), "MiB")
    await recorder.aclose()


def make_recorder(folder: Path) -> Recorder:
    def failed(error: OSError) -> None:
        raise error

    return Recorder(folder, on_error=failed, on_resumed=lambda *_: None)


async def flood(folder: Path) -> None:
    """A runner that sends remarks as fast as it can."""
    program = folder / "flood.py"
    program.write_text(FLOOD)
    launcher = launcher_in(folder, "true", 1, **{"runner.command": f"{sys.executable} {program}"})
    dataset = launcher.open_dataset()
    opened = await launcher.open(dataset.row(0), mode="run")  # type: ignore[arg-type]
    screen, lag, before = Screen([opened]), Lag(), memory()
    starting = asyncio.create_task(opened.start())
    async with running(lag.watch(), screen.watch()):
        for part in range(1, 5):
            await asyncio.sleep(FLOOD_SECONDS / 4)
            show(f"flood: memory after {part * FLOOD_SECONDS / 4:g} s", memory() - before, "MiB more")
    show("flood: events kept of it", screen.events, "")
    lag.show("flood")
    start = time.perf_counter()
    await opened.aclose()
    await asyncio.wait([starting])
    await launcher.aclose()
    dataset.close()
    show("flood: to end the session", (time.perf_counter() - start) * 1000, "ms")


def output(folder: Path) -> None:
    """Keys of the app on a terminal while a tool prints a gigabyte."""
    dataset, script = write_task(folder, PRINTING, 1)
    command = Path(sys.executable).with_name("agentscope")
    limits = {f"AGENTSCOPE_TOOLS__LIMITS__{name}": "null" for name in ("OUTPUT", "DISK", "FILE_SIZE")}
    environ = {**os.environ, **limits, "AGENTSCOPE_HOME": str(folder / "state"), "TERM": "xterm-256color"}
    arguments = [str(dataset), "--model", script, "--no-sandbox", "--row", "0"]
    child = pexpect.spawn(str(command), arguments, env=environ, dimensions=(40, 120), timeout=PATIENCE)
    child.delaybeforesend = None
    child.expect("PAUSED")
    time.sleep(1)
    calm = key_times(child)
    time.sleep(1)
    start = time.perf_counter()
    child.send("c")
    until_event(child, folder, "tool_output")
    busy = key_times(child)
    until_event(child, folder, "tool_result")
    show("1 GB: output a second", OUTPUT / (1 << 20) / (time.perf_counter() - start), "MiB/s")
    show("1 GB: most memory of the app", memory(child.pid, "VmHWM"), "MiB")
    for name, times in (("calm", calm), ("while it prints", busy)):
        show(f"1 GB: key to screen, {name}, p50", statistics.median(times), "ms")
        show(f"1 GB: key to screen, {name}, p95", statistics.quantiles(times, n=20)[18], "ms")
    child.kill(signal.SIGTERM)
    child.expect(pexpect.EOF)


def until_event(child: pexpect.spawn[bytes], folder: Path, kind: str) -> None:
    """Read the terminal until an event of this kind is among the last that were recorded."""
    (file,) = folder.glob("state/sessions/*/events.jsonl")
    deadline = time.monotonic() + PATIENCE
    while f'"kind":"{kind}"'.encode() not in file.read_bytes()[-(64 << 10) :]:
        if time.monotonic() > deadline:
            raise SystemExit(f"no {kind} within {PATIENCE} s")
        with contextlib.suppress(pexpect.TIMEOUT):
            child.read_nonblocking(1 << 16, timeout=0.1)


def key_times(child: pexpect.spawn[bytes]) -> list[float]:
    """Milliseconds from `?` until the help is drawn."""
    times = []
    for _ in range(KEYS):
        time.sleep(0.05)
        start = time.perf_counter()
        child.send("?")
        child.expect("Running the agent")
        times.append((time.perf_counter() - start) * 1000)
        child.send("\x1b")
        child.expect("Tool calls")
        time.sleep(0.1)
    return times


PARTS: dict[str, Callable[[Path], Any]] = {
    "sessions": many_sessions,
    "events": many_events,
    "flood": flood,
    "output": output,
}


def main(names: list[str]) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, hard), hard) if soft < 4096 else (soft, hard))
    for name in names or PARTS:
        with tempfile.TemporaryDirectory() as folder:
            part = PARTS[name]
            ran = part(Path(folder))
            if asyncio.iscoroutine(ran):
                asyncio.run(ran)


if __name__ == "__main__":
    main(sys.argv[1:])
