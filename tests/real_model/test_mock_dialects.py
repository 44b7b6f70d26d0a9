"""Dialects and faults that the real server lacks, on the npm mock of many providers."""

from __future__ import annotations

import asyncio
import json

import pytest

import mock_rig
from agentscope_tui.models.chat import ChatRequest, Completion, Delta, ModelError, RetryNotice
from agentscope_tui.models.factory import open_model

DEADLINE = 30.0
PATHS = {
    "openai:gpt-4o": "/v1",
    "anthropic:claude-sonnet-4-5": "",
    "azure:gpt-4o": "/openai/v1",
    "azure-legacy:gpt-4o": "/openai/deployments/gpt-4o?api-version=2024-10-21",
    "gemini:gemini-2.5-flash": "/v1beta/openai",
    "openrouter:deepseek/deepseek-r1": "/api/v1",
}
WIRES = ("openai:gpt-4o", "anthropic:claude-sonnet-4-5")


async def ask(
    address: str, name: str, text: str, *, retries: int = 0, on_retry: list[RetryNotice] | None = None
) -> tuple[Completion, list[Delta]]:
    model = open_model(name, base_url=address + PATHS[name], api_key="mock-key", retries=retries)
    deltas: list[Delta] = []
    notices = [] if on_retry is None else on_retry
    request = ChatRequest(messages=[{"role": "user", "content": text}], temperature=0.5)
    try:
        call = model.complete(request, deltas.append, on_retry=notices.append)
        return await asyncio.wait_for(call, DEADLINE), deltas
    finally:
        await model.aclose()


@pytest.mark.parametrize("name", PATHS)
async def test_text(mock_server: str, name: str) -> None:
    completion, deltas = await ask(mock_server, name, "say hello")
    assert completion.text == "Hello! How can I help you today?"
    assert len(deltas) > 5
    assert completion.finish_reason == "stop"


@pytest.mark.parametrize("name", PATHS)
async def test_parallel_tool_calls(mock_server: str, name: str) -> None:
    completion, deltas = await ask(mock_server, name, "call two tools")
    assert completion.text == "I look."
    calls = [(part.function.name, json.loads(part.function.arguments)) for part in completion.tool_calls]
    assert calls == [("read_file", {"path": "ä.txt"}), ("list_files", {"path": "."})]
    assert len({part.id for part in completion.tool_calls}) == 2
    assert completion.finish_reason == "tool_calls"
    assert sum(len(delta.tool_calls) for delta in deltas) > 4


@pytest.mark.parametrize("name", PATHS)
async def test_reasoning(mock_server: str, name: str) -> None:
    completion, _ = await ask(mock_server, name, "think about it")
    assert completion.reasoning == "First I think about it."
    assert completion.text == "The answer is 42."


@pytest.mark.parametrize("name", PATHS)
async def test_an_overflow(mock_server: str, name: str) -> None:
    with pytest.raises(ModelError, match=r"\(5000 of at most 4096 tokens\)") as caught:
        await ask(mock_server, name, "too much")
    assert caught.value.kind == "context_overflow"


@pytest.mark.parametrize("name", WIRES)
async def test_a_rate_limit_is_waited_for_and_told(mock_server: str, name: str) -> None:
    notices: list[RetryNotice] = []
    with mock_rig.chaos(mock_server, rateLimitRate=1), pytest.raises(ModelError) as caught:
        await ask(mock_server, name, "say hello", retries=1, on_retry=notices)
    assert caught.value.kind == "rate_limit"
    (notice,) = notices
    assert notice.seconds >= 1


FAULTS = [("disconnectRate", "connection"), ("malformedRate", "malformed"), ("dropRate", "server")]


@pytest.mark.parametrize(("fault", "kind"), FAULTS)
@pytest.mark.parametrize("name", WIRES)
async def test_faults(mock_server: str, name: str, fault: str, kind: str) -> None:
    with mock_rig.chaos(mock_server, **{fault: 1}), pytest.raises(ModelError) as caught:
        await ask(mock_server, name, "say hello")
    assert caught.value.kind == kind
