"""A channel over bytes: frames by a framing, large ones decoded in a thread, other text to the log."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Literal, Protocol

from agentscope_tui.wire.frames import Frame, FrameData, as_data
from agentscope_tui.wire.framing import Framing

LogStream = Literal["stdout", "stderr"]
OnLog = Callable[[LogStream, str], None]
"""Told each line of a runner's log, without its line end."""

LARGE = 256 << 10
"""Bytes of a piece from which on it is decoded in a thread."""
_MAX_LINE = 4096
"""Characters that a line of the log keeps."""


class ByteStream(Protocol):
    """The bytes below a channel, both ways. One task reads; writes are ordered by their caller."""

    async def open(self) -> None:
        """Connect.

        Raises:
            UserError: the other end cannot be reached; says why.
        """

    async def read(self) -> bytes:
        """The next bytes; none at the end."""

    async def write(self, data: bytes) -> None:
        """Hand over bytes; waits while the other end is far behind.

        Raises:
            ChannelClosed: either end is closed.
        """

    async def ending(self) -> str:
        """After the last bytes: how the other end ended, in words."""

    async def aclose(self) -> None:
        """Close both directions, and end what was started for it."""


class FrameChannel:
    """A `Channel` on a byte stream: each is read only as fast as its frames are received."""

    def __init__(self, stream: ByteStream, framing: Framing, on_log: OnLog) -> None:
        self._stream = stream
        self._framing = framing
        self._on_log = on_log

    async def open(self) -> None:
        await self._stream.open()

    async def send(self, frame: Frame | FrameData) -> None:
        await self._stream.write(self._framing.encode(as_data(frame)))

    async def receive(self) -> FrameData | None:
        """As `Channel.receive`.

        Raises:
            FrameError: the other end sent what is no frame, or ended inside one.
        """
        ended = False
        while not ended:
            piece = self._framing.take()
            if piece is None:
                data = await self._stream.read()
                ended = not data
                piece = self._framing.finish() if ended else None
                self._framing.feed(data)
            frame = None if piece is None else await self._decode(piece)
            if frame is not None:
                return frame
        return None

    async def ending(self) -> str:
        return await self._stream.ending()

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def _decode(self, piece: bytes) -> FrameData | None:
        if len(piece) < LARGE:
            frame, text = self._framing.decode(piece)
        else:
            frame, text = await asyncio.to_thread(self._framing.decode, piece)
        if text:
            self._on_log("stdout", text if len(text) <= _MAX_LINE else f"{text[:_MAX_LINE]} …")
        return frame
