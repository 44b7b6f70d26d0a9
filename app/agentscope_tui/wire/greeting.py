"""The greeting of a runner that dials in over TCP: its first frame is a hello with the token.

Whoever reaches the port could else have the model answered and tools run; a unix socket needs no token,
because only its owner can open it.
"""

from __future__ import annotations

import asyncio
import secrets
from dataclasses import dataclass, field

from agentscope_tui.wire.frames import FrameError
from agentscope_tui.wire.framing import LengthPrefixed

TOKEN_VARIABLE = "AGENTSCOPE_TOKEN"
"""The environment variable that gives the token, to agentscope and to runners."""
GREETING_SECONDS = 10.0
"""Seconds from connecting to the end of the hello."""
_LARGEST = 64 << 10
_CHUNK = 4 << 10


@dataclass(frozen=True)
class Token:
    """What runners have to show, and where a user finds it."""

    value: str = field(repr=False)
    origin: str


async def greeting_of(reader: asyncio.StreamReader, token: Token) -> bytes | None:
    """All that was read with a hello that has the token; None: something else came, or nothing in time."""
    framing = LengthPrefixed(_LARGEST)
    received = b""
    try:
        async with asyncio.timeout(GREETING_SECONDS):
            while (piece := framing.take()) is None:
                data = await reader.read(_CHUNK)
                if not data:
                    return None
                received += data
                framing.feed(data)
        hello, _ = framing.decode(piece)
    except (TimeoutError, ConnectionError, FrameError):
        return None
    shown = hello.get("token") if hello is not None and hello.get("type") == "hello" else None
    if not isinstance(shown, str):
        return None
    known = secrets.compare_digest(shown.encode("utf-8", "replace"), token.value.encode())
    return received if known else None
