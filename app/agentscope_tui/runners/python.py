"""The commands that run a user's Python agent or tools: their interpreter, `python_agent` by path."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from agentscope_tui.command_line import find_program
from agentscope_tui.errors import UsageError

STOP_TIMEOUT = 5.0
PYTHON_AGENT = Path(__file__).with_name("python_agent")
"""The folder of what runs in the user's interpreter."""
_START = PYTHON_AGENT / "start.py"


def agent_command(
    agent: str,
    python: str | None,
    cwd: Path,
    environ: Mapping[str, str],
    start_timeout: float,
    stop_timeout: float = STOP_TIMEOUT,
) -> list[str]:
    """The argv that runs `agent` (`module:attribute`) from the folder `cwd`. `python` is a path, or a name in
    the search path; None: our own interpreter. Its import may take `start_timeout` seconds; after an
    interrupt it has `stop_timeout` seconds before its process ends.

    Raises:
        UsageError: the agent has no name, or there is no such interpreter.
    """
    module, colon, attribute = agent.partition(":")
    if not module or (colon and not attribute):
        raise UsageError(f"--agent {agent}: name it as my_pkg.agent:run or agent.py:run")
    options = json.dumps({"agent": agent, "start_timeout": start_timeout, "stop_timeout": stop_timeout})
    return [_interpreter(python, cwd, environ), str(_START), options]


def tools_command(
    name: str, python: str | None, cwd: Path, environ: Mapping[str, str], workdir: Path
) -> list[str]:
    """The argv that serves the functions of a module or file as tools that work in `workdir`.

    Raises:
        UsageError: there is no such file or interpreter.
    """
    if name.endswith(".py") and not (cwd / name).is_file():
        raise UsageError(f"--tools {name}: there is no such file")
    options = json.dumps({"tools": name, "workdir": str(workdir)})
    return [_interpreter(python, cwd, environ), str(_START), options]


def mcp_folder_command(folder: str, python: str | None, cwd: Path, environ: Mapping[str, str]) -> list[str]:
    """The argv that runs the MCP server which `main.py` in a folder makes.

    Raises:
        UsageError: there is no such file or interpreter.
    """
    if not (cwd / folder / "main.py").is_file():
        raise UsageError(f"--mcp {folder}: the folder has no main.py")
    return [_interpreter(python, cwd, environ), str(PYTHON_AGENT / "mcp_folder.py"), str(cwd / folder)]


def _interpreter(python: str | None, cwd: Path, environ: Mapping[str, str]) -> str:
    if python is None:
        return sys.executable
    found = find_program(os.path.expanduser(python), cwd, environ)
    if found is None:
        raise UsageError(f"--python {python}: there is no such interpreter")
    return found
