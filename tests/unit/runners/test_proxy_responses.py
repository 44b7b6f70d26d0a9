"""OpenAI's Responses at the endpoint, with OpenAI's own client."""

from __future__ import annotations

from typing import Any

import openai
import pytest
from openai import AsyncOpenAI

from agentscope_tui.models.chat import Completion
from fakes.endpoint import FakeHost, endpoint
from fakes.engine import DEADLINE, says

TOOLS: Any = [{"type": "function", "name": "add", "parameters": {"type": "object"}, "strict": False}]


def client(host: FakeHost) -> AsyncOpenAI:
    return AsyncOpenAI(base_url=f"{host.url}/v1", api_key=host.token, timeout=DEADLINE, max_retries=2)


async def test_an_answer_and_what_was_asked() -> None:
    async with endpoint(says("hi")) as host, client(host) as ai:
        answer = await ai.responses.create(
            model="m",
            instructions="Be short.",
            input="hello",
            temperature=0.3,
            max_output_tokens=50,
            reasoning={"effort": "low"},
            text={"format": {"type": "json_schema", "name": "n", "schema": {"type": "object"}}},
        )
    assert (answer.output_text, answer.status) == ("hi", "completed")
    assert answer.usage is not None
    assert (answer.usage.input_tokens, answer.usage.total_tokens) == (10, 15)
    assert host.bodies == [
        {
            "model": "m",
            "temperature": 0.3,
            "messages": [{"role": "system", "content": "Be short."}, {"role": "user", "content": "hello"}],
            "max_completion_tokens": 50,
            "reasoning_effort": "low",
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "n", "schema": {"type": "object"}},
            },
        }
    ]


@pytest.mark.parametrize("streams", [False, True])
async def test_tools_there_and_back(streams: bool) -> None:
    async with endpoint(says("I add.", ("add", '{"a":1}')), says("2")) as host, client(host) as ai:
        asked: Any = [{"role": "user", "content": "add"}]
        if streams:
            async with ai.responses.stream(model="m", input=asked, tools=TOOLS) as stream:
                first: Any = await stream.get_final_response()
        else:
            first = await ai.responses.create(model="m", input=asked, tools=TOOLS)
        result = {"type": "function_call_output", "call_id": "c1", "output": "2"}
        await ai.responses.create(model="m", input=[*asked, *first.output, result], tools=TOOLS)
    assert [item.type for item in first.output] == ["message", "function_call"]
    assert first.output_text == "I add."
    function = {"name": "add", "parameters": {"type": "object"}, "strict": False}
    assert host.bodies[0]["tools"] == [{"type": "function", "function": function}]
    call = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a":1}'}}
    assert host.bodies[1]["messages"] == [
        {"role": "user", "content": "add"},
        {"role": "assistant", "content": "I add.", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "2"},
    ]


async def test_what_the_provider_needs_back_is_hidden_in_an_item() -> None:
    completion = Completion(
        reasoning="hm",
        reasoning_field="reasoning_content",
        tool_calls=says("", ("add", "{}")).tool_calls,
        finish_reason="tool_calls",
        extra={"signature": "s1"},
    )
    async with endpoint(completion, says("done")) as host, client(host) as ai:
        async with ai.responses.stream(model="m", input="go") as stream:
            first: Any = await stream.get_final_response()
        result = {"type": "function_call_output", "call_id": "c1", "output": "2"}
        await ai.responses.create(model="m", input=[*first.output, result])
    assert first.output[0].summary[0].text == "hm"
    message = host.bodies[1]["messages"][0]
    assert (message["reasoning_content"], message["signature"]) == ("hm", "s1")


async def test_the_thoughts_of_a_last_answer_are_told_and_not_sent_back() -> None:
    completion = says("4").model_copy(update={"reasoning": "hm"})
    async with endpoint(completion, says("done")) as host, client(host) as ai:
        first = await ai.responses.create(model="m", input="go")
        await ai.responses.create(model="m", input=[*first.output])  # type: ignore[arg-type]
    assert [item.type for item in first.output] == ["reasoning", "message"]
    assert first.output[0].summary[0].text == "hm"  # type: ignore[union-attr]
    assert host.bodies[1]["messages"] == [{"role": "assistant", "content": "4"}]


async def test_an_answer_at_the_output_limit_is_incomplete() -> None:
    async with endpoint(says("half", finish="length")) as host, client(host) as ai:
        answer = await ai.responses.create(model="m", input="go")
    assert answer.status == "incomplete"
    assert answer.incomplete_details is not None
    assert answer.incomplete_details.reason == "max_output_tokens"


async def test_an_error_is_not_asked_again() -> None:
    async with endpoint("interrupted", says("again")) as host, client(host) as ai:
        with pytest.raises(openai.BadRequestError, match="interrupted"):
            await ai.responses.create(model="m", input="go")
    assert len(host.bodies) == 1


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"previous_response_id": "resp_1"}, "previous_response_id"),
        ({"conversation": "conv_1"}, "conversation"),
        ({"background": True}, "background"),
        ({"truncation": "auto"}, "truncation"),
        ({"new_parameter": 1}, "new_parameter"),
        ({"tools": [{"type": "web_search"}]}, "web_search"),
        ({"input": [{"type": "item_reference", "id": "x"}]}, "item_reference"),
        ({"input": [{"role": "user", "content": [{"type": "input_file", "file_id": "f"}]}]}, "input_file"),
    ],
)
async def test_what_cannot_be_passed_on_is_refused_by_name(fields: dict[str, Any], named: str) -> None:
    async with endpoint(says("no")) as host, client(host) as ai:
        with pytest.raises(openai.BadRequestError, match=named):
            await ai.post("/responses", body={"model": "m", "input": "go", **fields}, cast_to=object)
    assert host.bodies == []
