"""The web server with apps of a few lines: limits, the packets, and an end for every app."""

from __future__ import annotations

import asyncio
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass

import aiohttp
import pytest

from agentscope_tui.serve import server, tab
from agentscope_tui.serve.door import Door
from agentscope_tui.serve.server import PageServer
from waiting import wait_until

ECHO = """
import os, sys
def draw(data): os.write(1, b"D" + len(data).to_bytes(4, "big") + data)
os.write(1, b"__GANGLION__\\n")
draw(b"size " + sys.argv[1].encode() + b" term " + os.environ["TERM"].encode())
while head := os.read(0, 5):
    payload = os.read(0, int.from_bytes(head[1:], "big"))
    draw(head[:1] + payload)
    if payload == b"q": sys.exit(0)
    if payload == b"f":
        sys.stderr.write("agentscope: no such \\x1b[2Jfile\\n"); sys.exit(1)
    if payload == b"h":
        import time
        while True: time.sleep(1)
"""


@dataclass
class Served:
    """A server that runs, and a client."""

    server: PageServer
    port: int
    token: str
    client: aiohttp.ClientSession

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def url(self, path: str = "") -> str:
        return f"{self.origin}/{self.token}/{path}"

    async def page(self, size: str = "width=90&height=30") -> aiohttp.ClientWebSocketResponse:
        return await self.client.ws_connect(self.url(f"ws?{size}"), headers={"Origin": self.origin})


Serve = Callable[..., Awaitable[Served]]


@pytest.fixture
async def serve() -> AsyncIterator[Serve]:
    started: list[Served] = []

    async def start(app: str = ECHO, tabs: int = 4) -> Served:
        def command(width: int, height: int) -> list[str]:
            return [sys.executable, "-c", app, f"{width}x{height}"]

        door = Door("127.0.0.1")
        page_server = PageServer(command, door, tabs=tabs, environ={"TERM": "xterm"}, title="<t> & $x")
        bound = socket.create_server(("127.0.0.1", 0))
        await page_server.start(bound)
        served = Served(page_server, bound.getsockname()[1], door.token, aiohttp.ClientSession())
        started.append(served)
        return served

    yield start
    for served in started:
        await served.client.close()
        await served.server.aclose()


async def test_the_page_names_the_websocket_of_the_address_it_was_asked_at(serve: Serve) -> None:
    served = await serve()
    host = f"localhost:{served.port}"
    async with served.client.get(served.url("?fontsize=20"), headers={"Host": host}) as answer:
        text = await answer.text()
    assert answer.status == 200
    assert f'data-session-websocket-url="ws://{host}/{served.token}/ws"' in text
    assert 'data-font-size="20"' in text
    assert "<title>&lt;t&gt; &amp; $x</title>" in text
    assert f"connect-src ws://{host}/{served.token}/ws;" in answer.headers["Content-Security-Policy"]


@pytest.mark.parametrize("path", ["", "static/js/textual.js", "page/page.js", "nothing"])
async def test_no_answer_gives_the_address_away(serve: Serve, path: str) -> None:
    served = await serve()
    async with served.client.get(served.url(path)) as answer:
        assert answer.status == (404 if path == "nothing" else 200)
        assert answer.headers["Referrer-Policy"] == "no-referrer"
        assert answer.headers["Cache-Control"] == "no-store"
        assert answer.headers["X-Frame-Options"] == "DENY"


async def test_keys_size_and_focus_reach_the_app_and_its_drawing_the_page(serve: Serve) -> None:
    served = await serve()
    page = await served.page()
    assert await page.receive_bytes(timeout=10) == b"size 90x30 term xterm"
    await page.send_json(["stdin", "é"])
    await page.send_json(["resize", {"width": 100, "height": 10**9}])
    await page.send_json(["focus"])
    drawn = [await page.receive_bytes(timeout=10) for _ in range(3)]
    assert drawn == [
        "Dé".encode(),
        b'M{"type": "resize", "width": 100, "height": 1000}',
        b'M{"type": "focus"}',
    ]
    await page.send_json(["ping", "17"])
    assert await page.receive_json(timeout=10) == ["pong", "17"]


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "7", '["stdin"]', '["stdin", 7]', '["resize", {"width": "x"}]', '["other", {}]']
)
async def test_a_message_that_is_none_is_ignored(serve: Serve, text: str) -> None:
    served = await serve()
    page = await served.page()
    await page.receive_bytes(timeout=10)
    await page.send_str(text)
    await page.send_json(["stdin", "a"])
    assert await page.receive_bytes(timeout=10) == b"Da"


@pytest.mark.parametrize("size", ["", "width=x&height=-1", "width=&height=" + "9" * 5000])
async def test_a_page_without_a_size_gets_the_usual_one(serve: Serve, size: str) -> None:
    served = await serve()
    if len(size) > 4096:
        with pytest.raises(aiohttp.WSServerHandshakeError):
            await served.page(size)
    else:
        page = await served.page(size)
        assert (await page.receive_bytes(timeout=10)).startswith(b"size 80x24 ")


async def test_an_app_that_ends_closes_its_page(serve: Serve) -> None:
    served = await serve()
    page = await served.page()
    await page.send_json(["stdin", "q"])
    drawn = [message.data async for message in page]
    assert drawn[-1] == b"Dq"


async def test_an_app_that_fails_tells_the_page_why_without_its_escape_sequences(
    serve: Serve, capsys: pytest.CaptureFixture[str]
) -> None:
    served = await serve()
    page = await served.page()
    await page.send_json(["stdin", "f"])
    drawn = [message.data async for message in page]
    reason = "the app ended with code 1; the end of its log: agentscope: no such \\u001b[2Jfile"
    assert drawn[-1].endswith(f"\x1b[H{reason}\r\n".encode())
    assert capsys.readouterr().out == f"agentscope: {reason}\n"


async def test_an_app_that_does_not_end_is_killed(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tab, "END_SECONDS", 0.2)
    opened: list[tab.Tab] = []

    async def open_tab(*arguments) -> tab.Tab:
        opened.append(await tab.open_tab(*arguments))
        return opened[-1]

    monkeypatch.setattr(server, "open_tab", open_tab)
    served = await serve()
    page = await served.page()
    await page.send_json(["stdin", "h"])
    await page.receive_bytes(timeout=10)
    await page.receive_bytes(timeout=10)
    await page.close()
    await wait_until(lambda: opened[0]._process.returncode == -9, "the app is killed")


async def test_no_more_pages_than_the_setting_says_and_a_closed_one_makes_room(serve: Serve) -> None:
    served = await serve(tabs=1)
    page = await served.page()
    async with served.client.get(served.url()) as answer:
        assert answer.status == 503
        assert "raise serve.tabs" in await answer.text()
    with pytest.raises(aiohttp.WSServerHandshakeError, match="503"):
        await served.page()
    await page.close()

    await wait_until(lambda: served.server._open == 0, "the page is closed")
    assert (await (await served.page()).receive_bytes(timeout=10)).startswith(b"size")


async def test_the_end_of_the_server_ends_pages_and_apps(serve: Serve) -> None:
    served = await serve()
    pages = [await served.page() for _ in range(2)]
    for page in pages:
        await page.receive_bytes(timeout=10)
    ending = asyncio.create_task(served.server.aclose())
    assert [[message.data async for message in page] for page in pages] == [[], []]
    await asyncio.wait_for(ending, 10)
    with pytest.raises(aiohttp.ClientConnectorError):
        await served.client.get(served.url())


async def ask(port: int, request: bytes) -> bytes:
    """What the server answers until it closes the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request)
    answer = await asyncio.wait_for(reader.read(), 10)
    writer.close()
    return answer


@pytest.mark.parametrize(
    ("request_of", "status"),
    [
        (lambda path: f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nX: {'x' * 5000}\r\n\r\n", b"400"),
        (lambda path: f"GET {path}?{'x' * 5000} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", b"400"),
        (
            lambda path: f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{'X: x' * 1}\r\n" + "X: y\r\n" * 99,
            b"400",
        ),
        (lambda path: "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", b"403"),
        (lambda path: "OPTIONS * HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", b"403"),
        (lambda path: f"GET {path} HTTP/1.1\r\nHost: evil.example\r\n\r\n", b"403"),
        (lambda path: f"GET {path} HTTP/1.0\r\n\r\n", b"403"),
        (lambda path: "\x16\x03\x01 not HTTP\r\n\r\n", b"400"),
    ],
    ids=[
        "long header",
        "long line",
        "many headers",
        "no token",
        "star",
        "foreign host",
        "no host",
        "no HTTP",
    ],
)
async def test_what_no_browser_sends_is_refused_and_ends_the_connection(
    serve: Serve, request_of: Callable[[str], str], status: bytes
) -> None:
    served = await serve()
    answer = await ask(served.port, request_of(f"/{served.token}/").encode())
    assert answer.split(b" ")[1] == status


async def test_a_body_is_not_read(serve: Serve) -> None:
    served = await serve()
    head = f"POST /{served.token}/ HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 99999999\r\n\r\n"
    assert (await ask(served.port, head.encode())).split(b" ")[1] == b"405"


async def test_a_connection_that_asks_nothing_is_closed(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "_REQUEST_SECONDS", 0.1)
    served = await serve()
    assert await ask(served.port, b"GET / HTTP/1.1\r\nHo") == b""


async def test_a_connection_too_many_is_closed(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "_CONNECTIONS", 2)
    served = await serve()
    held = [await asyncio.open_connection("127.0.0.1", served.port) for _ in range(2)]
    assert await ask(served.port, b"") == b""
    assert await asyncio.wait_for(held[0][0].read(0), 10) == b""
    for _, writer in held:
        writer.close()
    await wait_until(lambda: not served.server._runner.server.connections, "the held ones are closed")
    assert (await ask(served.port, b"GET / HTTP/1.0\r\n\r\n")).startswith(b"HTTP")
