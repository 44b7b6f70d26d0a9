"""The loopback endpoint with a host that tests control: what was asked, and what is answered."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from agentscope_tui.models.chat import Completion
from agentscope_tui.runners.loopback.api import Api
from agentscope_tui.runners.loopback.server import LoopbackServer
from agentscope_tui.wire.frames import LlmResponse


class FakeHost:
    """Answers from a list of completions and errors (as texts), once `free` is set."""

    def __init__(self, *answers: Completion | str) -> None:
        self.answers = list(answers)
        self.bodies: list[dict[str, Any]] = []
        self.commits: list[float | None] = []
        self.cancelled = asyncio.Event()
        self.free = asyncio.Event()
        self.free.set()
        self.url = ""
        self.token = ""

    async def __call__(self, body: dict[str, Any], api: Api, commits_after: float | None) -> LlmResponse:
        self.bodies.append(body)
        self.commits.append(commits_after)
        try:
            await self.free.wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        answer = self.answers.pop(0)
        if isinstance(answer, str):
            return LlmResponse(req_id="r", error=answer)
        return LlmResponse(req_id="r", completion=answer.to_openai())


@asynccontextmanager
async def endpoint(
    *answers: Completion | str, heartbeat: float = 10.0, **limits: Any
) -> AsyncIterator[FakeHost]:
    """A server for one session, with its address and token."""
    server = LoopbackServer(heartbeat=heartbeat, **limits)
    host = FakeHost(*answers)
    await server.start()
    host.url, host.token = server.url, server.admit(host)
    try:
        yield host
    finally:
        await server.aclose()
