"""The loopback endpoint as a server: who is let in, what is refused, and what a held call looks like."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx
import pytest

from agentscope_tui.runners.loopback.server import LoopbackServer
from fakes.endpoint import FakeHost, endpoint
from fakes.engine import DEADLINE, says
from waiting import wait_until

CHAT = {"model": "m", "messages": [{"role": "user", "content": "hello"}]}


async def post(host: FakeHost, path: str = "/v1/chat/completions", **request: Any) -> httpx.Response:
    headers = {"authorization": f"Bearer {host.token}", **request.pop("headers", {})}
    async with httpx.AsyncClient(trust_env=False, timeout=DEADLINE) as client:
        return await client.post(host.url + path, headers=headers, **{"json": CHAT, **request})


async def test_it_listens_on_the_loopback_interface_only() -> None:
    async with endpoint() as host:
        assert host.url.startswith("http://127.0.0.1:")


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"authorization": "Bearer wrong"}, 401),
        ({"authorization": ""}, 401),
        ({"host": "evil.example"}, 403),
        ({"origin": "http://127.0.0.1"}, 403),
    ],
)
async def test_who_is_not_let_in(headers: dict[str, str], status: int) -> None:
    async with endpoint(says("no")) as host:
        answer = await post(host, headers=headers)
    assert answer.status_code == status
    assert host.bodies == []


async def test_either_kind_of_key_header_is_taken() -> None:
    async with endpoint(says("one")) as host:
        answer = await post(host, headers={"authorization": "", "x-api-key": host.token})
    assert answer.json()["choices"][0]["message"]["content"] == "one"


async def test_a_dismissed_token_counts_no_more() -> None:
    server = LoopbackServer()
    host = FakeHost(says("one"))
    await server.start()
    try:
        host.url, host.token = server.url, server.admit(host)
        server.dismiss(host.token)
        answer = await post(host)
    finally:
        await server.aclose()
    assert answer.status_code == 401


async def test_sessions_have_tokens_of_their_own() -> None:
    server = LoopbackServer()
    one, two = FakeHost(says("one")), FakeHost(says("two"))
    await server.start()
    try:
        for host in (one, two):
            host.url, host.token = server.url, server.admit(host)
        answers = await asyncio.gather(post(one), post(two))
    finally:
        await server.aclose()
    assert [answer.json()["choices"][0]["message"]["content"] for answer in answers] == ["one", "two"]


@pytest.mark.parametrize(
    ("path", "request_", "status", "says_"),
    [
        ("/v1/embeddings", {}, 404, "/v1/chat/completions"),
        ("/v1/chat/completions", {"json": None, "content": b"{"}, 400, "JSON object"),
        ("/v1/chat/completions", {"json": None, "content": b"[1]"}, 400, "JSON object"),
        ("/v1/chat/completions", {"json": {"messages": ["x" * 3_000_000]}}, 413, "2 MiB"),
    ],
)
async def test_what_is_no_call(path: str, request_: dict[str, Any], status: int, says_: str) -> None:
    async with endpoint(max_body=2 << 20) as host:
        answer = await post(host, path, **request_)
    assert answer.status_code == status
    assert says_ in answer.json()["error"]["message"]
    assert answer.headers["x-should-retry"] == "false"


async def test_a_held_answer_that_does_not_stream_is_kept_alive_by_white_space() -> None:
    async with endpoint(says("at last"), heartbeat=0.05) as host:
        host.free.clear()
        async with httpx.AsyncClient(trust_env=False, timeout=DEADLINE) as client:
            headers = {"authorization": f"Bearer {host.token}"}
            request = client.stream("POST", host.url + "/v1/chat/completions", json=CHAT, headers=headers)
            async with request as answer:
                pieces = answer.aiter_raw()
                beats = [await anext(pieces), await anext(pieces)]
                host.free.set()
                rest = b"".join([piece async for piece in pieces])
    assert set(b"".join(beats)) == set(b" ")
    assert json.loads(b"".join(beats) + rest)["choices"][0]["message"]["content"] == "at last"
    assert host.commits == [0.05]


@pytest.mark.parametrize(
    ("path", "ping"),
    [
        ("/v1/chat/completions", b": ping\n\n"),
        ("/v1/responses", b": ping\n\n"),
        ("/v1/messages", b'event: ping\ndata: {"type": "ping"}\n\n'),
    ],
)
async def test_a_held_stream_is_kept_alive_by_pings(path: str, ping: bytes) -> None:
    body = {**CHAT, "input": "hello", "max_tokens": 9, "stream": True}
    if path == "/v1/responses":
        del body["messages"], body["max_tokens"]
    async with endpoint("interrupted", heartbeat=0.05) as host:
        host.free.clear()
        async with httpx.AsyncClient(trust_env=False, timeout=DEADLINE) as client:
            headers = {"x-api-key": host.token}
            async with client.stream("POST", host.url + path, json=body, headers=headers) as answer:
                pieces = answer.aiter_raw()
                first = await anext(pieces)
                host.free.set()
                rest = b"".join([piece async for piece in pieces])
    assert first.startswith(ping)
    assert b"interrupted" in rest
    assert host.commits == [None]


async def test_a_client_that_leaves_cancels_its_call() -> None:
    async with endpoint(says("never")) as host:
        host.free.clear()
        call = asyncio.create_task(post(host))
        await wait_until(lambda: host.bodies)
        call.cancel()
        await asyncio.wait_for(host.cancelled.wait(), DEADLINE)


async def test_closing_ends_calls_that_are_open() -> None:
    async with endpoint(says("never")) as host:
        host.free.clear()
        call = asyncio.create_task(post(host))
        await wait_until(lambda: host.bodies)
    await asyncio.wait_for(host.cancelled.wait(), DEADLINE)
    with pytest.raises(httpx.HTTPError):
        (await call).raise_for_status()
