"""HTTP clients that sessions share: those that connect in the same way have one pool of connections.

A client belongs to one event loop, and closes when the last of its users has left it.
"""

from __future__ import annotations

import asyncio
import os
import ssl
from dataclasses import dataclass
from functools import cache
from weakref import WeakKeyDictionary

import httpx

_POOL = 5.0
_WRITE = 60.0
_KEPT_ALIVE = 256
"""Connections without a call that stay open for the next ones."""

_Key = tuple[object, ...]


@dataclass(eq=False)
class SharedClient:
    """A client, and how many use it. Get one with `shared_client`, and leave it when done."""

    client: httpx.AsyncClient
    users: int = 0

    async def leave(self) -> None:
        """One user less; the last one closes all connections."""
        self.users -= 1
        if self.users == 0:
            await self.client.aclose()


_clients: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[_Key, SharedClient]] = WeakKeyDictionary()


def shared_client(connect: float) -> SharedClient:
    """The client of this loop for connections that may take `connect` seconds; the caller is one more user.

    Raises:
        ImportError, ValueError, OSError, httpx.InvalidURL: a proxy or certificates that the environment names
            cannot be used.
    """
    of_loop = _clients.setdefault(asyncio.get_running_loop(), {})
    key = (connect, *(value for name, value in sorted(os.environ.items()) if _matters(name)))
    shared = of_loop.get(key)
    if shared is None or shared.client.is_closed or shared.users == 0:
        shared = of_loop[key] = SharedClient(new_client(connect))
    shared.users += 1
    return shared


def new_client(connect: float) -> httpx.AsyncClient:
    """A client of its own; raises as `shared_client`."""
    return httpx.AsyncClient(
        verify=_certificates(os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR")),
        timeout=httpx.Timeout(connect=connect, pool=_POOL, write=_WRITE, read=None),
        limits=httpx.Limits(max_connections=None, max_keepalive_connections=_KEPT_ALIVE),
        headers={"accept": "text/event-stream", "user-agent": "agentscope"},
        # No proxy leads back to this machine, even where NO_PROXY does not say so.
        mounts={f"all://{host}": None for host in ("localhost", "127.0.0.1", "[::1]")},
    )


def _matters(name: str) -> bool:
    """Whether this variable of the environment changes how a client connects."""
    return name.upper().endswith("_PROXY") or name in ("SSL_CERT_FILE", "SSL_CERT_DIR", "SSLKEYLOGFILE")


@cache
def _certificates(file: str | None, folder: str | None) -> ssl.SSLContext:
    """The certificates that are trusted; reading them takes long enough to be felt with each session."""
    return httpx.create_ssl_context()
