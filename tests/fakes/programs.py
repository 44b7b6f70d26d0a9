"""Programs as agents of a session: small ones, that need no package, behind the real endpoint."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from agentscope_tui.bus import EventBus
from agentscope_tui.resources import runner_profiles
from agentscope_tui.runners.profile import load_profiles
from agentscope_tui.runners.source import RunnerChoice, RunnerSource
from agentscope_tui.session.runner_log import RunnerLog
from fakes.engine import FakeModel, Reply
from fakes.session_rig import Rig

_ASK = '''
import json, os, sys, urllib.request

def ask(*messages, **fields):
    """The assistant message that answers these: texts of the user, or whole messages."""
    messages = [m if isinstance(m, dict) else {"role": "user", "content": m} for m in messages]
    request = urllib.request.Request(
        os.environ["OPENAI_BASE_URL"] + "/chat/completions",
        json.dumps({"model": "asked", "messages": messages, **fields}).encode(),
        {"Authorization": "Bearer " + os.environ["OPENAI_API_KEY"]},
    )
    with urllib.request.urlopen(request) as response:
        return json.load(response)["choices"][0]["message"]
'''


def write_program(folder: Path, code: str) -> str:
    """Write an agent that may call `ask`; the command that runs it with the message as its argument."""
    file = folder / "agent.py"
    file.write_text(_ASK + code)
    return f"{shlex.quote(sys.executable)} {shlex.quote(str(file))} {{user_prompt}}"


@asynccontextmanager
async def agent_session(
    choice: RunnerChoice, *replies: Reply, row: dict[str, Any] | None = None, **settings: Any
) -> AsyncIterator[Rig]:
    """A started session whose agent is chosen so, and whose model gives these replies."""
    source = RunnerSource(choice)
    await source.start()
    bus = EventBus("test")
    log = RunnerLog(bus.publish)
    rig = Rig(
        FakeModel(*replies),
        channel=source.channel(log),
        bus=bus,
        runner_log=log,
        profiles=load_profiles(runner_profiles()),
        row_data=row or {},
        **settings,
    )
    try:
        async with rig:
            yield rig
    finally:
        await source.aclose()


@asynccontextmanager
async def program(
    command: str,
    folder: Path,
    *replies: Reply,
    environ: Mapping[str, str] | None = None,
    choice: Mapping[str, Any] | None = None,
    **settings: Any,
) -> AsyncIterator[Rig]:
    """A started session whose agent is this command; `choice` has more of the runner's settings."""
    environ = {"PATH": os.environ["PATH"]} if environ is None else environ
    chosen = RunnerChoice(program=command, cwd=folder, environ=environ, **(choice or {}))
    async with agent_session(chosen, *replies, **settings) as rig:
        yield rig


def logged(rig: Rig, stream: str) -> str:
    """What a program has printed there, as far as it was told."""
    return "".join(
        event.text for event in rig.events if event.kind == "runner_log" and event.stream == stream
    )


def is_alive(pid: int) -> bool:
    """Whether there is a process of this id."""
    return is_there(f"/proc/{pid}")


def is_there(path: str) -> bool:
    """Whether there is a file of this name."""
    return os.path.exists(path)
