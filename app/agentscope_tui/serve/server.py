"""The web server: a page, its script, and a websocket for each page that drives an app of its own.

The page's script and fonts are those of textual-serve. Its server is not used: it has no door, waits
without end for an app that does not end by itself, and prints what an app says onto the terminal.
"""

from __future__ import annotations

import asyncio
import html
import importlib.resources
import socket
import string
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import textual_serve
from aiohttp import WSMsgType, web
from aiohttp.typedefs import Handler

from agentscope_tui.printable import printable
from agentscope_tui.serve.door import Door
from agentscope_tui.serve.tab import END_SECONDS, Tab, open_tab

_CONNECTIONS = 100
"""Connections at once; further ones are closed."""
_REQUEST_SECONDS = 10.0
"""How long a connection may take for its first request."""
_IDLE_SECONDS = 15.0
"""How long a connection is kept for the next request."""
_HEARTBEAT = 15.0
"""Seconds between pings of a page; half as long without an answer, and it is taken for closed."""
_HEADER = 4096
"""Bytes of the request line, and of one header."""
_HEADERS = 64
_MESSAGE = 4 << 20
"""Bytes of one message of a page: a paste."""
_WIDEST = 1000
"""Columns and rows of a page's terminal."""
_FONT_SIZE = 16
_CLOSE_SECONDS = 1.0
_PAGE = Path(__file__).parent / "page"

Response = TypeVar("Response", bound=web.StreamResponse)


class PageServer:
    """Serves an app. `command(width, height)` is what starts it for a page of that size.

    Use `start`, then `aclose`.
    """

    def __init__(
        self,
        command: Callable[[int, int], Sequence[str]],
        door: Door,
        *,
        tabs: int,
        environ: Mapping[str, str],
        title: str,
    ) -> None:
        """`tabs` is the most pages at once; `environ` is what apps get."""
        self._command = command
        self._door = door
        self._most = tabs
        self._environ = environ
        self._title = title
        self._open = 0
        self._silent: dict[asyncio.BaseProtocol, asyncio.TimerHandle] = {}
        self._leaving = asyncio.Event()
        self._runner: web.AppRunner | None = None
        self._listener: asyncio.Server | None = None

    async def start(self, bound: socket.socket) -> None:
        """Serve at a socket that is bound, and listens."""
        self._runner = web.AppRunner(
            self._application(),
            access_log=None,  # it would keep the token
            handle_signals=False,
            shutdown_timeout=END_SECONDS + 2 * _CLOSE_SECONDS,
            keepalive_timeout=_IDLE_SECONDS,
            lingering_time=0,
            max_line_size=_HEADER,
            max_field_size=_HEADER,
            max_headers=_HEADERS,
        )
        await self._runner.setup()
        self._listener = await asyncio.get_running_loop().create_server(self._accept, sock=bound)

    async def aclose(self) -> None:
        """Accept nothing more, end every app in order, and close every connection."""
        self._leaving.set()
        if self._listener is not None:
            self._listener.close()
        if self._runner is not None:
            await self._runner.cleanup()

    def _application(self) -> web.Application:
        inside = web.Application()
        static = Path(str(importlib.resources.files(textual_serve) / "static"))
        inside.add_routes(
            [
                web.get("/", self._page),
                web.get("/ws", self._websocket),
                web.static("/static", static),
                web.static("/page", _PAGE),
            ]
        )
        application = web.Application(middlewares=[self._guard], client_max_size=1)
        application.add_subapp(f"/{self._door.token}", inside)
        return application

    def _accept(self) -> asyncio.BaseProtocol:
        """The protocol for a new connection."""
        server = self._runner.server if self._runner is not None else None
        if server is None or len(server.connections) >= _CONNECTIONS:
            return _Refused()
        protocol = server()

        def too_late() -> None:
            del self._silent[protocol]
            protocol.force_close()

        self._silent[protocol] = asyncio.get_running_loop().call_later(_REQUEST_SECONDS, too_late)
        return protocol

    @web.middleware
    async def _guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        silent = self._silent.pop(request.protocol, None)
        if silent is not None:
            silent.cancel()
        refusal = self._door.refusal(
            request.path,
            host=request.headers.get("Host", ""),
            origin=request.headers.get("Origin"),
            websocket="Upgrade" in request.headers,
        )
        if refusal:
            response = web.Response(status=403, text=f"{refusal}\n")
            response.force_close()
            return _sealed(response)
        try:
            return _sealed(await handler(request))
        except web.HTTPException as answer:
            _sealed(answer)
            raise

    async def _page(self, request: web.Request) -> web.Response:
        if self._open >= self._most:
            return self._full()
        page = string.Template((_PAGE / "index.html").read_text(encoding="utf-8"))
        websocket = f"ws://{request.host}/{self._door.token}/ws"
        text = page.substitute(
            title=html.escape(self._title),
            websocket=html.escape(websocket),
            font_size=_number(request.query.get("fontsize", ""), _FONT_SIZE),
        )
        response = web.Response(text=text, content_type="text/html")
        response.headers["Content-Security-Policy"] = (
            "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; font-src 'self'; "
            f"img-src 'self' data:; connect-src {websocket}; "
            "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        )
        return response

    def _full(self) -> web.Response:
        text = f"{self._most} pages are open, and no more are served: close one, or raise serve.tabs\n"
        return web.Response(status=503, text=text)

    async def _websocket(self, request: web.Request) -> web.StreamResponse:
        if self._open >= self._most:
            return self._full()
        self._open += 1
        try:
            page = web.WebSocketResponse(heartbeat=_HEARTBEAT, timeout=_CLOSE_SECONDS, max_msg_size=_MESSAGE)
            await page.prepare(request)
            await self._serve_app(request, page)
        finally:
            self._open -= 1
        return page

    async def _serve_app(self, request: web.Request, page: web.WebSocketResponse) -> None:
        width, height = (_number(request.query.get(name, ""), 0) for name in ("width", "height"))
        tab = await open_tab(self._command(width or 80, height or 24), self._environ)
        try:
            await _until_one_ends(_draw(tab, page), _type(page, tab), self._leaving.wait())
        finally:
            await tab.aclose()
            with suppress(TimeoutError):
                # A page that takes nothing any more cannot be told.
                async with asyncio.timeout(2 * _CLOSE_SECONDS):
                    await page.close()


def _sealed(response: Response) -> Response:
    if not response.prepared:
        response.headers.update(_HEADERS_OF_ALL)
    return response


class _Refused(asyncio.Protocol):
    """A connection too many."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        transport.close()


async def _until_one_ends(*works: Coroutine[Any, Any, object]) -> None:
    tasks = [asyncio.create_task(work) for work in works]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
    for task in done:
        task.result()


async def _draw(tab: Tab, page: web.WebSocketResponse) -> None:
    """Send to the page what the app draws, and at last why it ended, if it was not in order."""
    with suppress(ConnectionError):
        async for data in tab.output():
            await page.send_bytes(data)
        failure = printable(await tab.failure())
        if failure:
            print(f"agentscope: {failure}")
            await page.send_bytes(f"\x1b[?1049l\x1b[2J\x1b[H{failure}\r\n".encode())


async def _type(page: web.WebSocketResponse, tab: Tab) -> None:
    """Give the app what the page sends, until the page is closed."""
    async for message in page:
        if message.type is not WSMsgType.TEXT:
            continue
        try:
            word = message.json()
        except ValueError:
            continue
        match word:
            case ["stdin", str(text)]:
                await tab.type(text)
            case ["resize", {"width": int(width), "height": int(height)}]:
                await tab.tell(type="resize", width=_within(width), height=_within(height))
            case ["focus" | "blur" as change, *_]:
                await tab.tell(type=change)
            case ["ping", str(sent)]:
                await page.send_json(["pong", sent])


def _number(text: str, otherwise: int) -> int:
    """The number that a page sent, if it is one that can be."""
    return _within(int(text)) if text.isascii() and text.isdigit() and len(text) < 6 else otherwise


def _within(size: int) -> int:
    return max(1, min(size, _WIDEST))


_HEADERS_OF_ALL = {
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "clipboard-read=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
"""The token is in the address: no other site, no cache and no frame gets to know it. And nothing here has to
read the clipboard."""
