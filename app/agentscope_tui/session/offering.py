"""The tools that a session's runner may ask for: ours, Python functions of the user's, skills."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from agentscope_tui.config import Config
from agentscope_tui.runners.python import tools_command
from agentscope_tui.runners.source import RunnerSource
from agentscope_tui.tools.local import LocalTools
from agentscope_tui.tools.none import NoTools
from agentscope_tui.tools.python_tools import PythonTools
from agentscope_tui.tools.skills import Skill, SkilledTools
from agentscope_tui.tools.spec import Toolset
from agentscope_tui.wire.frame_channel import OnLog


def check_tools(config: Config) -> None:
    """Find out before any session whether the user's functions can be looked for.

    Raises:
        UsageError: there is no such file or interpreter.
    """
    _functions(config, config.cwd)


async def offered_tools(
    config: Config,
    source: RunnerSource,
    tools: LocalTools,
    skills: Sequence[Skill],
    workdir: Path,
    on_log: OnLog,
) -> Toolset:
    """`tools` and what the settings add to them; the user's functions work in `workdir`. A program that
    speaks no frames can ask for none.

    Raises:
        UserError: the user's functions cannot be had, or are no tools.
    """
    if source.runs_program:
        return NoTools(tools)
    offered: Toolset = tools
    settings = config.settings
    command = _functions(config, workdir)
    if command is not None:
        functions = PythonTools(
            tools,
            command,
            cwd=config.cwd,
            env=source.environment(),
            result_cap=settings.tools.result_cap,
            start_timeout=settings.runner.start_timeout,
            on_log=on_log,
        )
        await functions.start()
        offered = functions
    return SkilledTools(offered, skills) if skills else offered


def _functions(config: Config, workdir: Path) -> list[str] | None:
    """The command that serves the user's functions; None without any."""
    name, python = config.settings.tools.python, config.settings.runner.python
    return None if name is None else tools_command(name, python, config.cwd, config.environ, workdir)
