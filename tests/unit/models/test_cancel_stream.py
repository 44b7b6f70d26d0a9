"""Cancelling a call at any moment, once or twice, leaves no connection open."""

from __future__ import annotations

import asyncio

import pytest

from agentscope_tui.models.chat import ChatRequest, Delta, Model
from agentscope_tui.models.factory import open_model
from fakes.raw_server import STREAM, Answer, HangUp, RawServer, Wait, delta, says, stream

REQUEST = ChatRequest(messages=[{"role": "user", "content": "hi"}])
DEADLINE = 10.0

MOMENTS: dict[str, Answer] = {
    "before the head": [Wait()],
    "before the first event": [STREAM, Wait()],
    "within an event": [STREAM, b'data: {"choi', Wait()],
    "between tokens": stream(delta(content="x"), Wait()),
    "within the body of an error": [b"HTTP/1.1 500 Oops\r\nContent-Length: 9\r\n\r\nso", Wait()],
    "while tokens pour in": stream(*[delta(content="x")] * 5000, Wait()),
}


def call(model: Model) -> tuple[asyncio.Task[object], asyncio.Event]:
    streamed = asyncio.Event()

    def on_delta(delta: Delta) -> None:
        streamed.set()

    return asyncio.create_task(model.complete(REQUEST, on_delta)), streamed


async def cancelled(task: asyncio.Task[object]) -> None:
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, DEADLINE)


@pytest.mark.parametrize("times", [1, 2, 3])
@pytest.mark.parametrize("answer", MOMENTS.values(), ids=MOMENTS.keys())
async def test_the_server_sees_the_client_go(answer: Answer, times: int) -> None:
    async with RawServer([answer, says("again")]) as server:
        model = open_model("openai:m", base_url=server.base_url)
        task, streamed = call(model)
        await server.until(lambda server: len(server.requests) == 1)
        if any(b"content" in step for step in answer if isinstance(step, bytes)):
            await asyncio.wait_for(streamed.wait(), DEADLINE)
        for _ in range(times):
            task.cancel()
            await asyncio.sleep(0)
        await cancelled(task)
        await server.until(lambda server: server.open == 0)
        # The same client goes on to work.
        completion = await model.complete(REQUEST, lambda piece: None)
        assert completion.text == "again"
        await model.aclose()


async def test_a_cancelled_call_returns_when_its_connection_is_closed() -> None:
    async with RawServer([stream(delta(content="x"), Wait())]) as server:
        model = open_model("openai:m", base_url=server.base_url)
        task, streamed = call(model)
        await asyncio.wait_for(streamed.wait(), DEADLINE)
        task.cancel()
        await cancelled(task)
        others = asyncio.all_tasks() - {asyncio.current_task()}
        assert not [task for task in others if task.get_name() == "model response"]
        await model.aclose()


async def test_cancelled_before_it_began() -> None:
    async with RawServer([says("x")]) as server:
        model = open_model("openai:m", base_url=server.base_url)
        task, _ = call(model)
        task.cancel()
        await cancelled(task)
        await model.aclose()
    assert server.requests == []


async def test_closing_the_model_cuts_a_response_whose_reader_was_cancelled_twice() -> None:
    async with RawServer([stream(delta(content="x"), Wait())]) as server:
        model = open_model("openai:m", base_url=server.base_url)
        task, streamed = call(model)
        await asyncio.wait_for(streamed.wait(), DEADLINE)
        task.cancel()
        await asyncio.sleep(0)
        task.cancel()
        await model.aclose()
        await server.until(lambda server: server.open == 0)
        await cancelled(task)


async def test_a_reader_that_fails_closes_the_connection() -> None:
    def on_delta(delta: Delta) -> None:
        raise ZeroDivisionError

    async with RawServer([stream(delta(content="x"), Wait())]) as server:
        model = open_model("openai:m", base_url=server.base_url)
        with pytest.raises(ZeroDivisionError):
            await model.complete(REQUEST, on_delta)
        await server.until(lambda server: server.open == 0)
        await model.aclose()


async def test_a_server_that_does_not_end_its_response_holds_nothing_up() -> None:
    endings: list[Answer] = [[*says("a"), Wait()], [*says("b"), HangUp()]]
    async with RawServer(endings) as server:
        model = open_model("openai:m", base_url=server.base_url)
        texts = [(await model.complete(REQUEST, lambda piece: None)).text for _ in endings]
        await server.until(lambda server: server.open == 0)
        await model.aclose()
    assert texts == ["a", "b"]
