"""Sending a failed call again: what is worth it, how long to wait, and that every wait is seen."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from agentscope_tui.models.chat import ChatRequest, Completion, Delta, ModelError, RetryNotice
from agentscope_tui.models.endpoint import Endpoint, api_url
from agentscope_tui.models.factory import open_model
from agentscope_tui.models.http_model import HttpModel
from agentscope_tui.models.openai import OpenAIDialect
from agentscope_tui.models.retries import RetryPolicy
from agentscope_tui.models.retry_hints import asked_wait, may_retry
from fakes.raw_server import (
    CHUNKED,
    DONE,
    Answer,
    HangUp,
    RawServer,
    Wait,
    chunk,
    delta,
    event,
    plain,
    says,
    stream,
)

REQUEST = ChatRequest(messages=[{"role": "user", "content": "hi"}])
DEADLINE = 10.0


class Waits:
    """Keeps the waits instead of waiting, and what was told of them."""

    def __init__(self) -> None:
        self.slept: list[float] = []
        self.notices: list[RetryNotice] = []

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


async def call(server: RawServer, waits: Waits, *, most: int = 5) -> tuple[Completion, list[Delta]]:
    policy = RetryPolicy(most, jitter=lambda: 0.0, sleep=waits.sleep)
    model = HttpModel("openai:m", "m", Endpoint(api_url(server.base_url)), OpenAIDialect("m"), retries=policy)
    deltas: list[Delta] = []
    try:
        return await model.complete(REQUEST, deltas.append, on_retry=waits.notices.append), deltas
    finally:
        await model.aclose()


def problem(status: int, *headers: str, **fields: Any) -> Answer:
    return plain(status, {"error": {"message": "busy", **fields}}, *headers)


PASSING: dict[str, tuple[Answer, float]] = {
    "408": (problem(408), 0.5),
    "409": (problem(409), 0.5),
    "429": (problem(429), 0.5),
    "500": (problem(500), 0.5),
    "503": (problem(503), 0.5),
    "529": (problem(529), 0.5),
    "retry-after in seconds": (problem(429, "Retry-After: 7"), 7.0),
    "retry-after with a fraction": (problem(503, "Retry-After: 1.5"), 1.5),
    "retry-after-ms goes first": (problem(429, "Retry-After: 7", "Retry-After-Ms: 250"), 0.25),
    "a provider that says so": (problem(400, "X-Should-Retry: true"), 0.5),
    "an error in the stream": (stream(event({"error": {"type": "overloaded_error", "message": "x"}})), 0.5),
    "a rate limit in the stream": (stream(event({"error": {"code": 429, "message": "slow"}})), 0.5),
    "hung up before the answer": ([HangUp()], 0.5),
    "hung up after the head": ([CHUNKED, HangUp()], 0.5),
    "cut off after the role": (stream(delta(role="assistant", content="")), 0.5),
}


@pytest.mark.parametrize(("answer", "seconds"), PASSING.values(), ids=PASSING.keys())
async def test_what_may_pass_is_tried_again(answer: Answer, seconds: float) -> None:
    waits = Waits()
    async with RawServer([answer, says("x")]) as server:
        completion, deltas = await call(server, waits)
    assert completion.text == "x"
    assert [piece.text for piece in deltas] == ["x"]
    assert waits.slept == [pytest.approx(seconds)]
    (notice,) = waits.notices
    assert (notice.attempt, notice.seconds) == (2, waits.slept[0])
    assert notice.reason


FINAL: dict[str, Answer] = {
    "400": problem(400),
    "401": problem(401),
    "403": problem(403),
    "404": problem(404),
    "422": problem(422),
    "quota": problem(429, code="insufficient_quota"),
    "quota, whatever the header says": problem(429, "X-Should-Retry: true", code="insufficient_quota"),
    "a provider that says no": problem(503, "X-Should-Retry: false"),
    "a longer wait than anyone wants": problem(429, "Retry-After: 600"),
    "a page": plain(200, "<html></html>", content_type="text/html"),
    "no JSON": stream(event("{oops")),
    "an error after the first token": stream(delta(content="H"), event({"error": {"code": 503}})),
    "a refusal after the first token": stream(
        delta(content="H"), event({"error": {"code": 400, "message": "stream_options"}})
    ),
    "hung up after the first token": stream(delta(content="H"), HangUp()),
    "hung up after the first thought": stream(delta(reasoning_content="H"), HangUp()),
    "hung up within a tool call": stream(
        delta(tool_calls=[{"index": 0, "id": "a", "function": {"name": "f"}}]), HangUp()
    ),
}


@pytest.mark.parametrize("answer", FINAL.values(), ids=FINAL.keys())
async def test_what_is_final(answer: Answer) -> None:
    waits = Waits()
    async with RawServer([answer, says("x")]) as server:
        with pytest.raises(ModelError):
            await call(server, waits)
    assert len(server.requests) == 1
    assert waits.slept == []
    assert waits.notices == []


async def test_a_long_wait_that_is_refused_is_told() -> None:
    async with RawServer([problem(429, "Retry-After: 600")]) as server:
        with pytest.raises(ModelError, match="try again in 600 s"):
            await call(server, Waits())


async def test_waits_double_up_to_eight_seconds_and_end() -> None:
    waits = Waits()
    async with RawServer([problem(503)]) as server:
        with pytest.raises(ModelError, match="busy"):
            await call(server, waits, most=6)
    assert waits.slept == [0.5, 1, 2, 4, 8, 8]
    assert [(notice.attempt, notice.of) for notice in waits.notices] == [(n, 7) for n in range(2, 8)]
    assert len(server.requests) == 7


async def test_a_server_that_is_not_there_is_told_soon() -> None:
    waits = Waits()
    async with RawServer([[HangUp()]]) as server:
        with pytest.raises(ModelError):
            await call(server, waits)
    assert len(server.requests) == 3
    assert waits.slept == [0.5, 1]
    assert [notice.of for notice in waits.notices] == [3, 3]


@pytest.mark.parametrize("times", [1, 2])
async def test_a_wait_is_cancelled_at_once(times: int) -> None:
    told = asyncio.Event()
    async with RawServer([problem(429, "Retry-After: 50")]) as server:
        model = open_model("openai:m", base_url=server.base_url)
        task = asyncio.create_task(
            model.complete(REQUEST, lambda piece: None, on_retry=lambda notice: told.set())
        )
        await asyncio.wait_for(told.wait(), DEADLINE)
        await server.until(lambda server: server.open == 0)
        for _ in range(times):
            task.cancel()
            await asyncio.sleep(0)
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(task, DEADLINE)
        await model.aclose()
    assert len(server.requests) == 1


def whole(text: str) -> Answer:
    """An answer after which the connection can be used again."""
    return [CHUNKED, chunk(delta(content=text)), chunk(delta("stop")), chunk(DONE), chunk(b"")]


@pytest.mark.parametrize("dead", [[HangUp()], [b"HTTP/1.1 ", HangUp()]], ids=["no byte", "within the head"])
async def test_a_kept_connection_that_died_is_replaced_in_silence(dead: Answer) -> None:
    waits = Waits()
    async with RawServer([whole("a"), dead, whole("b")], keep=True) as server:
        policy = RetryPolicy(5, sleep=waits.sleep)
        model = HttpModel(
            "openai:m", "m", Endpoint(api_url(server.base_url)), OpenAIDialect("m"), retries=policy
        )
        texts = [
            (await model.complete(REQUEST, lambda piece: None, on_retry=waits.notices.append)).text
            for _ in "ab"
        ]
        await model.aclose()
    assert texts == ["a", "b"]
    assert server.connections == 2
    assert waits.notices == []


async def test_a_new_connection_that_died_is_told() -> None:
    waits = Waits()
    async with RawServer([whole("a"), [HangUp()], [HangUp()], whole("b")], keep=True) as server:
        policy = RetryPolicy(5, sleep=waits.sleep)
        model = HttpModel(
            "openai:m", "m", Endpoint(api_url(server.base_url)), OpenAIDialect("m"), retries=policy
        )
        for _ in "ab":
            await model.complete(REQUEST, lambda piece: None, on_retry=waits.notices.append)
        await model.aclose()
    assert len(waits.notices) == 1


async def test_a_stalled_kept_connection_can_be_cancelled() -> None:
    async with RawServer([whole("a"), [Wait()]], keep=True) as server:
        model = open_model("openai:m", base_url=server.base_url)
        await model.complete(REQUEST, lambda piece: None)
        task = asyncio.create_task(model.complete(REQUEST, lambda piece: None))
        await server.until(lambda server: len(server.requests) == 2)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(task, DEADLINE)
        await server.until(lambda server: server.open == 0)
        await model.aclose()


NOW = datetime(2026, 11, 29, 12, 0, 0, tzinfo=UTC)
WAITS: list[tuple[Mapping[str, str], float | None]] = [
    ({}, None),
    ({"retry-after": "20"}, 20),
    ({"retry-after": "0"}, 0),
    ({"retry-after": "Sun, 29 Nov 2026 12:00:30 GMT"}, 30),
    ({"retry-after": "Sun, 29 Nov 2026 12:00:30 -0000"}, 30),
    ({"retry-after": "Sun, 29 Nov 2026 11:00:00 GMT"}, 0),
    ({"retry-after": "soon"}, None),
    ({"retry-after": "-5"}, None),
    ({"retry-after": "nan"}, None),
    ({"retry-after": "inf"}, None),
    ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
    ({"retry-after-ms": "x", "retry-after": "9"}, 9),
]


@pytest.mark.parametrize(("headers", "seconds"), WAITS)
def test_how_long_a_provider_asks_to_wait(headers: Mapping[str, str], seconds: float | None) -> None:
    assert asked_wait(headers, now=NOW) == seconds


def test_the_header_goes_before_the_status() -> None:
    assert may_retry(429, {})
    assert not may_retry(429, {"x-should-retry": "false"})
    assert may_retry(418, {"x-should-retry": " True "})
    assert not may_retry(404, {"x-should-retry": "maybe"})


@pytest.mark.parametrize("jitter", [0.0, 0.5, 1.0])
def test_jitter_never_comes_sooner_than_asked(jitter: float) -> None:
    policy = RetryPolicy(5, jitter=lambda: jitter)
    asked = policy.wait(ModelError("x", kind="rate_limit", retryable=True, retry_after=10), 1)
    ours = policy.wait(ModelError("x", kind="server", retryable=True), 5)
    assert asked is not None
    assert 10 <= asked <= 11
    assert ours is not None
    assert 6 <= ours <= 8
