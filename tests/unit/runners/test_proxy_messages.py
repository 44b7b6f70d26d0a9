"""Anthropic's Messages at the endpoint, with Anthropic's own client."""

from __future__ import annotations

from typing import Any

import anthropic
import pytest
from anthropic import AsyncAnthropic

from agentscope_tui.models.anthropic_blocks import CONTENT, conversation
from agentscope_tui.models.chat import Completion, Usage
from fakes.endpoint import FakeHost, endpoint
from fakes.engine import DEADLINE, says

ASK: Any = [{"role": "user", "content": "hello"}]
TOOLS: Any = [{"name": "add", "description": "adds", "input_schema": {"type": "object"}}]
PNG = "iVBORw0KGgo="


def client(host: FakeHost) -> AsyncAnthropic:
    return AsyncAnthropic(base_url=host.url, api_key=host.token, timeout=DEADLINE, max_retries=2)


async def test_an_answer() -> None:
    completion = says("hi").model_copy(
        update={"usage": Usage(input_tokens=10, cached_tokens=4, output_tokens=5)}
    )
    async with endpoint(completion) as host, client(host) as ai:
        answer = await ai.messages.create(model="claude", max_tokens=99, messages=ASK, system="Be short.")
    assert [block.model_dump(exclude_none=True) for block in answer.content] == [
        {"type": "text", "text": "hi"}
    ]
    assert answer.stop_reason == "end_turn"
    assert (answer.usage.input_tokens, answer.usage.cache_read_input_tokens) == (6, 4)
    assert answer.usage.output_tokens == 5
    body = host.bodies[0]
    assert body["messages"] == [{"role": "system", "content": "Be short."}, *ASK]
    assert (body["model"], body["max_tokens"]) == ("claude", 99)


async def test_tools_there_and_back() -> None:
    async with endpoint(says("I add.", ("add", '{"a": 1}')), says("2")) as host, client(host) as ai:
        first = await ai.messages.create(
            model="m", max_tokens=9, messages=ASK, tools=TOOLS, tool_choice={"type": "any"}
        )
        result = {"type": "tool_result", "tool_use_id": "c1", "content": "two", "is_error": True}
        turns: Any = [
            *ASK,
            {"role": "assistant", "content": first.content},
            {"role": "user", "content": [result, {"type": "text", "text": "go on"}]},
        ]
        await ai.messages.create(model="m", max_tokens=9, messages=turns, tools=TOOLS)
    assert first.stop_reason == "tool_use"
    assert first.content[1].model_dump(include={"name", "input", "id"}) == {
        "id": "c1",
        "name": "add",
        "input": {"a": 1},
    }
    assert host.bodies[0]["tool_choice"] == "required"
    function = {"name": "add", "description": "adds", "parameters": {"type": "object"}}
    assert host.bodies[0]["tools"] == [{"type": "function", "function": function}]
    call = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}}
    assert host.bodies[1]["messages"] == [
        *ASK,
        {"role": "assistant", "content": "I add.", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "two", "is_error": True},
        {"role": "user", "content": [{"type": "text", "text": "go on"}]},
    ]


async def test_a_stream_with_tools() -> None:
    async with (
        endpoint(says("I add.", ("add", '{"a": 1}'))) as host,
        client(host) as ai,
        ai.messages.stream(model="m", max_tokens=9, messages=ASK, tools=TOOLS) as stream,
    ):
        texts = [text async for text in stream.text_stream]
        answer = await stream.get_final_message()
    assert texts == ["I add."]
    assert answer.content[1].model_dump(include={"input"}) == {"input": {"a": 1}}
    assert (answer.stop_reason, answer.usage.output_tokens) == ("tool_use", 5)


async def test_thoughts_come_and_go_unchanged() -> None:
    thought = {"type": "thinking", "thinking": "hm", "signature": "s1"}
    blocks = [thought, {"type": "text", "text": "hi"}]
    completion = Completion(text="hi", finish_reason="stop", extra={CONTENT: blocks})
    async with endpoint(completion, completion) as host, client(host) as ai:
        async with ai.messages.stream(model="m", max_tokens=9, messages=ASK) as stream:
            answer = await stream.get_final_message()
        turns: Any = [*ASK, {"role": "assistant", "content": answer.content}, *ASK]
        await ai.messages.create(model="m", max_tokens=9, messages=turns)
    assert answer.content[0].model_dump(exclude_none=True) == thought
    _, sent = conversation(host.bodies[1]["messages"])
    assert sent[1]["content"][0] == thought


async def test_thoughts_of_another_providers_model_come_where_they_are_asked_for() -> None:
    completion = says("hi").model_copy(update={"reasoning": "hm"})
    async with endpoint(completion, completion, says("done")) as host, client(host) as ai:
        plain = await ai.messages.create(model="m", max_tokens=9, messages=ASK)
        thinking: Any = {"type": "enabled", "budget_tokens": 1024}
        answer = await ai.messages.create(model="m", max_tokens=2048, messages=ASK, thinking=thinking)
        turns: Any = [*ASK, {"role": "assistant", "content": answer.content}, *ASK]
        await ai.messages.create(model="m", max_tokens=9, messages=turns)
    assert [block.type for block in plain.content] == ["text"]
    assert [block.type for block in answer.content] == ["thinking", "text"]
    assert host.bodies[2]["messages"] == [*ASK, {"role": "assistant", "content": "hi"}, *ASK]


async def test_pictures_and_documents() -> None:
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
    document = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "x"}}
    turns: Any = [{"role": "user", "content": [picture, document]}]
    async with endpoint(says("nice")) as host, client(host) as ai:
        await ai.messages.create(model="m", max_tokens=9, messages=turns)
    url = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}
    assert host.bodies[0]["messages"][0]["content"] == [url, document]
    assert conversation(host.bodies[0]["messages"])[1] == turns


async def test_an_error_is_not_asked_again() -> None:
    async with endpoint("interrupted", says("again")) as host, client(host) as ai:
        with pytest.raises(anthropic.BadRequestError, match="interrupted"):
            await ai.messages.create(model="m", max_tokens=9, messages=ASK)
    assert len(host.bodies) == 1


async def test_an_error_after_a_ping_reaches_a_stream() -> None:
    async with endpoint("interrupted", heartbeat=0.05) as host, client(host) as ai:
        host.free.clear()
        stream = await ai.messages.create(model="m", max_tokens=9, messages=ASK, stream=True)
        host.free.set()
        with pytest.raises(anthropic.APIStatusError, match="interrupted"):
            _ = [event async for event in stream]


async def test_a_wrong_token_is_an_authentication_error() -> None:
    async with endpoint(says("no")) as host, client(host) as ai:
        with pytest.raises(anthropic.AuthenticationError):
            await ai.with_options(api_key="wrong").messages.create(model="m", max_tokens=9, messages=ASK)


async def test_tokens_are_estimated_without_a_call() -> None:
    async with endpoint() as host, client(host) as ai:
        counted = await ai.messages.count_tokens(model="m", messages=[{"role": "user", "content": "x" * 400}])
    assert 100 <= counted.input_tokens <= 130
    assert host.bodies == []


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"tools": [{"type": "web_search_20250305", "name": "web_search"}]}, "web_search_20250305"),
        ({"tool_choice": {"type": "magic"}}, "magic"),
        (
            {
                "messages": [
                    {
                        "role": "user",
                        "content": [{"type": "document", "source": {"type": "file", "file_id": "f"}}],
                    }
                ]
            },
            "uploaded file",
        ),
    ],
)
async def test_what_cannot_be_passed_on_is_refused_by_name(fields: dict[str, Any], named: str) -> None:
    body = {"model": "m", "max_tokens": 9, "messages": ASK, **fields}
    async with endpoint(says("no")) as host, client(host) as ai:
        with pytest.raises(anthropic.BadRequestError, match=named):
            await ai.post("/v1/messages", body=body, cast_to=object)
    assert host.bodies == []
