"""An HTTP server that sends exactly the bytes a test scripts, and sees when its client goes away."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

DEADLINE = 10.0


class HangUp:
    """A step: reset the connection, in the middle of whatever was being sent."""


class Wait:
    """A step: send nothing until the client goes away or the server ends."""


Step = bytes | HangUp | Wait
Answer = Sequence[Step]
"""What is sent for one request. After the last step the connection is closed, unless `keep` was asked."""


@dataclass(frozen=True)
class Request:
    """One request as it came; header names are in lower case."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class RawServer:
    """Gives each request the next answer; the last one again when there are no more."""

    answers: list[Answer]
    keep: bool = False
    """Whether a connection stays open after an answer and takes the next request."""
    requests: list[Request] = field(default_factory=list)
    connections: int = 0
    """All connections so far."""
    open: int = 0
    """Connections that are open now."""

    async def __aenter__(self) -> RawServer:
        self._changed = asyncio.Event()
        self._writers: set[asyncio.StreamWriter] = set()
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *exc: object) -> None:
        self._server.close()
        for writer in self._writers:
            writer.transport.abort()
        await self.until(lambda server: server.open == 0)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    async def until(self, predicate: Callable[[RawServer], bool]) -> None:
        """Wait until something holds of requests or connections."""
        async with asyncio.timeout(DEADLINE):
            while not predicate(self):
                self._changed.clear()
                await self._changed.wait()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        self.connections += 1
        self.open += 1
        try:
            while (request := await _read_request(reader)) is not None:
                answer = self.answers[min(len(self.requests), len(self.answers) - 1)]
                self.requests.append(request)
                self._changed.set()
                await _play(answer, reader, writer)
                if not self.keep:
                    break
        except ConnectionError:
            pass  # The client went away, which `open` tells.
        finally:
            writer.close()
            self._writers.discard(writer)
            self.open -= 1
            self._changed.set()


async def _read_request(reader: asyncio.StreamReader) -> Request | None:
    """The next request; None when the client went away instead."""
    try:
        first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        pairs = (line.split(": ", 1) for line in lines if line)
        headers = {name.lower(): value for name, value in pairs}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
    except asyncio.IncompleteReadError:
        return None
    method, target, _ = first.split(" ")
    return Request(method, target, headers, body)


async def _play(answer: Answer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    for step in answer:
        match step:
            case bytes():
                writer.write(step)
                await writer.drain()
                # Each step is a segment of its own, so that the client reads it as a chunk.
                await asyncio.sleep(0.002)
            case HangUp():
                writer.transport.abort()
                raise ConnectionResetError
            case Wait():
                await reader.read()
                raise ConnectionResetError


STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
"""The head of a stream that ends when the connection is closed."""

CHUNKED = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


def chunk(data: bytes) -> bytes:
    """One HTTP chunk; the empty one ends the body."""
    return b"%x\r\n%s\r\n" % (len(data), data)


def event(value: Any) -> bytes:
    """One server-sent event with JSON data; a string stands as it is."""
    data = value if isinstance(value, str) else json.dumps(value)
    return b"data: %s\n\n" % data.encode()


def delta(finish: str | None = None, **fields: Any) -> bytes:
    """One Chat Completions chunk."""
    return event({"model": "m-1", "choices": [{"index": 0, "delta": fields, "finish_reason": finish}]})


DONE = event("[DONE]")


def stream(*steps: Step) -> Answer:
    """A stream of these steps."""
    return [STREAM, *steps]


def says(text: str) -> Answer:
    """A whole, correct answer."""
    return stream(delta(role="assistant", content=""), delta(content=text), delta("stop"), DONE)


def plain(status: int, body: object, *headers: str, content_type: str = "application/json") -> Answer:
    """An answer that is no stream; a body that is no string is sent as JSON."""
    data = (body if isinstance(body, str) else json.dumps(body)).encode()
    lines = [
        f"HTTP/1.1 {status} Status",
        f"Content-Type: {content_type}",
        f"Content-Length: {len(data)}",
        "Connection: close",
        *headers,
    ]
    return ["\r\n".join([*lines, "", ""]).encode() + data]
