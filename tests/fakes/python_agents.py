"""Sessions whose runner is a Python agent written by a test, in a process of its own."""

from __future__ import annotations

import os
import sys
import textwrap
from pathlib import Path
from typing import Any

from agentscope_tui.events import RunnerLogged
from agentscope_tui.resources import runner_profiles
from agentscope_tui.runners.profile import load_profiles
from agentscope_tui.runners.python import agent_command
from fakes.processes import process_rig
from fakes.session_rig import Rig


def agent_rig(
    folder: Path,
    source: str,
    model: Any,
    tools: Any = None,
    /,
    *,
    agent: str = "agent:run",
    python: str = sys.executable,
    import_timeout: float = 20.0,
    stop_timeout: float = 2.5,
    **settings: Any,
) -> Rig:
    """A session on the agent `agent.py` in `folder`, whose text is `source`."""
    (folder / "agent.py").write_text(textwrap.dedent(source))
    argv = agent_command(agent, python, folder, os.environ, import_timeout, stop_timeout)
    profiles = load_profiles(runner_profiles())
    return process_rig(argv, folder, model, tools, profiles=profiles, **settings)


def log_of(rig: Rig) -> str:
    """All that the runner printed so far."""
    return "".join(event.text for event in rig.of(RunnerLogged))
