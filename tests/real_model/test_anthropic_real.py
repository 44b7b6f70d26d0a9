"""The Messages client on a real llama.cpp server with real weights."""

from __future__ import annotations

import asyncio
import json

import pytest

import rig
from agentscope_tui.models.chat import ChatRequest, Completion, Delta, Model, ModelError
from agentscope_tui.models.factory import open_model

pytestmark = pytest.mark.real_model

DEADLINE = 60.0
WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather in a city",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
        },
    },
}


def at(base_url: str) -> Model:
    return open_model("anthropic:local", base_url=base_url, api_key="any")


async def ask(base_url: str, request: ChatRequest) -> tuple[Completion, list[Delta]]:
    model = at(base_url)
    deltas: list[Delta] = []
    try:
        return await asyncio.wait_for(model.complete(request, deltas.append), DEADLINE), deltas
    finally:
        await model.aclose()


async def test_text_streams(llama_server: str) -> None:
    request = ChatRequest(
        messages=[
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "What is the capital of France?"},
        ],
        max_output_tokens=40,
        temperature=0.0,
    )
    completion, deltas = await ask(llama_server, request)
    assert len(deltas) > 1
    assert "".join(delta.text for delta in deltas) == completion.text
    assert "Paris" in completion.text
    assert completion.finish_reason in ("stop", "length")
    assert completion.usage.input_tokens > 5
    assert completion.usage.output_tokens >= len(deltas) - 1
    assert not completion.usage.partial


async def test_a_tool_call_and_its_result(llama_server: str) -> None:
    task = {"role": "user", "content": "What is the weather in Paris?"}
    request = ChatRequest(messages=[task], tools=[WEATHER], max_output_tokens=100, temperature=0.0)
    completion, deltas = await ask(llama_server, request)
    assert completion.finish_reason == "tool_calls"
    (call,) = completion.tool_calls
    assert call.function.name == "get_weather"
    assert "Paris" in json.loads(call.function.arguments)["city"]
    pieces = [piece for delta in deltas for piece in delta.tool_calls]
    assert len(pieces) > 2
    assert "".join(piece.arguments for piece in pieces) == call.function.arguments

    result = {"role": "tool", "tool_call_id": call.id, "content": "sunny, 21 degrees"}
    history = [task, completion.message(), result]
    again = request.model_copy(update={"messages": history, "max_output_tokens": 20})
    answer, _ = await ask(llama_server, again)
    assert answer.text
    assert not answer.tool_calls


async def test_a_call_cancelled_twice_leaves_the_server_idle(llama_server: str) -> None:
    story = ChatRequest(
        messages=[{"role": "user", "content": "Tell a very long story about a cat."}], max_output_tokens=4000
    )
    model = at(llama_server)
    streaming = asyncio.Event()
    task = asyncio.create_task(model.complete(story, lambda delta: streaming.set()))
    await asyncio.wait_for(streaming.wait(), DEADLINE)
    for _ in range(2):
        task.cancel()
        await asyncio.sleep(0)
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.to_thread(rig.wait_until_idle, llama_server)
    await model.aclose()


async def test_a_conversation_that_is_too_long(llama_server: str) -> None:
    request = ChatRequest(messages=[{"role": "user", "content": "word " * 20_000}], max_output_tokens=5)
    with pytest.raises(ModelError) as caught:
        await ask(llama_server, request)
    assert caught.value.kind == "context_overflow"
    assert " of at most 8192 tokens)" in str(caught.value)
