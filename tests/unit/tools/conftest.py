"""Fixtures for the tests of tools: both kinds of sandbox, and a folder to work in."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tool_rig import Marked, Shell

from agentscope_tui.tools.local import LocalTools
from agentscope_tui.tools.process import ProcessHost
from agentscope_tui.tools.sandbox import Sandbox, SandboxError
from agentscope_tui.tools.sandbox_probe import SandboxMode, find_sandbox


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
    return await _only("bwrap")


@pytest.fixture
async def landlock() -> Sandbox:
    return await _only("landlock")


@pytest.fixture(params=["bwrap", "landlock", "none"])
async def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    return await _only(request.param)


@pytest.fixture(params=["bwrap", "landlock"])
async def confined(request: pytest.FixtureRequest) -> Sandbox:
    return await _only(request.param)


async def _only(kind: SandboxMode) -> Sandbox:
    try:
        return await find_sandbox(kind)
    except SandboxError as error:
        pytest.skip(str(error))


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
