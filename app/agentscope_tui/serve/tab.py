"""One page's app: a process of its own, with Textual's packets on its pipes.

A packet is one byte for its kind (`D` for what a terminal sends or draws, `M` for JSON about it), the length
as 4 bytes big-endian, and the payload.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from agentscope_tui.wire.last_lines import LastLines

log = logging.getLogger(__name__)

END_SECONDS = 5.0
"""How long an app has to end its sessions; it needs two at most."""
_READY = b"__GANGLION__\n"
_LARGEST = 64 << 20
"""Bytes of a packet."""


class Tab:
    """An app that runs. Make it with `open_tab`; read `output` until it ends, then `aclose`, always."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        """`process` has three pipes."""
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self._process = process
        self._input = process.stdin
        self._output = process.stdout
        self._said = LastLines()
        self._listening = asyncio.create_task(self._listen(process.stderr), name="what the app says")

    async def output(self) -> AsyncIterator[bytes]:
        """What the page's terminal draws, until the app ends."""
        read = self._output
        with suppress(asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            await read.readuntil(_READY)
            while True:
                head = await read.readexactly(5)
                length = int.from_bytes(head[1:], "big")
                if length > _LARGEST:
                    self._said.add(f"a packet of {length} bytes came from the app")
                    return
                payload = await read.readexactly(length)
                if head[:1] == b"D":
                    yield payload

    async def failure(self) -> str:
        """Once `output` has ended: why, if it was not in order; else empty."""
        await self._listening
        code = await self._process.wait()
        return self._said.after(f"the app ended with code {code}") if code else ""

    async def type(self, text: str) -> None:
        """Keys and mouse, as a terminal sends them."""
        await self._send(b"D", text.encode("utf-8", "replace"))

    async def tell(self, **meta: Any) -> None:
        """Something about the terminal: `type="resize", width=80, height=24`; `type="focus"`, `"blur"`."""
        await self._send(b"M", json.dumps(meta).encode())

    async def aclose(self) -> None:
        """Let the app end its sessions; kill it when it does not end. Nobody may read `output` any more."""
        self._input.close()
        try:
            async with asyncio.timeout(END_SECONDS):
                # It may be about to draw, and would wait for a reader.
                while await self._output.read(64 << 10):
                    pass
                await self._process.wait()
        except TimeoutError:
            log.error("an app did not end within %g s and was killed", END_SECONDS)
            with suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()
        self._listening.cancel()
        await asyncio.wait({self._listening})

    async def _send(self, kind: bytes, payload: bytes) -> None:
        # An app that has ended takes nothing: whoever reads `output` finds that out.
        with suppress(ConnectionError):
            self._input.write(kind + len(payload).to_bytes(4, "big") + payload)
            await self._input.drain()

    async def _listen(self, errors: asyncio.StreamReader) -> None:
        while data := await errors.read(64 << 10):
            for line in data.decode("utf-8", "replace").splitlines():
                self._said.add(line)


async def open_tab(command: Sequence[str], environ: Mapping[str, str]) -> Tab:
    """Start an app.

    It is in a session of its own, so that ctrl+c at the server does not reach it past the server.
    """
    pipe = asyncio.subprocess.PIPE
    return Tab(
        await asyncio.create_subprocess_exec(
            *command, stdin=pipe, stdout=pipe, stderr=pipe, env=environ, start_new_session=True
        )
    )
