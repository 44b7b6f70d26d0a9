"""The connection to one MCP server: one task opens it, holds it and closes it; others call through it.

The SDK's scopes must be left by the task that entered them, so no caller may hold them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from mcp import Client, MCPError
from mcp.client import IncomingMessage, Transport
from mcp.shared.dispatcher import ProgressFnT
from mcp.types import (
    CONNECTION_CLOSED,
    CallToolResult,
    Implementation,
    LoggingMessageNotificationParams,
    Tool,
    ToolListChangedNotification,
)
from pydantic import ValidationError

from agentscope_tui import __version__
from agentscope_tui.errors import UserError

OnEnd = Callable[[str], None]
_LEAVE_SECONDS = 3.0
"""How long the goodbye to a server may take; the end of its process comes on top."""
_MOST_PAGES = 100
_SESSION_GONE = ("Session terminated", "Server returned an error response")
"""What the SDK says where a server behind a URL does not know the session any more: it was restarted."""


class McpConnection:
    """From `start` to `aclose`, or until the server ends: then `lost` says why."""

    def __init__(self, transport: Callable[[OnEnd], Transport], on_note: Callable[[str], None]) -> None:
        """`transport` makes the streams to a server. `on_note` gets what it logs."""
        self._transport = transport
        self._on_note = on_note
        self._leaving = asyncio.Event()
        self._client: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        self._owner: asyncio.Task[None] | None = None
        self.lost = ""
        self.name = ""
        """What the server calls itself; empty if it does not say."""
        self.tools: list[Tool] = []

    async def start(self, timeout: float) -> None:
        """Connect and learn the tools, within `timeout` seconds.

        Raises:
            TimeoutError: it took longer.
            UserError: there is no server, or it does not behave like one; says why.
        """
        self._owner = asyncio.create_task(self._own(), name="mcp server")
        try:
            async with asyncio.timeout(timeout):
                await asyncio.shield(self._client)
        except BaseException:
            self._owner.cancel()
            await self.aclose()
            raise

    async def call(self, name: str, arguments: dict[str, object], on_progress: ProgressFnT) -> CallToolResult:
        """Call a tool. Cancelling the task tells the server to stop.

        Raises:
            UserError: it gave no result; says why.
        """
        client = self._client.result()
        try:
            return await client.call_tool(name, arguments, progress_callback=on_progress)
        except MCPError as error:
            if error.code == CONNECTION_CLOSED or str(error) in _SESSION_GONE:
                self._end(str(error))
                raise UserError(f"{self.lost} (the next call connects anew)") from None
            raise UserError(str(error)) from None
        except ValidationError as error:
            raise UserError(_words(error)) from None
        except RuntimeError as error:  # the SDK's: no structured result where one was declared, and the like
            raise UserError(str(error)) from None

    async def aclose(self) -> None:
        """Say goodbye and end the server's process."""
        self._end("the session has ended")
        if self._owner is not None:
            _, late = await asyncio.wait([self._owner], timeout=_LEAVE_SECONDS)
            for owner in late:
                owner.cancel()
                await asyncio.wait([owner])

    async def _own(self) -> None:
        client = Client(
            self._transport(self._lose),
            client_info=Implementation(name="agentscope", version=__version__),
            logging_callback=self._log,
            log_level="info",
            message_handler=self._hear,
        )
        try:
            async with client:
                await self._learn(client)
                self._client.set_result(client)
                await self._leaving.wait()
        except Exception as error:
            reason = self.lost or _words(error)
            if self._client.done():
                self._on_note(f"it was not left properly: {reason}")
            else:
                self._client.set_exception(UserError(reason))
                self._client.exception()  # a cancelled start never asks for it

    async def _learn(self, client: Client) -> None:
        self.name = client.server_info.name if client.server_info else ""
        cursor = None
        for _ in range(_MOST_PAGES):
            page = await client.list_tools(cursor=cursor)
            self.tools += page.tools
            cursor = page.next_cursor
            if cursor is None:
                return

    def _lose(self, why: str) -> None:
        """The server's process has ended."""
        if not self._leaving.is_set() and self._client.done():
            self._on_note(why)
        self._end(why)

    def _end(self, why: str) -> None:
        self.lost = self.lost or why
        self._leaving.set()

    async def _log(self, params: LoggingMessageNotificationParams) -> None:
        self._on_note(f"{params.level}: {params.data}")

    async def _hear(self, message: IncomingMessage) -> None:
        if isinstance(message, ToolListChangedNotification):
            self._on_note("its tools have changed: a new session sees them")


def _words(error: BaseException) -> str:
    """Why it failed, out of the groups that the SDK's tasks make of it."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, ValidationError):
        fault = error.errors(include_url=False)[0]
        return f"its answer is not as MCP has it: {'.'.join(map(str, fault['loc']))}: {fault['msg']}"
    return str(error) or type(error).__name__
