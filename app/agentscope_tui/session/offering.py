"""The tools that a session's runner may ask for: ours, the user's functions and MCP servers, skills."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path

from agentscope_tui.config import Config
from agentscope_tui.confining import command_limits
from agentscope_tui.errors import UsageError
from agentscope_tui.options import SETTING_FLAGS
from agentscope_tui.runners.python import tools_command
from agentscope_tui.runners.source import RunnerSource
from agentscope_tui.tools.local import LocalTools
from agentscope_tui.tools.mcp_address import NEEDS_PACKAGE, McpAddress, mcp_addresses
from agentscope_tui.tools.none import NoTools
from agentscope_tui.tools.python_tools import PythonTools
from agentscope_tui.tools.sandbox import Sandbox
from agentscope_tui.tools.skills import Skill, SkilledTools
from agentscope_tui.tools.spec import Toolset
from agentscope_tui.wire.frame_channel import OnLog


def check_tools(config: Config) -> None:
    """Find out before any session whether the user's functions and servers can be looked for.

    Raises:
        UsageError: there is no such file, interpreter or program, or the command line names tools for an
            agent that can get none.
    """
    if config.settings.runner.program is not None:
        for key in ("tools.python", "tools.mcp", "tools.skills"):
            if config.origin(key) == (flag := SETTING_FLAGS[key]):
                raise UsageError(f"{flag}: the program of --command has its own tools and gets none here")
    _functions(config, config.cwd)
    _addresses(config)


def local_tools(config: Config, sandbox: Sandbox, workdir: Path) -> LocalTools:
    """The built-in tools at work in a folder, as the settings say."""
    settings = config.settings.tools
    return LocalTools(
        workdir,
        sandbox=sandbox,
        bash_timeout=settings.bash_timeout,
        result_cap=settings.result_cap,
        limits=command_limits(settings.limits),
        offered=settings.builtin,
    )


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
        UserError: the user's functions or servers cannot be had, or offer no tools.
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
    addresses = _addresses(config)
    if addresses:
        offered = await _with_servers(offered, addresses, config, workdir, source.environment(), on_log)
    return SkilledTools(offered, skills) if skills else offered


async def _with_servers(
    tools: Toolset,
    addresses: Sequence[McpAddress],
    config: Config,
    workdir: Path,
    env: Mapping[str, str],
    on_log: OnLog,
) -> Toolset:
    """`tools` and those of MCP servers, all started; `tools` are closed where that fails."""
    try:
        # The SDK takes a second to import.
        await asyncio.to_thread(_import_sdk)
        from agentscope_tui.tools.mcp_tools import McpTools

        servers = McpTools(
            tools,
            addresses,
            cwd=config.cwd,
            workdir=workdir,
            env=env,
            result_cap=config.settings.tools.result_cap,
            start_timeout=config.settings.runner.start_timeout,
            max_message=config.settings.runner.max_frame << 20,
            on_log=on_log,
        )
        await servers.start()
    except BaseException:
        await tools.aclose()
        raise
    return servers


def _import_sdk() -> None:
    try:
        from mcp import Client  # noqa: F401
    except ImportError as error:
        raise UsageError(NEEDS_PACKAGE) from error


def _addresses(config: Config) -> list[McpAddress]:
    tools, python = config.settings.tools, config.settings.runner.python
    return mcp_addresses(tools.mcp, python, config.cwd, config.environ, tools.mcp_headers)


def _functions(config: Config, workdir: Path) -> list[str] | None:
    """The command that serves the user's functions; None without any."""
    name, python = config.settings.tools.python, config.settings.runner.python
    return None if name is None else tools_command(name, python, config.cwd, config.environ, workdir)
