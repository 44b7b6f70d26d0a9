"""`agentscope serve` as a process, and its pages as a browser's script drives them."""

from __future__ import annotations

import asyncio
import json
import os
import re
import select
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import pyte

from e2e.terminal import COMMAND, DEADLINE, environment

_ADDRESS = re.compile(r"http://\S+")


class Served:
    """A server in `folder`, with these words; `settings` are environment variables."""

    def __init__(self, folder: Path, words: Sequence[str], **settings: str) -> None:
        self.folder = folder
        self.process = subprocess.Popen(
            [COMMAND, "serve", "--port", "0", *words],
            cwd=folder,
            env=environment(folder) | settings,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        self.said = ""
        self.address = ""

    def __enter__(self) -> Served:
        try:
            self.address = self._read_address()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *exc: object) -> None:
        self.process.terminate()
        self.process.wait(DEADLINE)
        assert self.process.stdout is not None
        self.process.stdout.close()

    @property
    def origin(self) -> str:
        """`http://127.0.0.1:PORT`."""
        return self.address[: self.address.index("/", len("http://"))]

    @property
    def token(self) -> str:
        return urlsplit(self.address).path.strip("/")

    @property
    def pages(self) -> list[int]:
        """The processes of its pages."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        return [int(pid) for pid in children.split()]

    def end(self, number: int) -> int:
        """Send a signal and wait for the end; the exit code."""
        self.process.send_signal(number)
        return self.process.wait(DEADLINE)

    def last_events(self) -> list[str]:
        """The kind of the last event of each recorded session."""
        files = self.folder.glob("state/sessions/*/events.jsonl")
        return [json.loads(file.read_text().splitlines()[-1])["kind"] for file in files]

    def logs(self) -> str:
        """All files of the state folder."""
        files = (file for file in self.folder.glob("state/**/*") if file.is_file())
        # Not all of them are text: the index of sessions is a database.
        return "".join(file.read_text(errors="replace") for file in files)

    def _read_address(self) -> str:
        deadline = time.monotonic() + DEADLINE
        stdout = self.process.stdout
        assert stdout is not None
        while (found := _ADDRESS.search(self.said)) is None or "sessions." not in self.said:
            assert time.monotonic() < deadline, self.said
            if select.select([stdout], [], [], 0.1)[0]:
                piece = os.read(stdout.fileno(), 4096).decode()
                assert piece, f"it ended: {self.said}"
                self.said += piece
        return found[0]


def told(pid: int, name: str) -> list[str]:
    """What /proc tells of a process as `cmdline` or `environ`."""
    return Path(f"/proc/{pid}/{name}").read_text().split("\0")


def alive(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


class Page:
    """A page's terminal of 120×40, over its websocket."""

    def __init__(self, served: Served, client: aiohttp.ClientSession) -> None:
        self._served = served
        self._client = client
        self._screen = pyte.Screen(120, 40)
        self._stream = pyte.ByteStream(self._screen)
        self._socket: Any = None

    async def open(self) -> Page:
        address = f"{self._served.address}ws?width=120&height=40"
        self._socket = await self._client.ws_connect(address, headers={"Origin": self._served.origin})
        return self

    @property
    def screen(self) -> str:
        return "\n".join(self._screen.display)

    async def press(self, keys: str) -> None:
        await self._socket.send_json(["stdin", keys])

    async def until(self, wanted: str) -> None:
        """Wait until a text stands on the page."""
        deadline = time.monotonic() + DEADLINE
        while wanted not in self.screen:
            message = await self._socket.receive(timeout=max(0.1, deadline - time.monotonic()))
            assert message.type is aiohttp.WSMsgType.BINARY, f"{wanted!r} did not come; on it:\n{self.screen}"
            self._stream.feed(message.data)

    async def closed(self) -> None:
        """Wait until the server has closed it."""
        async with asyncio.timeout(DEADLINE):
            async for message in self._socket:
                if message.type is aiohttp.WSMsgType.BINARY:
                    self._stream.feed(message.data)

    async def close(self) -> None:
        await self._socket.close()
