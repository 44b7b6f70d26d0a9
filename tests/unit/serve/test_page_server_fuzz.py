"""The served app's port, under fire: no crash, no hang, no 5xx, and no app for a stranger."""

from __future__ import annotations

import asyncio
import logging
import socket
from contextlib import suppress

from aiohttp.http_exceptions import BadHttpMessage
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentscope_tui.serve.door import Door
from agentscope_tui.serve.server import PageServer

DEADLINE = 10.0
FUZZ = settings(
    max_examples=50,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)

methods = st.sampled_from(("GET", "POST", "PUT", "HEAD", "OPTIONS", "CONNECT", "TRACE", "get", "X Y", ""))
TARGETS = (
    *("/", "*", "//", "/ws", "/TOKEN/", "/TOKEN/ws", "/TOKEN/ws?width=x&height=-1", "/TOKEN/static/../../x"),
    *("/TOKEN/%00", "/TOKEN/nothing", "http://evil.example/TOKEN/", "/?%ff", "/é", "/" + "a" * 5000),
)
NAMES = ("Host", "Origin", "Upgrade", "Connection", "Sec-WebSocket-Key", "Content-Length", "Cookie")
VALUES = (
    *("", "HOST", "http://HOST", "websocket", "Upgrade", "evil.example", "http://evil.example", "-1", "5"),
    *("null", "é", "\0", "b" * 5000, "dGhlIHNhbXBsZSBub25jZQ=="),
)
targets = st.sampled_from(TARGETS)
headers = st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(VALUES)), max_size=6)


class Faults(logging.Handler):
    """What the server could only log: a defect, unless it is a request that is none."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.lines: list[str] = []
        self.setFormatter(logging.Formatter())

    def emit(self, record: logging.LogRecord) -> None:
        if not (record.exc_info and isinstance(record.exc_info[1], BadHttpMessage)):
            self.lines.append(self.format(record))


@FUZZ
@given(
    methods,
    targets,
    st.sampled_from(("HTTP/1.1", "HTTP/1.0", "HTTP/9.9", "")),
    headers,
    st.binary(max_size=99),
)
def test_any_request(
    method: str, target: str, version: str, headers: list[tuple[str, str]], body: bytes
) -> None:
    lines = [f"{method} {target} {version}", *(f"{name}: {value}" for name, value in headers)]
    asyncio.run(besieged("\r\n".join([*lines, "", ""]).encode("utf-8") + body))


@FUZZ
@given(st.binary(max_size=300))
def test_any_bytes(data: bytes) -> None:
    asyncio.run(besieged(data))


async def besieged(data: bytes) -> None:
    """A server that gets these bytes, and then a page that is asked for in order."""
    started: list[tuple[int, int]] = []

    def command(width: int, height: int) -> list[str]:
        started.append((width, height))
        return ["false"]

    faults, bound = Faults(), socket.create_server(("127.0.0.1", 0))
    logging.getLogger().addHandler(faults)
    host, door = f"127.0.0.1:{bound.getsockname()[1]}", Door("127.0.0.1", token="t0ken")
    server = PageServer(command, door, tabs=1, environ={}, title="agentscope")
    await server.start(bound)
    try:
        sent = data.replace(b"TOKEN", door.token.encode()).replace(b"HOST", host.encode())
        answer = await ask(host, sent)
        if not (b"Sec-WebSocket-Key" in sent and f"/{door.token}/ws".encode() in sent):
            assert started == []
        assert answer == b"" or not answer.startswith((b"HTTP/1.1 5", b"HTTP/1.0 5")), answer[:300]
        page = f"GET /{door.token}/ HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
        assert (await ask(host, page.encode())).startswith(b"HTTP/1.1 200")
    finally:
        await asyncio.wait_for(server.aclose(), DEADLINE)
        logging.getLogger().removeHandler(faults)
    assert faults.lines == []


async def ask(host: str, data: bytes) -> bytes:
    """What comes back for these bytes and the end after them."""
    reader, writer = await asyncio.open_connection("127.0.0.1", int(host.partition(":")[2]))
    answer = b""
    with suppress(ConnectionError):
        writer.write(data)
        await writer.drain()
        if b"Connection: close" not in data:
            writer.write_eof()
        answer = await asyncio.wait_for(reader.read(), DEADLINE)
    writer.close()
    with suppress(ConnectionError):
        await writer.wait_closed()
    return answer
