"""Fixtures for the tests of tools: both kinds of sandbox, and a folder to work in."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tool_rig import Marked, Shell

from agentscope_tui.tools.local import LocalTools
from agentscope_tui.tools.process import ProcessHost
from agentscope_tui.tools.sandbox import Sandbox, find_sandbox


@pytest.fixture
def marked() -> Marked:
    return Marked()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = (tmp_path / "work").resolve()
    path.mkdir()
    return path


@pytest.fixture
async def bwrap() -> Sandbox:
    found = await find_sandbox("auto")
    if found.name != "bwrap":
        pytest.skip(found.reason)
    return found


@pytest.fixture(params=["bwrap", "none"])
async def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    found = await find_sandbox("auto" if request.param == "bwrap" else "none")
    if found.name != request.param:
        pytest.skip(found.reason)
    return found


@pytest.fixture
async def shell(sandbox: Sandbox, folder: Path) -> AsyncIterator[Shell]:
    host = await ProcessHost.start(sandbox, folder)
    yield Shell(host, sandbox, folder)
    await host.aclose()


@pytest.fixture
async def best_sandbox() -> Sandbox:
    """What this machine has, for what does not depend on it."""
    return await find_sandbox("auto")


@pytest.fixture
async def tools(best_sandbox: Sandbox, folder: Path) -> AsyncIterator[LocalTools]:
    tools = LocalTools(folder, sandbox=best_sandbox)
    yield tools
    await tools.aclose()
