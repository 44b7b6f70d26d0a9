"""Tools of MCP servers, beside other tools. A server that ended is started anew by the next call."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mcp.client import Transport
from mcp.types import Tool

from agentscope_tui.errors import UserError
from agentscope_tui.runners.home import Home
from agentscope_tui.runners.process import ProcessStream
from agentscope_tui.tools.capping import cut_middle
from agentscope_tui.tools.mcp_address import McpAddress
from agentscope_tui.tools.mcp_connection import McpConnection, OnEnd
from agentscope_tui.tools.mcp_content import progress_text, result_text
from agentscope_tui.tools.mcp_http import reached
from agentscope_tui.tools.mcp_pipe import piped
from agentscope_tui.tools.spec import (
    OnOutput,
    Stream,
    ToolOutcome,
    Toolset,
    ToolSpecError,
    validate_tools,
)
from agentscope_tui.wire.frame_channel import FrameChannel, OnLog
from agentscope_tui.wire.framing import JsonLines
from agentscope_tui.wire.last_lines import LastLines

_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]")
_LONGEST_NAME = 64
_LONGEST_NOTE = 4096
"""Characters of what a server logs in one message."""


@dataclass
class _Server:
    """A server of this session, and the connection to it while there is one."""

    address: McpAddress
    connection: McpConnection | None = None
    starting: asyncio.Lock = field(default_factory=asyncio.Lock)


@dataclass(frozen=True)
class _Offered:
    """A tool under the name that the model sees."""

    server: _Server
    tool: Tool
    name: str

    @property
    def spec(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "description": self.tool.description or "",
            "parameters": self.tool.input_schema,
        }


class McpTools:
    """The tools of servers, beside the tools of `inner`. A name that is taken gets the server's in front."""

    def __init__(
        self,
        inner: Toolset,
        addresses: Sequence[McpAddress],
        *,
        cwd: Path,
        workdir: Path,
        env: Mapping[str, str],
        result_cap: int,
        start_timeout: float,
        max_message: int,
        on_log: OnLog,
    ) -> None:
        """Commands start in `cwd` with the variables `env`; `workdir` is the session's folder. `result_cap`
        is in characters, `start_timeout` in seconds, `max_message` in bytes."""
        self._inner = inner
        self._servers = [_Server(address) for address in addresses]
        self._cwd = cwd
        self._workdir = workdir
        self._env = env
        self._cap = result_cap
        self._start_timeout = start_timeout
        self._max_message = max_message
        self._on_log = on_log
        self._offered: dict[str, _Offered] = {}

    @property
    def specs(self) -> Sequence[dict[str, Any]]:
        return [*self._inner.specs, *(offered.spec for offered in self._offered.values())]

    @property
    def confinement(self) -> str:
        return self._inner.confinement

    async def start(self) -> None:
        """Start all servers and learn what they offer.

        Raises:
            UserError: one cannot be had, or what it offers are no tools; names it.
        """
        starts = [asyncio.create_task(self._connected(server)) for server in self._servers]
        try:
            for server, connection in zip(self._servers, await asyncio.gather(*starts), strict=True):
                self._offer(server, connection)
        except BaseException:
            for task in starts:
                task.cancel()
            await asyncio.wait(starts)
            await self._leave()
            raise

    async def call(self, name: str, arguments: dict[str, Any], on_output: OnOutput) -> ToolOutcome:
        """As every toolset.

        Raises:
            UserError: the server gave no result, or cannot be started again.
        """
        offered = self._offered.get(name)
        if offered is None:
            return await self._inner.call(name, arguments, on_output)
        going_on = True

        async def on_progress(progress: float, total: float | None, message: str | None) -> None:
            if going_on:
                await on_output("stdout", progress_text(progress, total, message).encode("utf-8", "replace"))

        connection = await self._connected(offered.server)
        try:
            result = await connection.call(offered.tool.name, arguments, on_progress)
        except UserError as error:
            raise UserError(f"tool '{name}' failed: {error}") from None
        finally:
            going_on = False
        text = result_text(result)
        content = cut_middle(text, self._cap)
        hints = offered.tool.annotations
        return ToolOutcome(
            content=content,
            is_error=result.is_error,
            truncated=content != text,
            side_effects=not (hints and hints.read_only_hint),
        )

    async def aclose(self) -> None:
        await self._leave()
        await self._inner.aclose()

    async def _leave(self) -> None:
        connections = [server.connection for server in self._servers if server.connection is not None]
        await asyncio.gather(*(connection.aclose() for connection in connections))

    async def _connected(self, server: _Server) -> McpConnection:
        """The connection to a server that is there, a new one if need be."""
        async with server.starting:
            old = server.connection
            if old is not None and not old.lost:
                return old
            if old is not None:
                await old.aclose()
            where = f"--mcp {server.address.text}"

            def note(text: str) -> None:
                for line in cut_middle(f"{where}: {text}", _LONGEST_NOTE).splitlines():
                    self._on_log("stderr", line)

            connection = McpConnection(self._transport(server.address), note)
            try:
                await connection.start(self._start_timeout)
            except TimeoutError:
                limit = f"{self._start_timeout:g} s (setting runner.start_timeout)"
                raise UserError(f"{where}: it was not ready within {limit}") from None
            except UserError as error:
                raise UserError(f"{where}: {error}") from None
            server.connection = connection
            return connection

    def _transport(self, address: McpAddress) -> Callable[[OnEnd], Transport]:
        if not address.argv:
            return lambda on_end: reached(address.text, address.headers, on_end)

        last = LastLines()

        def log(stream: Stream, line: str) -> None:
            last.add(line)
            self._on_log(stream, line)

        def transport(on_end: OnEnd) -> Transport:
            command = address.command(self._workdir)
            stream = ProcessStream(command, home=Home(self._cwd), env=self._env, on_log=log)
            channel = FrameChannel(stream, JsonLines(self._max_message), log)
            return piped(channel, lambda why: on_end(last.after(why.replace("the runner", "its process"))))

        return transport

    def _offer(self, server: _Server, connection: McpConnection) -> None:
        """Add a server's tools under names that no other tool has."""
        where = f"--mcp {server.address.text}"
        if not connection.tools:
            raise UserError(f"{where}: it has no tools")
        taken = {str(spec["name"]): "" for spec in self._inner.specs}
        taken |= {name: offered.server.address.text for name, offered in self._offered.items()}
        for tool in connection.tools:
            name = _NOT_IN_NAMES.sub("_", tool.name)
            if name in taken:
                name = _prefixed(name, connection.name)
            if name in taken:
                other = f"--mcp {taken[name]}" if taken[name] else "agentscope"
                raise ToolSpecError(f"{where}: its tool {tool.name!r} has the name of a tool of {other}")
            self._offered[name] = _Offered(server, tool, name)
            taken[name] = server.address.text
        try:
            validate_tools([offered.spec for offered in self._offered.values() if offered.server is server])
        except ToolSpecError as error:
            raise ToolSpecError(f"{where}: {error}") from None


def _prefixed(name: str, server: str) -> str:
    prefix = _NOT_IN_NAMES.sub("_", server or "mcp")
    return f"{prefix[: max(1, _LONGEST_NAME - 2 - len(name))]}__{name}"
