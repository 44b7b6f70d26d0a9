"""A session of the built-in loop with the tools of MCP servers, and servers behind a URL."""

from __future__ import annotations

import asyncio
import os
import shlex
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from agentscope_tui.tools.mcp_address import mcp_addresses
from agentscope_tui.tools.mcp_tools import McpTools
from agentscope_tui.tools.process import ExitStatus, ProcessHost
from agentscope_tui.tools.sandbox import Sandbox
from fakes.engine import FakeModel, FakeTools, Reply, returns
from fakes.session_rig import Rig
from waiting import wait_until


@asynccontextmanager
async def mcp_session(
    folder: Path, servers: list[str], *replies: Reply, **settings: Any
) -> AsyncIterator[Rig]:
    """A started session; `folder` is the working folder of all. Beside the servers' tools there is a
    `read_file`."""
    tools = McpTools(
        FakeTools(read_file=returns("ours")),
        mcp_addresses(servers, sys.executable, folder, os.environ),
        cwd=folder,
        workdir=folder,
        env=os.environ,
        result_cap=10_000,
        start_timeout=60,
        max_message=64 << 20,
        on_log=lambda stream, line: None,
    )
    await tools.start()
    async with Rig(FakeModel(*replies), tools, **settings) as rig:
        yield rig


class HttpServer:
    """A program that serves at the port in its variable `PORT`. `stop` and `start` restart it."""

    def __init__(self, command: str, folder: Path) -> None:
        self._argv = shlex.split(command)
        self._folder = folder
        self._host = ProcessHost(Sandbox("none"), folder)
        self._running: asyncio.Task[ExitStatus] | None = None
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self._port = int(probe.getsockname()[1])
        self.url = f"http://127.0.0.1:{self._port}/mcp"

    async def __aenter__(self) -> HttpServer:
        await self.start()
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.stop()
        await self._host.aclose()

    async def start(self) -> None:
        env = {**os.environ, "PORT": str(self._port)}
        run = self._host.run(self._argv, cwd=self._folder, env=env, timeout=None, on_output=_nothing)
        running = self._running = asyncio.create_task(run)
        where = f"a server at port {self._port}"
        await wait_until(lambda: running.done() or self._listens(), where, seconds=60)
        assert not running.done(), "the server ended"

    async def stop(self) -> None:
        if self._running is not None:
            self._running.cancel()
            await asyncio.wait([self._running])

    def _listens(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self._port)) == 0


async def _nothing(stream: str, data: bytes) -> None:
    """What a server behind a URL prints is not ours."""
