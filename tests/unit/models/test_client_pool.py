"""Sessions share the connections of those that connect in the same way; the last one closes them."""

from __future__ import annotations

import asyncio

import pytest

from agentscope_tui.models.chat import ChatRequest
from agentscope_tui.models.client_pool import shared_client
from agentscope_tui.models.factory import open_model
from fakes.raw_server import CHUNKED, DONE, RawServer, chunk, delta, says

REQUEST = ChatRequest(messages=[{"role": "user", "content": "hi"}])


async def test_those_that_connect_in_the_same_way_share_until_the_last_has_left() -> None:
    first, second, other = shared_client(5.0), shared_client(5.0), shared_client(6.0)
    assert first is second
    assert other is not first
    await first.leave()
    assert not first.client.is_closed
    await second.leave()
    assert first.client.is_closed
    again = shared_client(5.0)
    assert again is not first
    assert not again.client.is_closed
    for one in (again, other):
        await one.leave()


async def test_another_proxy_is_another_way(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = shared_client(5.0)
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    proxied = shared_client(5.0)
    assert proxied is not plain
    for one in (plain, proxied):
        await one.leave()


def test_each_event_loop_has_its_own() -> None:
    async def one() -> object:
        shared = shared_client(5.0)
        await shared.leave()
        return shared

    assert asyncio.run(one()) is not asyncio.run(one())


async def test_models_of_one_server_use_one_connection_after_another() -> None:
    body = b"".join([delta(content="hello"), delta("stop"), DONE])
    async with RawServer([[CHUNKED, chunk(body), chunk(b"")]], keep=True) as server:
        models = [open_model("openai:m", base_url=server.base_url, api_key="k") for _ in range(3)]
        for model in models:
            assert (await model.complete(REQUEST, lambda piece: None)).text == "hello"
        assert (len(server.requests), server.connections) == (3, 1)
        for model in models[:2]:
            await model.aclose()
            await model.aclose()
        assert server.open == 1
        await models[2].aclose()
        await server.until(lambda server: server.open == 0)


async def test_more_calls_at_once_than_any_usual_pool_holds() -> None:
    async with RawServer([says("hello")]) as server:
        models = [open_model("openai:m", base_url=server.base_url, api_key="k") for _ in range(150)]
        answers = await asyncio.gather(*(model.complete(REQUEST, lambda piece: None) for model in models))
        assert [answer.text for answer in answers] == ["hello"] * 150
        for model in models:
            await model.aclose()
