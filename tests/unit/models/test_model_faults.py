"""Everything that can go wrong on the way to a model: one line that says what to do, and no key in it."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Iterator
from typing import Any

import pytest

from agentscope_tui.models.chat import ChatRequest, ModelError, Usage
from agentscope_tui.models.endpoint import Timeouts
from agentscope_tui.models.factory import open_model
from fakes.raw_server import (
    CHUNKED,
    STREAM,
    Answer,
    HangUp,
    RawServer,
    Wait,
    chunk,
    delta,
    event,
    plain,
    stream,
)

KEY = "sk-very-secret-key"
REQUEST = ChatRequest(messages=[{"role": "user", "content": "hi"}])
NO_FIRST = Timeouts(first_token=0.3)
NO_NEXT = Timeouts(between_tokens=0.2)


async def fail(
    base_url: str, *, key: str | None = KEY, timeouts: Timeouts | None = None
) -> tuple[ModelError, str]:
    """The error of a call, and what was streamed before it."""
    model = open_model(
        "openai:m-1",
        base_url=base_url,
        api_key=key,
        api_key_source="MY_KEY",
        timeouts=timeouts,
        retries=0,
    )
    texts: list[str] = []
    try:
        with pytest.raises(ModelError) as caught:
            await model.complete(REQUEST, lambda piece: texts.append(piece.text))
    finally:
        await model.aclose()
    error = caught.value
    for text in (str(error), error.detail, repr(error)):
        assert KEY not in text
    assert "\n" not in str(error)
    return error, "".join(texts)


def complaint(message: str, **fields: Any) -> dict[str, Any]:
    return {"error": {"message": message, **fields}}


FAULTS: dict[str, tuple[Answer, str, list[str]]] = {
    "wrong key": (
        plain(401, complaint(f"Incorrect API key provided: {KEY}", code="invalid_api_key")),
        "authentication",
        ["refused the key from MY_KEY", "(401)", "***"],
    ),
    "wrong key, said with 400": (
        plain(400, [complaint("API key not valid. Please pass a valid API key.", status="INVALID_ARGUMENT")]),
        "authentication",
        ["MY_KEY"],
    ),
    "not allowed": (plain(403, complaint("no access")), "permission", ["MY_KEY", "no access"]),
    "no such model": (
        plain(404, complaint("The model `m-1` does not exist", code="model_not_found")),
        "unknown_model",
        ["'m-1'", "--model"],
    ),
    "no such model, by its words": (
        plain(404, complaint('model "m-1" not found, try pulling it first')),
        "unknown_model",
        ["'m-1'", "try pulling it"],
    ),
    "no such model, with 400": (plain(400, complaint("m-1 is not a valid model ID")), "unknown_model", []),
    "no such path": (
        plain(404, "404 page not found", content_type="text/plain"),
        "not_found",
        ["http://127.0.0.1:", "/v1/chat/completions", "--base-url", "404 page not found"],
    ),
    "a redirect": (
        plain(307, "", "Location: http://elsewhere/v1"),
        "not_found",
        ["http://elsewhere/v1", "--base-url"],
    ),
    "bad request": (
        plain(400, complaint("messages.0: field\nrequired", type="invalid_request_error")),
        "bad_request",
        ["refused the request (400): messages.0: field required"],
    ),
    "bad request in FastAPI's shape": (
        plain(422, {"detail": [{"loc": ["body"], "msg": "bad"}]}),
        "bad_request",
        ['"msg": "bad"'],
    ),
    "bad request as words": (plain(400, {"error": "no way"}), "bad_request", ["(400): no way"]),
    "context overflow with numbers": (
        plain(
            400,
            complaint(
                "too long", type="exceed_context_size_error", code=400, n_prompt_tokens=5000, n_ctx=4096
            ),
        ),
        "context_overflow",
        ["5000 of at most 4096 tokens"],
    ),
    "context overflow by its words": (
        plain(400, complaint("This model's maximum context length is 4096 tokens.")),
        "context_overflow",
        ["maximum context length is 4096"],
    ),
    "rate limit": (
        plain(429, complaint("slow down"), "Retry-After: 20"),
        "rate_limit",
        ["try again in 20 s", "slow down"],
    ),
    "rate limit without words": (plain(429, ""), "rate_limit", ["in a moment"]),
    "quota": (plain(429, complaint("exceeded", code="insufficient_quota")), "quota", ["billing"]),
    "no credit": (plain(402, complaint("add credits")), "quota", ["add credits"]),
    "server": (plain(503, "<html><b>Down</b></html>", content_type="text/html"), "server", ["(503)", "Down"]),
    "overloaded": (plain(529, complaint("Overloaded", type="overloaded_error")), "server", ["try again"]),
    "an error whose body never comes whole": (
        [b"HTTP/1.1 500 Oops\r\nContent-Length: 100\r\n\r\nsome words", HangUp()],
        "server",
        ["(500)"],
    ),
    "an HTML page": (
        plain(200, "<html><body>Welcome to the router</body></html>", content_type="text/html"),
        "malformed",
        ["without a stream", "Welcome to the router", "--base-url"],
    ),
    "an endless nesting instead of a stream": (plain(200, "[" * 5000), "malformed", ["without a stream"]),
    "nothing": (plain(200, ""), "malformed", ["answered with nothing"]),
    "an error object instead of a stream": (
        plain(200, complaint("no worker", code=503)),
        "server",
        ["no worker"],
    ),
    "a stream without an answer": (stream(event("[DONE]")), "malformed", ["without an answer"]),
    "an event that is no JSON": (stream(event("{oops")), "malformed", ["no JSON object", "{oops"]),
    "an event that is a list": (stream(event([1])), "malformed", ["no JSON object"]),
    "an endless nesting": (stream(event("[" * 100_000)), "malformed", ["no JSON object"]),
    "bad gzip": (
        [b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 9\r\n\r\nno gzip!!"],
        "malformed",
        ["cannot be decoded"],
    ),
    "hung up without an answer": ([HangUp()], "connection", ["ended before the answer did", "try again"]),
    "closed without an answer": ([], "connection", ["without sending a response"]),
    "no HTTP": ([b"SSH-2.0-OpenSSH_9.2\r\n\r\n"], "connection", ["SSH-2.0"]),
}


@pytest.mark.parametrize(("answer", "kind", "words"), FAULTS.values(), ids=FAULTS.keys())
async def test_faults(answer: Answer, kind: str, words: list[str]) -> None:
    async with RawServer([answer]) as server:
        error, streamed = await fail(server.base_url)
        await server.until(lambda server: server.open == 0)
    assert error.kind == kind, str(error)
    for word in words:
        assert word in str(error)
    assert streamed == ""


MID_STREAM: dict[str, tuple[Answer, str, list[str]]] = {
    "an error object": (
        stream(delta(content="Hel"), event(complaint(f"{KEY} overloaded", code=502))),
        "server",
        ["within the answer", "*** overloaded"],
    ),
    "an error object that says rate limit": (
        stream(delta(content="Hel"), event({"error": {"code": 429, "message": "slow"}, "choices": []})),
        "rate_limit",
        ["slow"],
    ),
    "an error in words": (stream(delta(content="Hel"), event({"error": "boom"})), "server", ["boom"]),
    "the end, without a reason": (stream(delta(content="Hel")), "connection", ["no finish reason"]),
    "hung up": (stream(delta(content="Hel"), HangUp()), "connection", ["ended before the answer did"]),
    "a chunked body that is cut off": (
        [CHUNKED, chunk(delta(content="Hel"))],
        "connection",
        ["ended before the answer did"],
    ),
    "no JSON": (stream(delta(content="Hel"), event("}")), "malformed", ["no JSON object"]),
}


@pytest.mark.parametrize(("answer", "kind", "words"), MID_STREAM.values(), ids=MID_STREAM.keys())
async def test_faults_after_the_first_token(answer: Answer, kind: str, words: list[str]) -> None:
    async with RawServer([answer]) as server:
        error, streamed = await fail(server.base_url)
        await server.until(lambda server: server.open == 0)
    assert (error.kind, streamed) == (kind, "Hel")
    for word in words:
        assert word in str(error)


async def test_usage_told_before_a_fault_is_kept() -> None:
    told = event({"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 1}})
    async with RawServer([stream(delta(content="x"), told)]) as server:
        error, _ = await fail(server.base_url)
    assert error.usage == Usage(input_tokens=3, output_tokens=1, partial=True)


STALLS: dict[str, tuple[Answer, Timeouts, str]] = {
    "before the head": ([Wait()], NO_FIRST, "gave no first token within 0.3 s"),
    "before the first event": ([STREAM, b": ping\n\n", Wait()], NO_FIRST, "model.timeouts.first_token"),
    "after a role without text": (
        stream(delta(role="assistant", content=""), Wait()),
        NO_FIRST,
        "first token",
    ),
    "between tokens": (stream(delta(content="x"), Wait()), NO_NEXT, "gave no next token within 0.2 s"),
    "pings instead of tokens": (
        stream(delta(content="x"), *[b": ping\n\n"] * 1000, Wait()),
        NO_NEXT,
        "model.timeouts.between_tokens",
    ),
}


@pytest.mark.parametrize(("answer", "timeouts", "words"), STALLS.values(), ids=STALLS.keys())
async def test_stalls(answer: Answer, timeouts: Timeouts, words: str) -> None:
    async with RawServer([answer]) as server:
        error, _ = await fail(server.base_url, timeouts=timeouts)
        await server.until(lambda server: server.open == 0)
    assert error.kind == "timeout"
    assert words in str(error)


@pytest.fixture
def unused_port() -> Iterator[int]:
    """A port that nobody listens on: bound, so that nobody else takes it."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]


async def test_nobody_listens(unused_port: int) -> None:
    error, _ = await fail(f"http://user:{KEY}@127.0.0.1:{unused_port}/v1?key={KEY}")
    assert error.kind == "connection"
    assert str(error) == (
        f"no server answers at http://127.0.0.1:{unused_port}/v1/chat/completions (Connection refused): "
        "check that it is running, and --base-url and the network"
    )


@pytest.mark.parametrize("host", ["no-such-host.invalid", "two..dots", "long" * 20])
async def test_no_such_host(host: str) -> None:
    error, _ = await fail(f"http://{host}/v1")
    assert error.kind == "connection"
    assert f"no server answers at http://{host}/v1/chat/completions (" in str(error)


async def test_no_connection_in_time() -> None:
    """A server whose backlog is full: its kernel does not answer."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as silent, socket.socket() as filler:
        port = silent.getsockname()[1]
        filler.connect(("127.0.0.1", port))
        quick = Timeouts(connect=0.2)
        error, _ = await fail(f"http://127.0.0.1:{port}/v1", timeouts=quick)
    assert error.kind == "timeout"
    assert f"http://127.0.0.1:{port}/v1/chat/completions (no connection within 0.2 s)" in str(error)


async def test_https_to_a_server_that_speaks_http() -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(b"HTTP/1.1 400 Bad\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(refuse, "127.0.0.1", 0) as server:
        error, _ = await fail(f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1")
    assert error.kind == "connection"
    assert "SSL" in str(error)


async def test_a_server_that_wants_a_key_and_gets_none() -> None:
    async with RawServer([plain(401, complaint("Missing bearer"))]) as server:
        error, _ = await fail(server.base_url, key=None)
    assert "wants a key (401): set MY_KEY: Missing bearer" in str(error)


async def test_no_log_holds_a_key(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with RawServer([plain(401, complaint(f"bad key {KEY}"))]) as server:
        await fail(f"{server.base_url}?key={KEY}")
    assert server.requests[0].target.endswith(f"?key={KEY}")
    assert KEY not in caplog.text


async def test_a_proxy_of_the_environment_does_not_lead_to_this_machine(
    monkeypatch: pytest.MonkeyPatch, unused_port: int
) -> None:
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{unused_port}")
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{unused_port}")
    async with RawServer([plain(418, complaint("tea"))]) as server:
        direct, _ = await fail(server.base_url)
    proxied, _ = await fail("http://192.0.2.1/v1")
    assert "tea" in str(direct)
    assert proxied.kind == "connection"
