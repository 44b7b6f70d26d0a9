"""The two-way pipe that carries frames, and the one that stays in memory."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Protocol

from agentscope_tui.wire.frames import Frame, FrameData, as_data


class ChannelClosed(Exception):
    """The other end is gone: what was sent can no longer arrive."""


class Channel(Protocol):
    """One end of a pipe of frames. One task receives; sends are ordered by their caller."""

    async def open(self) -> None:
        """Connect; before that nothing is sent or received.

        Raises:
            UserError: the other end cannot be reached; says why.
        """

    async def send(self, frame: Frame | FrameData) -> None:
        """Hand one frame over, or its data; waits while the other end is far behind.

        Raises:
            ChannelClosed: either end is closed.
        """

    async def receive(self) -> Frame | FrameData | None:
        """The next frame as data, or as it is where the other end is ours too; None once that has closed and
        all it sent was read."""

    async def ending(self) -> str:
        """Once `receive` gave None: how the other end ended, in words."""

    async def aclose(self) -> None:
        """Close both directions; the other end reads what was sent, then None."""


class Pipe:
    """One direction: a bounded queue that can end. `size` frames may wait in it."""

    def __init__(self, size: int = 64) -> None:
        self._size = size
        self._frames: deque[Frame | FrameData] = deque()
        self._closed = False
        self._waiting: list[asyncio.Future[None]] = []
        """Of those who can do nothing now."""

    async def put(self, frame: Frame | FrameData) -> None:
        while len(self._frames) >= self._size and not self._closed:
            await self._change()
        if self._closed:
            raise ChannelClosed
        self._frames.append(frame)
        self._wake()

    async def get(self) -> Frame | FrameData | None:
        while not self._frames and not self._closed:
            await self._change()
        frame = self._frames.popleft() if self._frames else None
        if self._waiting:
            self._wake()
        return frame

    async def close(self) -> None:
        self._closed = True
        self._wake()

    async def _change(self) -> None:
        changed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(changed)
        await changed

    def _wake(self) -> None:
        waiting, self._waiting = self._waiting, []
        for changed in waiting:
            if not changed.done():
                changed.set_result(None)


class MemoryChannel:
    """One end of a pipe inside this process."""

    def __init__(self, incoming: Pipe, outgoing: Pipe, *, shares: bool = False) -> None:
        """`shares` is for two ends that are ours: frames go over as they are, and not as data. Neither
        changes what is in them."""
        self._incoming = incoming
        self._outgoing = outgoing
        self._shares = shares

    async def open(self) -> None:
        """It is open."""

    async def send(self, frame: Frame | FrameData) -> None:
        await self._outgoing.put(frame if self._shares else as_data(frame))

    async def receive(self) -> Frame | FrameData | None:
        return await self._incoming.get()

    async def ending(self) -> str:
        return "the runner ended"

    async def aclose(self) -> None:
        await self._outgoing.close()
        await self._incoming.close()


def memory_channel(size: int = 64) -> tuple[MemoryChannel, MemoryChannel]:
    """Two connected ends, the host's and the runner's; `size` frames may wait in each direction."""
    to_runner, to_host = Pipe(size), Pipe(size)
    return MemoryChannel(to_host, to_runner), MemoryChannel(to_runner, to_host)
