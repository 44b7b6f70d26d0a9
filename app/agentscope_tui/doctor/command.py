"""`agentscope doctor`: what confines tools here, and whether the runner that the settings name is sound."""

from __future__ import annotations

import asyncio
import sys
from collections import deque
from pathlib import Path
from typing import TextIO

from agentscope_tui.config import Config
from agentscope_tui.confining import sandbox_of
from agentscope_tui.doctor.checks import RunnerChecks
from agentscope_tui.doctor.confinement import sandbox_report
from agentscope_tui.doctor.host import DoctorHost, Failed
from agentscope_tui.errors import UsageError
from agentscope_tui.printable import printable
from agentscope_tui.resources import runner_profiles
from agentscope_tui.runners.profile import Profiles, load_profiles
from agentscope_tui.runners.source import RunnerSource, choice_of, read_files

_LOG_LINES = 10


def examine(config: Config) -> int:
    """Say what confines tools, and check the runner; 0 when it passed, 1 when a check failed.

    Raises:
        UserError: no runner can be made of the settings, or the sandbox that they require does not work.
    """
    runner = config.settings.runner
    if runner.agent is not None:
        raise UsageError("--agent needs no check: doctor is for programs that speak frames (--runner)")
    source = RunnerSource(choice_of(config))
    profiles = load_profiles(runner_profiles(), named=runner.profile, patience=runner.patience)
    files = read_files(Path(runner.files).expanduser()) if runner.files else {}
    sandbox = asyncio.run(sandbox_of(config.settings.sandbox))
    for line in sandbox_report(sandbox):
        _line(sys.stdout, line)
    return asyncio.run(_examine(source, profiles, files, runner.start_timeout, sys.stdout))


async def _examine(
    source: RunnerSource, profiles: Profiles, files: dict[str, str], start_timeout: float, out: TextIO
) -> int:
    log: deque[str] = deque(maxlen=_LOG_LINES)
    await source.start()
    channel = source.channel(lambda stream, line: log.append(line))
    checks = RunnerChecks(DoctorHost(channel), profiles, files, start_timeout=start_timeout)
    _line(out, f"runner: {source.name}")
    failed = False
    try:
        for name, check in checks.all:
            try:
                _line(out, f"  ✓ {name:<26}{await check()}")
            except Failed as failure:
                _line(out, f"  ✗ {name:<26}{failure}")
                failed = True
                break
    finally:
        await channel.aclose()
        await source.aclose()
    for note in checks.notes:
        _line(out, f"  · {note}")
    if failed and log:
        _line(out, "the last lines of its log:")
        for line in log:
            _line(out, f"  {line}")
    _line(out, "a check failed; the rest was not tried" if failed else "the runner keeps the protocol")
    return 1 if failed else 0


def _line(out: TextIO, text: str) -> None:
    out.write(printable(text).rstrip() + "\n")
    out.flush()
