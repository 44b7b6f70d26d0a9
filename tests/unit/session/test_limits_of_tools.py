"""What a command reaches of its limits: an event names it, with real commands in real folders."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from agentscope_tui.events import LimitReached, ToolResult
from agentscope_tui.tools.limits import CommandLimits
from agentscope_tui.tools.local import LocalTools
from agentscope_tui.tools.sandbox_probe import find_sandbox
from agentscope_tui.tools.spec import Stream
from fakes.engine import FakeModel, says
from fakes.session_rig import Rig

MIB = 1 << 20
BIG = "head -c 3000000 /dev/zero >"
TOO_LARGE = "bash wrote a file of more than 2 MiB"
MANY_FILES = """
import time
files = []
try:
    while True: files.append(open('/dev/null'))
except OSError: time.sleep(1)
raise SystemExit(1)
"""
TABLE = {
    "cpu": ("while :; do :; done", 1, "bash used more than 1 s of processor time"),
    "memory": (
        "python3 -c 'import time; x = bytes(range(256)) * 600_000; time.sleep(60)'",
        64 * MIB,
        "bash used more than 64 MiB of memory",
    ),
    "processes": ("for i in $(seq 30); do sleep 60 & done; wait", 20, "bash had more than 20 processes"),
    "open_files": (
        f'python3 -c "{MANY_FILES}"',
        32,
        "bash had as many files open as it may: 32",
    ),
    "file_size": (f"{BIG} big", 2 * MIB, "bash wrote a file of more than 2 MiB"),
    "output": ("yes", 2 * MIB, "bash printed more than 2 MiB"),
    "disk": (
        f"for i in 1 2 3 4 5; do {BIG} f$i; done; sleep 60",
        5 * MIB,
        "bash left more than 5 MiB in its folder",
    ),
}


async def run(folder: Path, command: str | tuple[str, str], **options: Any) -> Rig:
    """A session whose model has this command run, or calls this tool, ended."""
    call = ("bash", json.dumps({"command": command})) if isinstance(command, str) else command
    work = folder / "files"
    work.mkdir()
    (folder / "outputs").mkdir()
    tools = LocalTools(work, sandbox=await find_sandbox("auto"), **options)
    model = FakeModel(says("", call), says("done"))
    async with Rig(model, tools, folder=folder) as rig:
        await rig.run()
    return rig


@pytest.mark.parametrize("name", TABLE)
async def test_the_event_names_the_limit(tmp_path: Path, name: str) -> None:
    command, value, reason = TABLE[name]
    rig = await run(tmp_path, command, limits=CommandLimits(**{name: value}))
    (limit,) = rig.of(LimitReached)
    assert (limit.limit, limit.value, limit.reason) == (f"tools.limits.{name}", value, reason)
    (result,) = rig.of(ToolResult)
    assert (result.status, result.is_error) == ("failed", True)
    assert reason.removeprefix("bash ") in result.content


@pytest.mark.parametrize(
    ("command", "limits", "reason"),
    [
        (
            f"{BIG} big | cat; echo on",
            CommandLimits(file_size=2 * MIB),
            "bash wrote a file of more than 2 MiB",
        ),
        (
            f"mkdir in; {BIG} in/big; true",
            CommandLimits(file_size=2 * MIB),
            "bash wrote a file of more than 2 MiB",
        ),
        (f"{BIG} big; true", CommandLimits(disk=2 * MIB), "bash left more than 2 MiB in its folder"),
    ],
)
async def test_a_limit_is_named_also_where_the_shell_goes_on(
    tmp_path: Path, command: str, limits: CommandLimits, reason: str
) -> None:
    rig = await run(tmp_path, command, limits=limits)
    (limit,) = rig.of(LimitReached)
    assert limit.reason == reason
    (result,) = rig.of(ToolResult)
    assert f"[it {reason.removeprefix('bash ')}]" in result.content


async def test_what_was_there_before_is_not_held_against_a_command(tmp_path: Path) -> None:
    work = tmp_path / "files"
    work.mkdir()
    (work / "big").write_bytes(bytes(3 * MIB))
    os.utime(work / "big", (1, 1))
    tools = LocalTools(
        work, sandbox=await find_sandbox("auto"), limits=CommandLimits(file_size=2 * MIB, disk=2 * MIB)
    )
    try:
        outcome = await tools.call("bash", {"command": "ls"}, nowhere)
    finally:
        await tools.aclose()
    assert (outcome.content, outcome.limits) == ("big\n", ())


async def nowhere(stream: Stream, data: bytes) -> None:
    """Takes output and shows it to nobody."""


async def test_the_event_names_the_time_limit(tmp_path: Path) -> None:
    rig = await run(tmp_path, "sleep 60", bash_timeout=0.3)
    (limit,) = rig.of(LimitReached)
    assert (limit.limit, limit.value) == ("tools.bash_timeout", 0.3)
    assert limit.reason == "bash ran for 0.3 s and was ended"


async def test_the_file_of_an_output_is_no_longer_than_the_limit(tmp_path: Path) -> None:
    await run(tmp_path, "yes & yes >&2", limits=CommandLimits(output=3 * MIB))
    (file,) = (tmp_path / "outputs").iterdir()
    assert file.stat().st_size == 3 * MIB


async def test_a_file_tool_that_reaches_a_limit_says_so_too(tmp_path: Path) -> None:
    call = ("write_file", json.dumps({"path": "big", "content": "x" * 3000}))
    rig = await run(tmp_path, call, limits=CommandLimits(file_size=2000))
    (limit,) = rig.of(LimitReached)
    assert (limit.limit, limit.value) == ("tools.limits.file_size", 2000)
    assert limit.reason == "write_file wrote a file of more than 2,000 bytes"
    (result,) = rig.of(ToolResult)
    assert result.status == "failed"
    assert result.content.startswith("big: [it wrote a file of more than 2,000 bytes]")
