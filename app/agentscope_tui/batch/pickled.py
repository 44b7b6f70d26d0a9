"""Messages between a program and the processes that it started itself: pickled, each behind its length."""

from __future__ import annotations

import asyncio
import pickle
import struct
from typing import Any

_LENGTH = struct.Struct("!Q")


class Pickled:
    """One end of a socket. Only for peers that are trusted with everything: reading runs what they say."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    def send(self, message: object) -> None:
        """Hand a message over; nothing is heard of one for a peer that is gone."""
        data = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
        self._writer.write(_LENGTH.pack(len(data)) + data)

    async def receive(self) -> Any:
        """The next message.

        Raises:
            EOFError: the peer is gone.
        """
        try:
            (length,) = _LENGTH.unpack(await self._reader.readexactly(_LENGTH.size))
            return pickle.loads(await self._reader.readexactly(length))
        except (asyncio.IncompleteReadError, ConnectionError) as error:
            raise EOFError("the other process is gone") from error

    def close(self) -> None:
        """Let go of the socket: the peer reads what was sent, then its end."""
        self._writer.close()
