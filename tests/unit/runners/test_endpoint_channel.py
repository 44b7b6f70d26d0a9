"""A runner's channel with the calls that come over HTTP: what becomes of them when the turn ends first."""

from __future__ import annotations

import asyncio

import httpx

from agentscope_tui.runners.loopback.channel import EndpointChannel
from agentscope_tui.runners.loopback.server import LoopbackServer
from agentscope_tui.wire.channel import memory_channel
from fakes.engine import DEADLINE

CHAT = {"model": "m", "messages": [{"role": "user", "content": "hello"}]}


async def test_a_call_that_is_open_when_the_turn_ends_is_told_so_and_not_tried_again() -> None:
    host, runner = memory_channel()
    server = LoopbackServer()
    await server.start()
    channel = EndpointChannel(server).beside(host)
    await channel.open()
    try:
        async with asyncio.timeout(DEADLINE), httpx.AsyncClient(trust_env=False, timeout=DEADLINE) as client:
            headers = {"authorization": f"Bearer {channel.token}"}
            url = f"{server.url}/v1/chat/completions"
            posting = asyncio.create_task(client.post(url, headers=headers, json=CHAT))
            request = await channel.receive()
            idle = {"type": "state", "status": "idle"}
            await runner.send(idle)
            answer = await posting
            cancel = await channel.receive()
            assert request is not None
            assert cancel == {"type": "llm_cancel", "req_id": request["req_id"]}
            assert await channel.receive() == idle
        assert answer.status_code == 400
        assert answer.headers["x-should-retry"] == "false"
        assert answer.json()["error"]["message"] == "the turn has ended"
    finally:
        await channel.aclose()
        await server.aclose()
