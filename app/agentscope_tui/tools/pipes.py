"""The read end of a command's stdout or stderr, on the event loop."""

from __future__ import annotations

import asyncio
import fcntl
import os
import struct
import termios

from agentscope_tui.tools.spec import OnOutput, Stream

CHUNK = 65_536
_DISCARD_EVERY = 0.01
"""Seconds between two reads of output that nobody wants, so that a flood of it does not fill the loop."""


class OutputPipe:
    """A pipe: `write_fd` goes to the command, what comes out is pumped, then discarded."""

    def __init__(self, stream: Stream):
        self.stream: Stream = stream
        self._fd, self.write_fd = os.pipe()
        os.set_blocking(self._fd, False)
        self._loop = asyncio.get_running_loop()
        self._wake = asyncio.Event()
        self._left: int | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._closed = False

    async def pump(self, on_output: OnOutput) -> None:
        """Give the output to `on_output` in chunks of at most `CHUNK` bytes, until it ends or, after
        `finish`, until what was written by then is read."""
        while chunk := await self.read():
            await on_output(self.stream, chunk)
            # A pipe that is always full and a sink that never waits would hold the loop.
            await asyncio.sleep(0)

    def finish(self) -> None:
        """The command has ended: what is in the pipe now is the last that counts, even if a background
        process holds the pipe open."""
        if not self._closed:
            waiting = fcntl.ioctl(self._fd, termios.FIONREAD, struct.pack("i", 0))
            self._left = struct.unpack("i", waiting)[0]
        self._wake.set()

    def discard(self) -> None:
        """Read and drop the rest, so that a background process neither blocks nor gets SIGPIPE."""
        if not self._closed:
            self._timer = None
            self._loop.add_reader(self._fd, self._drop)

    def close_write(self) -> None:
        """The command has its own copy of `write_fd`: ours would keep the pipe from ending."""
        os.close(self.write_fd)

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        self._wake.set()
        self._loop.remove_reader(self._fd)
        if self._timer is not None:
            self._timer.cancel()
        os.close(self._fd)

    async def read(self) -> bytes:
        """The next chunk, of at most `CHUNK` bytes; none at the end. Only one task may read."""
        while not self._closed:
            size = CHUNK if self._left is None else min(CHUNK, self._left)
            try:
                chunk = os.read(self._fd, size)
            except BlockingIOError:
                if self._left is not None:
                    return b""
                await self._readable()
                continue
            if self._left is not None:
                self._left -= len(chunk)
            elif not chunk:
                self.close()
            return chunk
        return b""

    async def _readable(self) -> None:
        self._loop.add_reader(self._fd, self._wake.set)
        try:
            await self._wake.wait()
        finally:
            self._wake.clear()
            if not self._closed:
                self._loop.remove_reader(self._fd)

    def _drop(self) -> None:
        self._loop.remove_reader(self._fd)
        try:
            ended = not os.read(self._fd, CHUNK)
        except BlockingIOError:
            ended = False
        if ended:
            self.close()
        else:
            self._timer = self._loop.call_later(_DISCARD_EVERY, self.discard)
