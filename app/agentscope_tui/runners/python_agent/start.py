"""Starts a user's agent behind frames, or serves a user's functions as tools: `python start.py OPTIONS`.

OPTIONS are JSON: `{"agent": "agent:run", "start_timeout": 60, "stop_timeout": 5}`, or
`{"tools": "my_tools.py", "workdir": "..."}`.

The frames go over what was stdin and stdout. Both are moved away at once, so that whatever else the process
and its children print goes to stderr, which is the runner's log.
"""

from __future__ import annotations

import faulthandler
import importlib
import importlib.util
import json
import os
import sys
from typing import Any

_NAME = "_agentscope_runner"


def main() -> None:
    frames_in, frames_out = take_over()
    options = json.loads(sys.argv[1])
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [os.getcwd(), *(entry for entry in sys.path if os.path.abspath(entry or ".") != here)]
    sys.argv[:] = [options.get("agent") or options["tools"]]
    package = load_package(here)
    link = package.link.Link(frames_in, frames_out)
    package.prints.redirect()
    faulthandler.enable()
    if "tools" in options:
        package.tool_server.ToolServer(link, options["tools"], options["workdir"]).serve()
    else:
        timeouts = options["start_timeout"], options["stop_timeout"]
        package.session.AgentSession(link, options["agent"], *timeouts).serve()


def take_over() -> tuple[int, int]:
    """Keep stdin and stdout for the frames; stdin is then empty, and stdout is the log."""
    frames_in, frames_out = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return frames_in, frames_out


def load_package(folder: str) -> Any:
    spec = importlib.util.spec_from_file_location(
        _NAME, os.path.join(folder, "__init__.py"), submodule_search_locations=[folder]
    )
    assert spec is not None
    assert spec.loader is not None
    package = sys.modules[_NAME] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(package)
    for part in ("link", "prints", "session", "tool_server"):
        importlib.import_module(f"{_NAME}.{part}")
    return package


if __name__ == "__main__":
    main()
