"""An MCP server behind a URL, which may want headers of its own, such as a token."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager

import httpx2
from mcp.client._transport import TransportStreams
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

_REFUSED = (401, 403)
_NO_HEADERS = "give it its token with the setting tools.mcp_headers"


@asynccontextmanager
async def reached(
    url: str, headers: Mapping[str, str], on_refused: Callable[[str], None]
) -> AsyncIterator[TransportStreams]:
    """The streams for a client of the server, which gets the headers with each request.

    `on_refused` gets why the server does not let us in, before the client learns that something failed.
    """

    async def look(response: httpx2.Response) -> None:
        if response.status_code in _REFUSED:
            sent = "it does not take what tools.mcp_headers has for it" if headers else _NO_HEADERS
            on_refused(f"it answers with status {response.status_code}: {sent}")

    async with (
        create_mcp_http_client(dict(headers)) as client,
        streamable_http_client(url, http_client=client) as streams,
    ):
        client.event_hooks = {"response": [look]}
        yield streams
