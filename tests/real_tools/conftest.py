"""Real MCP servers from npm; their tests skip where `.ci/run` has not installed them."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

FOLDER = "AGENTSCOPE_TEST_MCP"


@pytest.fixture(scope="session")
def npm_server() -> Callable[[str], str]:
    """The command of a server by its program's name."""
    folder = os.environ.get(FOLDER)
    if not folder:
        pytest.skip(f"needs the MCP servers of .ci/run: {FOLDER} not set")
    return lambda program: shlex.quote(str(Path(folder) / "node_modules" / ".bin" / program))
