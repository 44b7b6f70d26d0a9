"""Python programs as runner processes, and looking for what is left of them."""

from __future__ import annotations

import os
import sys
import textwrap
import uuid
from pathlib import Path
from typing import Any

from agentscope_tui.bus import EventBus
from agentscope_tui.runners.home import Home
from agentscope_tui.runners.process import ProcessStream
from agentscope_tui.session.runner_log import RunnerLog
from agentscope_tui.wire.frame_channel import FrameChannel
from agentscope_tui.wire.framing import MAX_FRAME, Base64Lines
from fakes.session_rig import Rig

FRAME_TOOLS = """
import base64, json, os, sys, time

def send(type, **fields):
    line = base64.b64encode(json.dumps({"type": type, **fields}).encode()) + b"\\n"
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()

def receive():
    line = sys.stdin.buffer.readline()
    return json.loads(base64.b64decode(line)) if line else None
"""
"""What a runner written in Python begins with."""


class Log(list[tuple[str, str]]):
    """Collects a runner's log lines as (stream, line)."""

    def __call__(self, stream: str, line: str) -> None:
        self.append((stream, line))

    def lines(self, stream: str) -> list[str]:
        return [line for name, line in self if name == stream]


def program(source: str) -> list[str]:
    """The command line of a Python program that can send and receive frames."""
    return [sys.executable, "-I", "-S", "-c", FRAME_TOOLS + textwrap.dedent(source)]


def process_rig(argv: list[str], folder: Path, model: Any, tools: Any, /, **settings: Any) -> Rig:
    """A session whose runner is this process, in this folder."""
    bus = EventBus("test")
    log = RunnerLog(bus.publish)
    stream = ProcessStream(argv, home=Home(folder), env=dict(os.environ), on_log=log)
    channel = FrameChannel(stream, Base64Lines(), log)
    return Rig(model, tools, channel=channel, runner_log=log, bus=bus, **settings)


def channel_to(source: str, folder: Path, log: Log | None = None, max_frame: int = MAX_FRAME) -> FrameChannel:
    """A channel to such a program, not yet open."""
    log = Log() if log is None else log
    stream = ProcessStream(program(source), home=Home(folder), env=dict(os.environ), on_log=log)
    return FrameChannel(stream, Base64Lines(max_frame), log)


def mark() -> str:
    """A word that no other process has in its command line."""
    return f"mark-{uuid.uuid4().hex}"


def alive(marked: str) -> list[int]:
    """The processes with this word in their command line, zombies not counted."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                if marked.encode() in (folder / "cmdline").read_bytes():
                    found.append(int(folder.name))
            except OSError:  # ended since the listing
                continue
    return found


def is_ours(pid: int) -> bool:
    """Whether a process descends from this one."""
    while pid > 1:
        if pid == os.getpid():
            return True
        stat = Path(f"/proc/{pid}/stat").read_text()
        pid = int(stat.rpartition(")")[2].split()[1])
    return False
