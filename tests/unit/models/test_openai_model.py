"""The Chat Completions client against byte-exact servers: what it sends, and what it reads."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from agentscope_tui.models.chat import ChatRequest, Completion, Delta, ModelError, Usage
from agentscope_tui.models.factory import open_model
from fakes.raw_server import (
    CHUNKED,
    DONE,
    Answer,
    RawServer,
    chunk,
    delta,
    event,
    plain,
    says,
    stream,
)

REQUEST = ChatRequest(messages=[{"role": "user", "content": "hi"}], max_output_tokens=64)
TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}


async def ask(
    server: RawServer, request: ChatRequest = REQUEST, *, key: str | None = None
) -> tuple[Completion, list[Delta]]:
    model = open_model("openai:m", base_url=server.base_url, api_key=key)
    deltas: list[Delta] = []
    try:
        return await model.complete(request, deltas.append), deltas
    finally:
        await model.aclose()


async def read(answer: Answer) -> tuple[Completion, list[Delta]]:
    async with RawServer([answer]) as server:
        return await ask(server)


async def test_text_streams_and_adds_up() -> None:
    completion, deltas = await read(
        stream(
            delta(role="assistant", content=""),
            delta(content="Hel"),
            delta(content="lo"),
            delta("stop"),
            event({"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 2}}),
            DONE,
        )
    )
    assert [piece.text for piece in deltas] == ["Hel", "lo"]
    assert completion == Completion(
        text="Hello", finish_reason="stop", usage=Usage(input_tokens=9, output_tokens=2), model="m-1"
    )


async def test_what_only_the_messages_api_knows_is_left_out() -> None:
    thought = {"type": "thinking", "thinking": "hm", "signature": "s"}
    said = {"role": "assistant", "content": "I look.", "anthropic_content": [thought]}
    result = {"role": "tool", "tool_call_id": "c1", "content": "no", "is_error": True}
    request = ChatRequest(
        messages=[said, result], params={"thinking": {"type": "disabled"}, "top_k": 5}, api="anthropic"
    )
    async with RawServer([says("x")]) as server:
        await ask(server, request)
    sent = server.requests[0].json()
    assert sent["messages"] == [
        {"role": "assistant", "content": "I look."},
        {"role": "tool", "tool_call_id": "c1", "content": "no"},
    ]
    assert ("thinking" in sent, sent["top_k"]) == (False, 5)


async def test_what_is_sent() -> None:
    request = ChatRequest(
        messages=[{"role": "user", "content": "h\ud800i é"}],
        tools=[TOOL],
        max_output_tokens=7,
        temperature=0.0,
        params={"tool_choice": "auto", "model": "not this", "stream": False},
    )
    async with RawServer([says("x")]) as server:
        await ask(server, request, key=" sk-secret\n")
    sent = server.requests[0]
    assert (sent.method, sent.target) == ("POST", "/v1/chat/completions")
    assert sent.headers["authorization"] == "Bearer sk-secret"
    assert sent.headers["content-type"] == "application/json"
    assert sent.json() == {
        "model": "m",
        "messages": [{"role": "user", "content": "h?i é"}],
        "tools": [TOOL],
        "tool_choice": "auto",
        "max_tokens": 7,
        "temperature": 0.0,
        "stream": True,
        "stream_options": {"include_usage": True},
    }


async def test_what_is_not_set_is_not_sent() -> None:
    async with RawServer([says("x")]) as server:
        await ask(server)
    assert "authorization" not in server.requests[0].headers
    assert not {"tools", "temperature"} & set(server.requests[0].json())


async def test_usage_is_not_asked_again_of_a_server_that_refuses_to_tell_it() -> None:
    refusal = plain(400, {"error": {"message": "Unrecognized request argument: stream_options"}})
    async with RawServer([refusal, says("one"), says("two")]) as server:
        model = open_model("openai:m", base_url=server.base_url)
        first = await model.complete(REQUEST, lambda piece: None)
        second = await model.complete(REQUEST, lambda piece: None)
        await model.aclose()
    assert (first.text, second.text) == ("one", "two")
    assert ["stream_options" in request.json() for request in server.requests] == [True, False, False]


async def test_another_bad_request_is_not_sent_again() -> None:
    async with RawServer([plain(400, {"error": {"message": "bad tool"}})]) as server:
        with pytest.raises(ModelError, match="bad tool"):
            await ask(server)
    assert len(server.requests) == 1


async def test_calls_share_a_connection() -> None:
    body = b"".join(step for step in says("x")[1:] if isinstance(step, bytes))
    async with RawServer([[CHUNKED, chunk(body), chunk(b"")]], keep=True) as server:
        model = open_model("openai:m", base_url=server.base_url)
        for _ in range(3):
            await model.complete(REQUEST, lambda piece: None)
        await model.aclose()
        await server.until(lambda server: server.open == 0)
    assert (len(server.requests), server.connections) == (3, 1)


USAGE = {
    "in each chunk": (
        [
            event(
                {
                    "choices": [{"delta": {"content": "x"}}],
                    "usage": {"prompt_tokens": 5, "completion_tokens": 1},
                }
            ),
            event({"choices": [{"delta": {}, "finish_reason": "stop"}], "usage": {"completion_tokens": 2}}),
            DONE,
        ],
        Usage(output_tokens=2),
    ),
    "with details": (
        [
            delta("stop", content="x"),
            event(
                {
                    "choices": [],
                    "usage": {
                        "prompt_tokens": 10,
                        "completion_tokens": 8,
                        "prompt_tokens_details": {"cached_tokens": 4},
                        "completion_tokens_details": {"reasoning_tokens": 3},
                    },
                }
            ),
            DONE,
        ],
        Usage(input_tokens=10, output_tokens=8, cached_tokens=4, reasoning_tokens=3),
    ),
    "null, strings and negatives": (
        [
            delta("stop", content="x"),
            event(
                {
                    "usage": {
                        "prompt_tokens": "many",
                        "completion_tokens": -1,
                        "prompt_tokens_details": None,
                        "prompt_cache_hit_tokens": 6,
                    }
                }
            ),
            DONE,
        ],
        Usage(cached_tokens=6),
    ),
    "never told: estimated and marked": (
        [delta("stop", content="x" * 40), DONE],
        Usage(input_tokens=9, output_tokens=10, partial=True),
    ),
}


@pytest.mark.parametrize(("steps", "usage"), USAGE.values(), ids=USAGE.keys())
async def test_usage(steps: list[bytes], usage: Usage) -> None:
    completion, _ = await read(stream(*steps))
    assert completion.usage == usage


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
async def test_reasoning(name: str) -> None:
    completion, deltas = await read(
        stream(
            delta(**{name: "hm", "content": None}),
            delta(**{name: "m"}),
            delta(content="4"),
            delta("stop"),
            DONE,
        )
    )
    assert (completion.reasoning, completion.text) == ("hmm", "4")
    assert [piece.reasoning for piece in deltas] == ["hm", "m", ""]


async def test_reasoning_told_under_both_names_counts_once() -> None:
    completion, _ = await read(stream(delta(reasoning="a", reasoning_content="a"), delta("stop"), DONE))
    assert completion.reasoning == "a"


async def test_reasoning_details_go_back_as_whole_blocks() -> None:
    def piece(**fields: Any) -> bytes:
        return delta(reasoning_details=[{"type": "reasoning.text", "index": 0, **fields}])

    completion, _ = await read(
        stream(
            piece(text="let ", signature=None),
            piece(text="me see", signature="abc"),
            delta(reasoning_details=[{"type": "reasoning.encrypted", "index": 1, "data": "e"}]),
            delta("stop", content="4"),
            DONE,
        )
    )
    assert completion.message()["reasoning_details"] == [
        {"type": "reasoning.text", "index": 0, "text": "let me see", "signature": "abc"},
        {"type": "reasoning.encrypted", "index": 1, "data": "e"},
    ]


ENDS: dict[str, tuple[Sequence[bytes], str | None]] = {
    "[DONE] without a reason": ([delta(content="x"), DONE], None),
    "a reason without [DONE]": ([delta("length", content="x")], "length"),
    "stop, null, [DONE]": ([delta("stop", content="x"), delta(), DONE], "stop"),
    "no blank line after [DONE]": ([delta("stop", content="x"), b"data: [DONE]"], "stop"),
    "no role, an azure prelude, comments": (
        [b": hi\n\n", event({"choices": [], "prompt_filter_results": []}), delta("stop", content="x"), DONE],
        "stop",
    ),
    "nonsense around it is ignored": (
        [
            event({"choices": [None]}),
            event({"choices": "none"}),
            event({"choices": [{"delta": None}]}),
            event({"choices": [{"delta": {"content": 3, "tool_calls": [None, 1], "reasoning": {}}}]}),
            b"event: vendor\n\n",
            delta("stop", content="x"),
            DONE,
        ],
        "stop",
    ),
}


@pytest.mark.parametrize(("steps", "reason"), ENDS.values(), ids=ENDS.keys())
async def test_ends_of_a_stream(steps: Sequence[bytes], reason: str | None) -> None:
    completion, _ = await read(stream(*steps))
    assert (completion.text, completion.finish_reason) == ("x", reason)


async def test_characters_and_events_split_anywhere() -> None:
    content = "é€😀\u2028\u0085\r\n"
    value = {"choices": [{"delta": {"content": content}, "finish_reason": "stop"}]}
    body = event(json.dumps(value, ensure_ascii=False)) + DONE
    completion, _ = await read(stream(*(body[place : place + 3] for place in range(0, len(body), 3))))
    assert completion.text == content
