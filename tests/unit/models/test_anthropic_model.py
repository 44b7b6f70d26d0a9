"""The Messages client against byte-exact servers: what it sends, and what it reads."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentscope_tui.models.chat import ChatRequest, Completion, Delta, Message, ModelError, Usage
from agentscope_tui.models.factory import open_model
from fakes.messages_api import (
    call_block,
    finish,
    grown,
    opened,
    replies,
    sent,
    start,
    stopped,
    text_block,
)
from fakes.raw_server import Answer, RawServer, delta, event, plain, stream

REQUEST = ChatRequest(messages=[{"role": "user", "content": "hi"}], max_output_tokens=64)
TOOL = {
    "type": "function",
    "function": {"name": "f", "description": "does f", "parameters": {"type": "object", "properties": {}}},
}
CACHED = {"cache_control": {"type": "ephemeral"}}


async def ask(
    server: RawServer, request: ChatRequest = REQUEST, **options: Any
) -> tuple[Completion, list[Delta]]:
    model = open_model("anthropic:c", base_url=server.base_url, api_key="sk-a", retries=0, **options)
    deltas: list[Delta] = []
    try:
        return await model.complete(request, deltas.append), deltas
    finally:
        await model.aclose()


async def read(answer: Answer) -> tuple[Completion, list[Delta]]:
    async with RawServer([answer]) as server:
        return await ask(server)


async def body_for(request: ChatRequest, **options: Any) -> dict[str, Any]:
    async with RawServer([replies("x")]) as server:
        await ask(server, request, **options)
    body: dict[str, Any] = server.requests[0].json()
    return body


async def turns_for(*messages: Message) -> list[dict[str, Any]]:
    """The turns of a request, without the marks for the cache."""
    body = await body_for(
        ChatRequest(messages=list(messages)), providers={"anthropic": {"prompt_cache": False}}
    )
    turns: list[dict[str, Any]] = body["messages"]
    return turns


async def test_what_is_sent() -> None:
    request = ChatRequest(
        messages=[
            {"role": "system", "content": "Be brief."},
            {"role": "developer", "content": "Really."},
            {"role": "user", "content": "hi"},
        ],
        tools=[TOOL],
        max_output_tokens=7,
        temperature=1.5,
        params={"tool_choice": "required", "parallel_tool_calls": False, "stop": "END", "seed": 1},
    )
    async with RawServer([replies("x")]) as server:
        await ask(server, request)
    request_sent = server.requests[0]
    assert request_sent.target == "/v1/messages"
    assert request_sent.headers["x-api-key"] == "sk-a"
    assert request_sent.headers["anthropic-version"] == "2023-06-01"
    assert "authorization" not in request_sent.headers
    assert request_sent.json() == {
        "model": "c",
        "max_tokens": 7,
        "stream": True,
        "temperature": 1.0,
        "system": [{"type": "text", "text": "Be brief.\n\nReally.", **CACHED}],
        "messages": [{"role": "user", "content": [{"type": "text", "text": "hi", **CACHED}]}],
        "tools": [
            {"name": "f", "description": "does f", "input_schema": {"type": "object", "properties": {}}}
        ],
        "tool_choice": {"type": "any", "disable_parallel_tool_use": True},
        "stop_sequences": ["END"],
    }


@pytest.mark.parametrize(
    ("params", "choice"),
    [
        ({"tool_choice": "auto"}, {"type": "auto"}),
        ({"tool_choice": "none"}, {"type": "none"}),
        ({"tool_choice": {"type": "function", "function": {"name": "f"}}}, {"type": "tool", "name": "f"}),
        ({"tool_choice": {"type": "any"}}, {"type": "any"}),
        ({"parallel_tool_calls": False}, {"type": "auto", "disable_parallel_tool_use": True}),
        ({"parallel_tool_calls": True}, None),
    ],
)
async def test_tool_choices(params: dict[str, Any], choice: dict[str, Any] | None) -> None:
    body = await body_for(REQUEST.model_copy(update={"tools": [TOOL], "params": params}))
    assert body.get("tool_choice") == choice


async def test_thinking_goes_without_a_temperature() -> None:
    thinking = {"type": "enabled", "budget_tokens": 1024}
    warm = REQUEST.model_copy(update={"temperature": 0.5})
    body = await body_for(warm, params={"thinking": thinking})
    assert body["thinking"] == thinking
    assert "temperature" not in body
    assert (await body_for(warm, params={"thinking": {"type": "disabled"}}))["temperature"] == 0.5


async def test_a_bearer_key_for_a_preset_that_wants_one() -> None:
    async with RawServer([replies("x")]) as server:
        own = {"bedrock-anthropic": {"base_url": f"http://127.0.0.1:{server.port}/anthropic"}}
        model = open_model(
            "bedrock-anthropic:c", providers=own, environ={"AWS_BEARER_TOKEN_BEDROCK": "token"}
        )
        await model.complete(REQUEST, lambda piece: None)
        await model.aclose()
    assert server.requests[0].target == "/anthropic/v1/messages"
    assert server.requests[0].headers["authorization"] == "Bearer token"


def call(call_id: str, arguments: str = "{}", name: str = "f") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


async def test_all_results_of_a_batch_stand_first_in_one_turn() -> None:
    turns = await turns_for(
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": "I do.", "tool_calls": [call("a", '{"x": 1}'), call("b!", "{oops")]},
        {"role": "tool", "tool_call_id": "a", "content": "1"},
        {"role": "tool", "tool_call_id": "b!", "content": "", "is_error": True},
        {"role": "user", "content": "and now?"},
    )
    assert turns == [
        {"role": "user", "content": [{"type": "text", "text": "go"}]},
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "I do."},
                {"type": "tool_use", "id": "a", "name": "f", "input": {"x": 1}},
                {"type": "tool_use", "id": "b_", "name": "f", "input": {"invalid_json": "{oops"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": [{"type": "text", "text": "1"}]},
                {"type": "tool_result", "tool_use_id": "b_", "is_error": True},
                {"type": "text", "text": "and now?"},
            ],
        },
    ]


async def test_turns_alternate_and_hold_no_empty_text() -> None:
    turns = await turns_for(
        {"role": "user", "content": "one"},
        {"role": "user", "content": [{"type": "text", "text": "two"}, {"type": "text", "text": " "}]},
        {"role": "assistant", "content": ""},
        {"role": "system", "content": "late"},
        {
            "role": "user",
            "content": [
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
                {"type": "image_url", "image_url": {"url": "https://x.test/a.png"}},
            ],
        },
    )
    assert turns == [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "one"},
                {"type": "text", "text": "two"},
                {"type": "text", "text": "late"},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}},
                {"type": "image", "source": {"type": "url", "url": "https://x.test/a.png"}},
            ],
        }
    ]


async def test_text_streams_and_adds_up() -> None:
    completion, deltas = await read(
        stream(
            start(input_tokens=9, output_tokens=1, cache_read_input_tokens=4, cache_creation_input_tokens=2),
            sent("ping"),
            opened(0, type="text", text=""),
            grown(0, "text_delta", text=""),
            grown(0, "text_delta", text="Hel"),
            sent("an_event_of_the_future", data=1),
            grown(0, "text_delta", text="lo"),
            stopped(0),
            finish("end_turn", output_tokens=5),
        )
    )
    assert [piece.text for piece in deltas] == ["Hel", "lo"]
    # What is known of the usage comes with the first piece, so that an interrupt loses nothing.
    assert deltas[0].usage == Usage(input_tokens=15, output_tokens=1, cached_tokens=4, partial=True)
    assert deltas[1].usage is None
    assert completion == Completion(
        text="Hello",
        finish_reason="stop",
        usage=Usage(input_tokens=15, output_tokens=5, cached_tokens=4),
        model="c-1",
    )


async def test_parallel_calls_stream() -> None:
    completion, deltas = await read(
        stream(
            start(input_tokens=1),
            text_block(0, "I look."),
            call_block(1, "toolu_1", "f", '{"a"', ": 1}"),
            call_block(2, "toolu_2", "g"),
            finish("tool_use", output_tokens=9),
        )
    )
    calls = [(part.id, part.function.name, part.function.arguments) for part in completion.tool_calls]
    assert calls == [("toolu_1", "f", '{"a": 1}'), ("toolu_2", "g", "")]
    assert completion.finish_reason == "tool_calls"
    pieces = [piece for item in deltas for piece in item.tool_calls]
    assert [(piece.index, piece.name, piece.arguments) for piece in pieces] == [
        (0, "f", ""),
        (0, "", '{"a"'),
        (0, "", ": 1}"),
        (1, "g", ""),
    ]
    assert completion.extra == {}


THOUGHTS = stream(
    start(input_tokens=1),
    opened(0, type="thinking", thinking="", signature=""),
    grown(0, "thinking_delta", thinking="Let me"),
    grown(0, "thinking_delta", thinking=" see."),
    grown(0, "signature_delta", signature="c2ln"),
    stopped(0),
    opened(1, type="redacted_thinking", data="c2VjcmV0"),
    stopped(1),
    text_block(2, "I look."),
    opened(3, type="thinking", thinking=""),
    grown(3, "thinking_delta", thinking="Again."),
    grown(3, "signature_delta", signature="bWU="),
    stopped(3),
    call_block(4, "toolu_1", "f", '{"b": 1, "a": 2.0}'),
    finish("tool_use", output_tokens=9),
)
BLOCKS = [
    {"type": "thinking", "thinking": "Let me see.", "signature": "c2ln"},
    {"type": "redacted_thinking", "data": "c2VjcmV0"},
    {"type": "text", "text": "I look."},
    {"type": "thinking", "thinking": "Again.", "signature": "bWU="},
    {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"b": 1, "a": 2.0}},
]


async def test_thoughts_survive_a_tool_loop_unchanged() -> None:
    completion, deltas = await read(THOUGHTS)
    assert completion.reasoning == "Let me see.Again."
    assert "".join(piece.reasoning for piece in deltas) == completion.reasoning
    # Through frames, which carry the completion as JSON.
    carried = json.loads(json.dumps(completion.to_openai()))["choices"][0]["message"]
    turns = await turns_for(
        {"role": "user", "content": "go"},
        carried,
        {"role": "tool", "tool_call_id": "toolu_1", "content": "1"},
    )
    assert turns[1] == {"role": "assistant", "content": BLOCKS}


async def test_thoughts_stay_when_the_user_edits_the_completion() -> None:
    completion, _ = await read(THOUGHTS)
    edited = completion.model_copy(update={"text": "I stop.", "tool_calls": ()})
    turns = await turns_for({"role": "user", "content": "go"}, edited.message())
    thoughts = [block for block in BLOCKS if "thinking" in block["type"]]
    assert turns[1]["content"] == [*thoughts, {"type": "text", "text": "I stop."}]


REASONS = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "tool_use": "tool_calls",
    "pause_turn": "stop",
    "refusal": "content_filter",
    "model_context_window_exceeded": "length",
    "something_new": "something_new",
}


@pytest.mark.parametrize(("theirs", "ours"), REASONS.items())
async def test_stop_reasons(theirs: str, ours: str) -> None:
    completion, _ = await read(stream(start(), text_block(0, "x"), finish(theirs)))
    assert completion.finish_reason == ours


async def test_a_call_cut_off_at_the_limit_keeps_what_was_written() -> None:
    cut = [
        opened(0, type="tool_use", id="t", name="f"),
        grown(0, "input_json_delta", partial_json='{"a": "b'),
    ]
    completion, _ = await read(stream(start(), *cut, finish("max_tokens")))
    assert completion.finish_reason == "length"
    assert completion.tool_calls[0].function.arguments == '{"a": "b'


ODDITIES: dict[str, tuple[list[bytes], str, str]] = {
    "an input given whole": (
        [opened(0, type="tool_use", id="t", name="f", input={"a": 1}), stopped(0), finish("tool_use")],
        "",
        '{"a": 1}',
    ),
    "no start of the message": ([text_block(0, "x"), finish("end_turn")], "x", ""),
    "no start of the block": ([start(), grown(0, "text_delta", text="x"), finish("end_turn")], "x", ""),
    "text in the start of the block": (
        [start(), opened(0, type="text", text="x"), finish("end_turn")],
        "x",
        "",
    ),
    "no message_stop": (
        [start(), text_block(0, "x"), sent("message_delta", delta={"stop_reason": "end_turn"})],
        "x",
        "",
    ),
    "a tool that the provider runs": (
        [
            start(),
            opened(0, type="server_tool_use", id="s", name="web_search", input={}),
            grown(0, "input_json_delta", partial_json='{"q": 1}'),
            stopped(0),
            text_block(1, "x"),
            finish("end_turn"),
        ],
        "x",
        "",
    ),
}


@pytest.mark.parametrize(("steps", "text", "arguments"), ODDITIES.values(), ids=ODDITIES.keys())
async def test_oddities(steps: list[bytes], text: str, arguments: str) -> None:
    completion, _ = await read(stream(*steps))
    assert completion.text == text
    assert "".join(part.function.arguments for part in completion.tool_calls) == arguments


def refusal(kind: str, message: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": message}}


FAULTS: dict[str, tuple[Answer, str, list[str]]] = {
    "wrong key": (
        plain(401, refusal("authentication_error", "invalid x-api-key")),
        "authentication",
        ["refused the key", "invalid x-api-key"],
    ),
    "no such model": (
        plain(404, refusal("not_found_error", "model: claude-nix")),
        "unknown_model",
        ["has no model 'c'", "--model"],
    ),
    "overflow": (
        plain(400, refusal("invalid_request_error", "prompt is too long: 205000 tokens > 200000 maximum")),
        "context_overflow",
        ["205000 of at most 200000 tokens", "larger context"],
    ),
    "overflow with the output": (
        plain(
            400,
            refusal(
                "invalid_request_error",
                "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease",
            ),
        ),
        "context_overflow",
        ["210000 of at most 200000 tokens"],
    ),
    "no credit": (
        plain(400, refusal("billing_error", "Your credit balance is too low")),
        "quota",
        ["billing"],
    ),
    "overloaded, in the stream": (
        stream(
            start(input_tokens=2), sent("error", error={"type": "overloaded_error", "message": "Overloaded"})
        ),
        "server",
        ["Overloaded", "try again"],
    ),
    "cut short": (stream(start(input_tokens=2), opened(0, type="text", text="Hel")), "connection", ["ended"]),
    "another API": (stream(delta(content="x"), event("[DONE]")), "malformed", ["Anthropic Messages API"]),
    "a page": (plain(200, "<html>hi</html>", content_type="text/html"), "malformed", ["without a stream"]),
}


@pytest.mark.parametrize(("answer", "kind", "words"), FAULTS.values(), ids=FAULTS.keys())
async def test_faults(answer: Answer, kind: str, words: list[str]) -> None:
    with pytest.raises(ModelError) as caught:
        await read(answer)
    assert caught.value.kind == kind, str(caught.value)
    for word in words:
        assert word in str(caught.value)
    assert "sk-a" not in str(caught.value)


async def test_usage_of_a_call_that_failed_is_partial() -> None:
    with pytest.raises(ModelError) as caught:
        await read(stream(start(input_tokens=7, output_tokens=1), text_block(0, "Hel")))
    assert caught.value.usage == Usage(input_tokens=7, output_tokens=1, partial=True)
