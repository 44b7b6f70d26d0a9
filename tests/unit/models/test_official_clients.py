"""The official clients and ours read the same recorded bytes to the same completion."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentscope_tui.models.anthropic_blocks import conversation
from agentscope_tui.models.chat import ChatRequest, Completion
from agentscope_tui.models.factory import open_model
from fakes.raw_server import STREAM, Answer, RawServer

STREAMS = Path(__file__).parent / "streams"
REQUEST = ChatRequest(messages=[{"role": "user", "content": "hi"}], max_output_tokens=100)
ANTHROPIC_REASONS = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "refusal": "content_filter",
}


def recorded(wire: str) -> list[str]:
    return sorted(file.name for file in STREAMS.glob(f"{wire}-*.sse"))


def answer(name: str, size: int) -> Answer:
    """The recorded bytes, `size` at a time."""
    data = (STREAMS / name).read_bytes()
    return [STREAM, *(data[place : place + size] for place in range(0, len(data), size))]


async def ours(server: RawServer, name: str) -> Completion:
    model = open_model(f"{name}:m", base_url=server.base_url, api_key="k")
    try:
        return await model.complete(REQUEST, lambda piece: None)
    finally:
        await model.aclose()


SIZES = [997, 61]
"""Bytes of a chunk: whole events, and events and characters in pieces."""


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", recorded("openai"))
async def test_chat_completions(name: str, size: int) -> None:
    openai = pytest.importorskip("openai")
    async with RawServer([answer(name, size)]) as server:
        client = openai.AsyncOpenAI(base_url=server.base_url, api_key="k", max_retries=0)
        stream = await client.chat.completions.create(
            model="m", messages=[{"role": "user", "content": "hi"}], stream=True
        )
        from openai.lib.streaming.chat import ChatCompletionStreamState

        state = ChatCompletionStreamState()
        async for chunk in stream:
            state.handle_chunk(chunk)
        theirs = state.current_completion_snapshot
        await client.close()
        completion = await ours(server, "openai")
    choice = theirs.choices[0]
    calls = [
        (call.id, call.function.name, call.function.arguments) for call in choice.message.tool_calls or []
    ]
    assert completion.text == (choice.message.content or "")
    assert calls_of(completion) == calls
    assert completion.finish_reason == choice.finish_reason
    assert completion.model == theirs.model
    usage = completion.usage
    assert usage.input_tokens == theirs.usage.prompt_tokens
    assert usage.output_tokens == theirs.usage.completion_tokens
    assert usage.cached_tokens == theirs.usage.prompt_tokens_details.cached_tokens
    assert usage.reasoning_tokens == theirs.usage.completion_tokens_details.reasoning_tokens


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", recorded("anthropic"))
async def test_messages(name: str, size: int) -> None:
    anthropic = pytest.importorskip("anthropic")
    async with RawServer([answer(name, size)]) as server:
        root = server.base_url.removesuffix("/v1")
        client = anthropic.AsyncAnthropic(base_url=root, api_key="k", max_retries=0)
        async with client.messages.stream(
            model="m", max_tokens=100, messages=[{"role": "user", "content": "hi"}]
        ) as stream:
            theirs = await stream.get_final_message()
        await client.close()
        completion = await ours(server, "anthropic")
    blocks: list[dict[str, Any]] = [block.to_dict() for block in theirs.content]
    assert completion.text == "".join(block["text"] for block in blocks if block["type"] == "text")
    assert completion.reasoning == "".join(block.get("thinking", "") for block in blocks)
    calls = [(block["id"], block["name"], block["input"]) for block in blocks if block["type"] == "tool_use"]
    ours_parsed = [
        (call_id, call_name, json.loads(text or "{}")) for call_id, call_name, text in calls_of(completion)
    ]
    assert ours_parsed == calls
    assert completion.finish_reason == ANTHROPIC_REASONS[theirs.stop_reason]
    assert completion.model == theirs.model
    usage = theirs.usage
    cached, written = usage.cache_read_input_tokens or 0, usage.cache_creation_input_tokens or 0
    assert completion.usage.input_tokens == usage.input_tokens + cached + written
    assert completion.usage.output_tokens == usage.output_tokens
    assert completion.usage.cached_tokens == cached
    # What goes back is what the official client would send back.
    _, (turn,) = conversation([completion.message()])
    assert turn["content"] == blocks


def calls_of(completion: Completion) -> list[tuple[str, str, str]]:
    return [(part.id, part.function.name, part.function.arguments) for part in completion.tool_calls]
