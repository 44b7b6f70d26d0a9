"""An MCP server as a process: its stdin and stdout carry the messages of the SDK's client, a line each."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import anyio
from anyio.abc import ObjectReceiveStream, ObjectSendStream
from mcp.client._transport import TransportStreams
from mcp.shared.message import SessionMessage
from mcp.types import jsonrpc_message_adapter
from pydantic import ValidationError

from agentscope_tui.wire.channel import Channel, ChannelClosed
from agentscope_tui.wire.frames import FrameError, as_data

Received = SessionMessage | Exception


@asynccontextmanager
async def piped(channel: Channel, on_end: Callable[[str], None]) -> AsyncIterator[TransportStreams]:
    """The streams for a client of the server behind `channel`, which is open for that long.

    `on_end` gets why the server ended, before the client learns that it did.

    Raises:
        UserError: it cannot be started.
    """
    try:
        await channel.open()
        to_client, from_server = anyio.create_memory_object_stream[Received](0)
        to_server, from_client = anyio.create_memory_object_stream[SessionMessage](0)
        async with anyio.create_task_group() as group:
            group.start_soon(_read, channel, to_client, on_end)
            group.start_soon(_write, channel, from_client)
            yield from_server, to_server
            group.cancel_scope.cancel()
    finally:
        await channel.aclose()


async def _read(
    channel: Channel, to_client: ObjectSendStream[Received], on_end: Callable[[str], None]
) -> None:
    async with to_client:
        try:
            while (data := await channel.receive()) is not None:
                await to_client.send(_message(as_data(data)))
            why = await channel.ending()
        except FrameError as error:
            why = str(error)
        except anyio.BrokenResourceError:
            return  # the client has left
        on_end(why)


async def _write(channel: Channel, from_client: ObjectReceiveStream[SessionMessage]) -> None:
    async with from_client:
        try:
            async for item in from_client:
                await channel.send(item.message.model_dump(by_alias=True, mode="json", exclude_unset=True))
        except ChannelClosed:
            return  # `_read` comes to the end too, and tells why


def _message(data: dict[str, object]) -> Received:
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_python(data, by_name=False))
    except ValidationError as error:
        return error
