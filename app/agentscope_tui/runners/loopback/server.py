"""The endpoint's server: one for this process, on a random port of the loopback interface, a token a session.

Any program on this machine can reach the port, and a page in a browser could try: so each request needs a
token that only its session's program was given, and what a browser sends is refused.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from agentscope_tui.runners.loopback.api import Api
from agentscope_tui.runners.loopback.chat_api import ChatApi
from agentscope_tui.runners.loopback.exchange import (
    HEARTBEAT,
    Ask,
    Receive,
    Reply,
    Send,
    answer,
    count_tokens,
)
from agentscope_tui.runners.loopback.messages_api import MessagesApi
from agentscope_tui.runners.loopback.responses_api import ResponsesApi

if TYPE_CHECKING:
    import uvicorn

HOST = "127.0.0.1"
MAX_BODY = 64 << 20
"""Bytes of a request's body."""
BODY_SECONDS = 60.0
"""Seconds that a request's body may take to come."""
_MOST_CONNECTIONS = 1024
_GRACE = 1
"""Seconds that open requests have when the server ends."""
_IDLE = 75
"""Seconds that an idle connection is kept: longer than clients keep theirs."""
_APIS: dict[str, Api] = {
    "/chat/completions": ChatApi(),
    "/messages": MessagesApi(),
    "/responses": ResponsesApi(),
}
_COUNT = "/messages/count_tokens"


class _Problem(Exception):
    """Why a request is not answered: the status, a word for programs, and the message."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code


class LoopbackServer:
    """Answers HTTP requests with the sessions that were admitted."""

    def __init__(
        self, *, max_body: int = MAX_BODY, heartbeat: float = HEARTBEAT, body_seconds: float = BODY_SECONDS
    ) -> None:
        self._max_body = max_body
        self._body_seconds = body_seconds
        self._heartbeat = heartbeat
        self._sessions: dict[str, Ask] = {}
        self._socket: socket.socket | None = None
        self._server: uvicorn.Server | None = None
        self._serving: asyncio.Task[None] | None = None
        self.url = ""
        """`http://127.0.0.1:PORT` once it has started."""

    async def start(self) -> None:
        """Begin to serve; once it does, nothing happens."""
        if self._serving is not None:
            return
        self._socket = socket.create_server((HOST, 0))
        self.url = f"http://{HOST}:{self._socket.getsockname()[1]}"
        self._server = _server(self._serve)
        self._serving = asyncio.create_task(self._server.serve([self._socket]), name="loopback endpoint")

    def admit(self, ask: Ask) -> str:
        """Open the endpoint for a session: the token that its program needs."""
        token = f"agentscope-{secrets.token_urlsafe(24)}"
        self._sessions[token] = ask
        return token

    def dismiss(self, token: str) -> None:
        """Close the endpoint for a session: its token counts no more."""
        self._sessions.pop(token, None)

    async def aclose(self) -> None:
        """End the server and every open connection."""
        self._sessions.clear()
        if self._server is not None and self._serving is not None and self._socket is not None:
            self._server.should_exit = True
            await asyncio.wait({self._serving})
            self._socket.close()

    async def _serve(self, scope: Mapping[str, Any], receive: Receive, send: Send) -> None:
        """The ASGI application."""
        reply = Reply(send)
        path = str(scope["path"]).removeprefix("/v1")
        api = _APIS.get("/messages" if path == _COUNT else path, _APIS["/chat/completions"])
        try:
            ask = self._admitted(scope)
            counts = path == _COUNT
            if scope["method"] != "POST" or not (counts or path in _APIS):
                raise _Problem(404, "not_found", f"there is only POST to /v1{', /v1'.join(_APIS)}")
            body = await self._body(receive)
        except _Problem as problem:
            await reply.error(api, str(problem), problem.code, problem.status)
            return
        if counts:
            await count_tokens(api, body, reply)
            return
        await answer(api, body, ask, reply, receive, heartbeat=self._heartbeat)

    def _admitted(self, scope: Mapping[str, Any]) -> Ask:
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        port = self.url.rpartition(":")[2]
        if headers.get("host") not in (f"{HOST}:{port}", f"localhost:{port}"):
            raise _Problem(403, "forbidden", f"the Host header must be {HOST}:{port}")
        if "origin" in headers:
            raise _Problem(403, "forbidden", "requests of a browser are refused")
        token = headers.get("x-api-key") or headers.get("authorization", "").partition(" ")[2].strip()
        ask = self._sessions.get(token)
        if ask is None:
            raise _Problem(401, "unauthorized", "this token is not that of a session that runs")
        return ask

    async def _body(self, receive: Receive) -> dict[str, Any]:
        try:
            async with asyncio.timeout(self._body_seconds):
                content = await self._content(receive)
        except TimeoutError:
            raise _Problem(408, "too_slow", f"the body took more than {self._body_seconds:g} s") from None
        try:
            body = await asyncio.to_thread(json.loads, content)
        except (ValueError, RecursionError):
            body = None
        if not isinstance(body, dict):
            raise _Problem(400, "malformed", "the body must be a JSON object")
        return body

    async def _content(self, receive: Receive) -> bytearray:
        content = bytearray()
        more = True
        while more:
            message = await receive()
            content += message.get("body", b"")
            more = bool(message.get("more_body"))
            if len(content) > self._max_body:
                raise _Problem(413, "too_large", f"the request has more than {self._max_body >> 20} MiB")
        return content


def _server(app: Any) -> uvicorn.Server:
    import uvicorn

    from agentscope_tui.runners.loopback.head_limit import HeadLimited

    class Server(uvicorn.Server):
        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            """Signals are the application's."""
            yield

    return Server(
        uvicorn.Config(
            app,
            interface="asgi3",
            proxy_headers=False,
            http=HeadLimited,
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            limit_concurrency=_MOST_CONNECTIONS,
            timeout_keep_alive=_IDLE,
            timeout_graceful_shutdown=_GRACE,
        )
    )
