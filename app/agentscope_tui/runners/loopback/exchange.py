"""One model call of a client over HTTP: read, asked of the host, kept alive while it is held, answered."""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

from agentscope_tui.models.chat import ChatRequest, Completion
from agentscope_tui.models.estimate import estimate_usage
from agentscope_tui.runners.loopback.api import Answer, Api, Refusal
from agentscope_tui.wire.frames import LlmResponse

Receive = Callable[[], Awaitable[Mapping[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]

HEARTBEAT = 10.0
"""Seconds between signs of life to a client that waits, and until the first."""
_FINAL = [(b"x-should-retry", b"false")]
"""The host has tried and the user has decided: to ask again would change nothing."""


class Ask(Protocol):
    """What answers the calls of one session."""

    async def __call__(self, body: dict[str, Any], api: Api, commits_after: float | None) -> LlmResponse:
        """The answer to a chat request; it is cancelled when the client is gone.

        `commits_after` are the seconds after which an error cannot be told as one any more.
        """


class Reply:
    """The response to one request: started with the first thing that is sent."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.started = False

    async def send(
        self, body: bytes, *, kind: bytes = b"application/json", more: bool = False, status: int = 200
    ) -> None:
        """Send a piece of the body; the last one unless there is `more`."""
        if not self.started:
            self.started = True
            head = [(b"content-type", kind), (b"cache-control", b"no-store")]
            head += _FINAL if status >= 400 else []
            await self._send({"type": "http.response.start", "status": status, "headers": head})
        await self._send({"type": "http.response.body", "body": body, "more_body": more})

    async def error(self, api: Api, message: str, code: str, status: int = 400) -> None:
        """Send an error, and end."""
        await self.send(json.dumps(api.error(message, code)).encode(), status=status)


async def answer(
    api: Api, body: dict[str, Any], ask: Ask, reply: Reply, receive: Receive, *, heartbeat: float = HEARTBEAT
) -> None:
    """Answer one call. A client that leaves cancels it."""
    try:
        chat = api.read(body)
    except Refusal as refusal:
        await reply.error(api, str(refusal), "unsupported")
        return
    streams = bool(body.get("stream"))
    kind = b"text/event-stream" if streams else b"application/json"
    asking = asyncio.ensure_future(ask(chat, api, None if streams else heartbeat))
    leaving = asyncio.ensure_future(_gone(receive))
    try:
        while not asking.done():
            await asyncio.wait({asking, leaving}, timeout=heartbeat, return_when=asyncio.FIRST_COMPLETED)
            if leaving.done():
                return
            if not asking.done():
                # White space before JSON changes nothing, but the status is sent with it.
                await reply.send(api.ping if streams else b" ", kind=kind, more=True)
        await _tell(api, body, asking.result(), reply, kind)
    finally:
        for task in (asking, leaving):
            task.cancel()
        await asyncio.wait({asking, leaving})


async def count_tokens(api: Api, body: dict[str, Any], reply: Reply) -> None:
    """Answer how many tokens a request has, without a call: an estimate."""
    try:
        chat = api.read(body)
    except Refusal as refusal:
        await reply.error(api, str(refusal), "unsupported")
        return
    request = ChatRequest(messages=chat["messages"], tools=chat.get("tools") or [])
    usage = estimate_usage(request, Completion())
    await reply.send(json.dumps({"input_tokens": usage.input_tokens}).encode())


async def _tell(api: Api, body: dict[str, Any], response: LlmResponse, reply: Reply, kind: bytes) -> None:
    if response.completion is None:
        message = response.error or "the call failed"
        code = "interrupted" if message == "interrupted" else "call_failed"
        if reply.started and body.get("stream"):
            await reply.send(api.error_event(message, code))
        else:
            await reply.error(api, message, code)
        return
    told = Answer(response.completion, body, secrets.token_hex(12), int(time.time()))
    if not body.get("stream"):
        await reply.send(json.dumps(api.whole(told)).encode())
        return
    for piece in api.events(told):
        await reply.send(piece, kind=kind, more=True)
    await reply.send(b"", kind=kind)


async def _gone(receive: Receive) -> None:
    """Return when the client has left."""
    while (await receive())["type"] != "http.disconnect":
        pass
