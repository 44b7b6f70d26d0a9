"""A session at the loopback endpoint: its program's HTTP calls become frames beside its runner's own."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from itertools import count
from typing import Any

from agentscope_tui.runners.loopback.api import Api
from agentscope_tui.runners.loopback.server import HOST, LoopbackServer
from agentscope_tui.wire.channel import Channel
from agentscope_tui.wire.frames import Frame, FrameData, LlmCancel, LlmRequest, LlmResponse, as_data

_WAITING = 64
"""Frames that may wait to be read."""
_OPENAI_URLS = ("OPENAI_BASE_URL", "OPENAI_API_BASE")
_ANTHROPIC_URLS = ("ANTHROPIC_BASE_URL", "ANTHROPIC_API_URL")
"""The name that the provider's client reads, and an older one that LangChain prefers."""
_KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY")
ENDPOINT_VARIABLES = (*_OPENAI_URLS, *_ANTHROPIC_URLS, *_KEYS)
"""What leads a model client to the endpoint."""
_NO_TRACES = "OPENAI_AGENTS_DISABLE_TRACING"
"""The OpenAI Agents SDK sends traces to OpenAI with the key that it finds: our token, of no use there."""


def endpoint_environment(server: LoopbackServer, token: str, environ: Mapping[str, str]) -> dict[str, str]:
    """The variables that lead a program's model clients to the endpoint, also where a proxy is set."""
    bypass = {
        name: ",".join(filter(None, [environ.get(name), HOST, "localhost"]))
        for name in ("NO_PROXY", "no_proxy")
    }
    urls = dict.fromkeys(_OPENAI_URLS, f"{server.url}/v1") | dict.fromkeys(_ANTHROPIC_URLS, server.url)
    return {_NO_TRACES: "1"} | bypass | urls | dict.fromkeys(_KEYS, token)


class EndpointChannel:
    """A runner's channel with the calls that come over HTTP."""

    def __init__(self, server: LoopbackServer) -> None:
        self._server = server
        self.token = server.admit(self._ask)
        """What the session's program needs to be let in."""
        self._channel: Channel | None = None
        self._pump: asyncio.Task[None] | None = None
        self._frames: asyncio.Queue[FrameData | Exception | None] = asyncio.Queue(_WAITING)
        self._waiting: dict[str, asyncio.Future[LlmResponse]] = {}
        self._numbers = count(1)

    def beside(self, channel: Channel) -> EndpointChannel:
        """The same, with the channel of the runner itself."""
        self._channel = channel
        return self

    @property
    def _runner(self) -> Channel:
        assert self._channel is not None
        return self._channel

    async def open(self) -> None:
        await self._runner.open()
        self._pump = asyncio.create_task(self._read(), name="runner beside the endpoint")

    async def send(self, frame: Frame | FrameData) -> None:
        data = as_data(frame)
        waiting = self._waiting.pop(str(data.get("req_id")), None)
        if waiting is None:
            await self._runner.send(data)
        elif not waiting.done():
            waiting.set_result(LlmResponse.model_validate(data))

    async def receive(self) -> FrameData | None:
        frame = await self._frames.get()
        if isinstance(frame, Exception):
            raise frame
        return frame

    async def ending(self) -> str:
        return await self._runner.ending()

    async def aclose(self) -> None:
        self._server.dismiss(self.token)
        self._leave_all("the session has ended")
        await self._runner.aclose()
        if self._pump is not None:
            self._pump.cancel()
            await asyncio.wait({self._pump})

    async def _read(self) -> None:
        """Pass on what the runner sends, to its end."""
        try:
            while (received := await self._runner.receive()) is not None:
                frame = as_data(received)
                if frame.get("type") == "state" and frame.get("status") == "idle":
                    # Nobody waits for what the runner asked over HTTP in its turn.
                    for req_id in self._leave_all("the turn has ended"):
                        await self._put(LlmCancel(req_id=req_id))
                await self._frames.put(frame)
            await self._frames.put(None)
        except Exception as error:
            # Raised where the frames are read.
            await self._frames.put(error)

    def _leave_all(self, why: str) -> list[str]:
        """Answer what waits with an error; the ids of those requests, which the host still has."""
        left, self._waiting = self._waiting, {}
        for req_id, waiting in left.items():
            if not waiting.done():
                waiting.set_result(LlmResponse(req_id=req_id, error=why))
        return [*left]

    async def _ask(self, body: dict[str, Any], api: Api, commits_after: float | None) -> LlmResponse:
        req_id = f"http-{next(self._numbers)}"
        answer: asyncio.Future[LlmResponse] = asyncio.get_running_loop().create_future()
        self._waiting[req_id] = answer
        await self._put(
            LlmRequest(req_id=req_id, openai_body=body, api=api.kind, commits_after=commits_after)
        )
        try:
            return await answer
        except asyncio.CancelledError:
            if self._waiting.pop(req_id, None) is not None:
                await self._put(LlmCancel(req_id=req_id))
            raise

    async def _put(self, frame: LlmRequest | LlmCancel) -> None:
        await self._frames.put(frame.model_dump(mode="json", exclude_none=True))
