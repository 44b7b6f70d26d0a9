"""A runner as a child process: its stdin and stdout carry the frames, its stderr is its log.

It runs under the supervisor of tools, as its `Home` says: so its whole tree ends with the session, and with
agentscope however that ends.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from agentscope_tui.runners.home import Home
from agentscope_tui.tools.link import Call, ProcessError, SupervisorLink
from agentscope_tui.tools.pipes import OutputPipe
from agentscope_tui.wire.channel import ChannelClosed
from agentscope_tui.wire.frame_channel import OnLog

LEAVE_SECONDS = 0.5
"""How long a runner whose stdin has ended may take to leave by itself."""
_ENDING_SECONDS = 1.0
_MAX_LINE = 4096
"""Bytes of a line of stderr that are kept."""


class ProcessStream:
    """The bytes of one runner process. `open` starts it, `aclose` ends all that it started."""

    def __init__(self, argv: Sequence[str], *, home: Home, env: Mapping[str, str], on_log: OnLog) -> None:
        self._argv = list(argv)
        self._home = home
        self._env = home.environment(env)
        self._on_log = on_log
        self._link: SupervisorLink | None = None
        self._call: Call | None = None
        self._stdin: asyncio.StreamWriter | None = None
        self._stderr: asyncio.Task[None] | None = None

    async def open(self) -> None:
        self._link = SupervisorLink(self._home.sandbox, self._home.writable)
        await self._link.wait_ready()
        theirs, ours = os.pipe()
        try:
            self._stdin = await _pipe_writer(ours)
            self._call = await self._link.spawn(self._argv, cwd=self._home.cwd, env=self._env, stdin=theirs)
        finally:
            os.close(theirs)
        self._stderr = asyncio.create_task(self._read_stderr(self._call), name="runner's stderr")

    async def read(self) -> bytes:
        if self._call is None:
            return b""
        data = await self._call.pipes[0].read()
        # A pipe that is always full would hold the loop.
        await asyncio.sleep(0)
        return data

    async def write(self, data: bytes) -> None:
        if self._stdin is None or self._stdin.is_closing():
            raise ChannelClosed
        try:
            self._stdin.write(data)
            await self._stdin.drain()
        except ConnectionError:
            raise ChannelClosed from None

    async def ending(self) -> str:
        if self._call is None or self._stderr is None:
            return "the runner did not start"
        await asyncio.wait({self._call.exit}, timeout=_ENDING_SECONDS)
        if not self._call.exit.done():
            return "the runner closed its standard output"
        await asyncio.wait({self._stderr}, timeout=_ENDING_SECONDS)
        try:
            return f"the runner {exit_words(self._call.exit.result())}"
        except ProcessError as error:
            return f"the runner was lost: {error}"

    async def aclose(self) -> None:
        if self._stdin is not None:
            self._stdin.close()
        if self._call is not None:
            await asyncio.wait({self._call.exit}, timeout=LEAVE_SECONDS)
        if self._link is not None:
            await self._link.aclose()
        if self._stderr is not None:
            await asyncio.wait({self._stderr}, timeout=_ENDING_SECONDS)
            self._stderr.cancel()
        if self._call is not None:
            self._call.close_pipes()

    async def _read_stderr(self, call: Call) -> None:
        await log_lines(call.pipes[1], lambda line: self._on_log("stderr", line))


async def log_lines(
    pipe: OutputPipe, on_line: Callable[[str], None], on_data: Callable[[bytes], None] | None = None
) -> None:
    """Read a pipe to its end: each line, cut at 4 KiB, goes to `on_line`, all of it to `on_data`."""
    rest = b""
    while data := await pipe.read():
        if on_data is not None:
            on_data(data)
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            on_line(_text(line))
        rest = rest[:_MAX_LINE]
        # A pipe that is always full would hold the loop.
        await asyncio.sleep(0)
    if rest:
        on_line(_text(rest))


def _text(line: bytes) -> str:
    return line[:_MAX_LINE].decode("utf-8", "replace").removesuffix("\r")


async def _pipe_writer(descriptor: int) -> asyncio.StreamWriter:
    """A writer that waits while the pipe's reader is far behind."""
    loop = asyncio.get_running_loop()
    file = os.fdopen(descriptor, "wb", buffering=0)
    try:
        transport, protocol = await loop.connect_write_pipe(
            lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()), file
        )
    except BaseException:
        file.close()
        raise
    return asyncio.StreamWriter(transport, protocol, None, loop)


def exit_words(value: int) -> str:
    """An exit code, or minus a signal, in words."""
    if value >= 0:
        return f"exited with status {value}"
    name = str(-value)
    with suppress(ValueError):  # a real-time signal
        name = signal.Signals(-value).name
    return f"was killed by {name}"
