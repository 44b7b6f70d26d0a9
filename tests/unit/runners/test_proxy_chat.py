"""Chat Completions at the endpoint, with OpenAI's own client."""

from __future__ import annotations

import json
from typing import Any

import openai
import pytest
from openai import AsyncOpenAI

from agentscope_tui.models.chat import Completion, Usage
from fakes.endpoint import FakeHost, endpoint
from fakes.engine import DEADLINE, says

ASK: Any = [{"role": "user", "content": "hello"}]
TOOLS: Any = [{"type": "function", "function": {"name": "add", "parameters": {"type": "object"}}}]


def client(host: FakeHost) -> AsyncOpenAI:
    return AsyncOpenAI(base_url=f"{host.url}/v1", api_key=host.token, timeout=DEADLINE, max_retries=2)


async def test_an_answer_and_what_was_asked() -> None:
    async with endpoint(says("hi")) as host, client(host) as ai:
        answer = await ai.chat.completions.create(
            model="gpt-x", messages=ASK, temperature=0.3, stop=["END"], seed=7
        )
    assert answer.choices[0].message.content == "hi"
    assert answer.choices[0].finish_reason == "stop"
    assert answer.usage is not None
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens) == (10, 5)
    wanted = {"model": "gpt-x", "messages": ASK, "temperature": 0.3, "stop": ["END"], "seed": 7}
    assert host.bodies == [wanted]


async def test_tool_calls() -> None:
    completion = says("", ("add", '{"a":1}'), ("add", '{"a":2}'))
    async with endpoint(completion) as host, client(host) as ai:
        answer = await ai.chat.completions.create(model="m", messages=ASK, tools=TOOLS)
    calls: Any = answer.choices[0].message.tool_calls
    assert [(call.id, call.function.arguments) for call in calls] == [("c1", '{"a":1}'), ("c2", '{"a":2}')]
    assert answer.choices[0].finish_reason == "tool_calls"


async def test_a_stream_with_tools_and_usage() -> None:
    completion = says("I add.", ("add", '{"a":1}'), ("add", '{"a":2}'))
    async with (
        endpoint(completion) as host,
        client(host) as ai,
        ai.chat.completions.stream(
            model="m", messages=ASK, tools=TOOLS, stream_options={"include_usage": True}
        ) as stream,
    ):
        answer = await stream.get_final_completion()
    message = answer.choices[0].message
    assert message.content == "I add."
    assert [call.function.arguments for call in message.tool_calls or []] == ['{"a":1}', '{"a":2}']
    assert answer.choices[0].finish_reason == "tool_calls"
    assert answer.usage is not None
    assert answer.usage.total_tokens == 15


async def test_a_plain_stream_has_no_usage() -> None:
    async with endpoint(says("hi")) as host, client(host) as ai:
        chunks = [
            chunk async for chunk in await ai.chat.completions.create(model="m", messages=ASK, stream=True)
        ]
    assert [chunk.choices[0].delta.content for chunk in chunks] == ["hi", None]
    assert chunks[-1].choices[0].finish_reason == "stop"


async def test_reasoning_goes_to_the_agent_where_the_provider_wrote_it() -> None:
    completion = Completion(
        reasoning="hm",
        reasoning_field="reasoning_content",
        tool_calls=says("", ("add", "{}")).tool_calls,
        finish_reason="tool_calls",
        usage=Usage(),
    )
    async with endpoint(completion) as host, client(host) as ai:
        answer = await ai.chat.completions.create(model="m", messages=ASK)
    assert answer.choices[0].message.model_extra == {"reasoning_content": "hm"}


async def test_the_thoughts_of_a_last_answer_are_told_too() -> None:
    completion = says("4").model_copy(update={"reasoning": "hm"})
    async with endpoint(completion, completion) as host, client(host) as ai:
        answer = await ai.chat.completions.create(model="m", messages=ASK)
        stream = await ai.chat.completions.create(model="m", messages=ASK, stream=True)
        chunks = [chunk async for chunk in stream]
    assert answer.choices[0].message.model_extra == {"reasoning_content": "hm"}
    assert chunks[0].choices[0].delta.model_extra == {"reasoning_content": "hm"}


@pytest.mark.parametrize("error", ["interrupted", "limit reached: 60 model calls"])
async def test_an_error_is_told_once_and_not_asked_again(error: str) -> None:
    async with endpoint(error, says("again")) as host, client(host) as ai:
        with pytest.raises(openai.BadRequestError, match=error):
            await ai.chat.completions.create(model="m", messages=ASK)
    assert len(host.bodies) == 1


async def test_an_error_after_a_ping_reaches_a_stream() -> None:
    async with endpoint("interrupted", heartbeat=0.05) as host, client(host) as ai:
        host.free.clear()
        stream = await ai.chat.completions.create(model="m", messages=ASK, stream=True)
        host.free.set()
        with pytest.raises(openai.APIError, match="interrupted"):
            _ = [chunk async for chunk in stream]
    assert len(host.bodies) == 1


@pytest.mark.parametrize(
    ("param", "value"),
    [
        ("n", 2),
        ("logprobs", True),
        ("functions", [{"name": "f"}]),
        ("audio", {"voice": "a"}),
        ("modalities", ["text", "audio"]),
        ("tools", [{"type": "custom", "custom": {"name": "c"}}]),
    ],
)
async def test_what_cannot_be_passed_on_is_refused_by_name(param: str, value: Any) -> None:
    async with endpoint(says("no")) as host, client(host) as ai:
        with pytest.raises(openai.BadRequestError) as refused:
            await ai.post("/chat/completions", body={"messages": ASK, param: value}, cast_to=object)
    assert (param if param != "tools" else "custom") in json.dumps(refused.value.body)
    assert host.bodies == []
