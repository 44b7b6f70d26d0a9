"""Providers by name: the built-in ones, the user's own, and in what models differ."""

from __future__ import annotations

from typing import Any

import pytest

from agentscope_tui.errors import UserError
from agentscope_tui.models.chat import ChatRequest
from agentscope_tui.models.factory import Asked, endpoint_of, open_model
from agentscope_tui.models.presets import find_preset, load_presets
from fakes.messages_api import replies
from fakes.raw_server import RawServer, plain, says

REQUEST = ChatRequest(
    messages=[{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hi"}],
    max_output_tokens=5,
    temperature=0.5,
)
KEYS = {"K": "key"}
ENVIRON = {"AZURE_OPENAI_RESOURCE": "res", "AZURE_AI_RESOURCE": "res", "AWS_REGION": "eu-west-1"}

URLS = {
    "openai": "https://api.openai.com/v1/chat/completions",
    "anthropic": "https://api.anthropic.com/v1/messages",
    "azure": "https://res.openai.azure.com/openai/v1/chat/completions",
    "azure-legacy": (
        "https://res.openai.azure.com/openai/deployments/my-gpt/chat/completions?api-version=2024-10-21"
    ),
    "azure-anthropic": "https://res.services.ai.azure.com/anthropic/v1/messages",
    "bedrock": "https://bedrock-runtime.eu-west-1.amazonaws.com/openai/v1/chat/completions",
    "bedrock-mantle": "https://bedrock-mantle.eu-west-1.api.aws/openai/v1/chat/completions",
    "bedrock-anthropic": "https://bedrock-mantle.eu-west-1.api.aws/anthropic/v1/messages",
    "gemini": "https://generativelanguage.googleapis.com/v1beta/openai/chat/completions",
    "openrouter": "https://openrouter.ai/api/v1/chat/completions",
    "groq": "https://api.groq.com/openai/v1/chat/completions",
    "together": "https://api.together.xyz/v1/chat/completions",
    "deepseek": "https://api.deepseek.com/v1/chat/completions",
    "mistral": "https://api.mistral.ai/v1/chat/completions",
    "ollama": "http://localhost:11434/v1/chat/completions",
    "vllm": "http://localhost:8000/v1/chat/completions",
    "llamacpp": "http://localhost:8080/v1/chat/completions",
    "lmstudio": "http://localhost:1234/v1/chat/completions",
}
LISTS = {
    "openai": "https://api.openai.com/v1/models",
    "anthropic": "https://api.anthropic.com/v1/models",
    "azure-legacy": "https://res.openai.azure.com/openai/models?api-version=2024-10-21",
    "bedrock-anthropic": "https://bedrock-mantle.eu-west-1.api.aws/anthropic/v1/models",
    "gemini": "https://generativelanguage.googleapis.com/v1beta/openai/models",
    "ollama": "http://localhost:11434/v1/models",
}
HEADERS = {
    "openai": "authorization",
    "anthropic": "x-api-key",
    "azure": "api-key",
    "azure-legacy": "api-key",
    "azure-anthropic": "x-api-key",
    "bedrock": "authorization",
    "bedrock-anthropic": "authorization",
}


def test_every_preset_is_tested() -> None:
    assert set(load_presets({})) == set(URLS)


@pytest.mark.parametrize(("name", "url"), URLS.items())
def test_where_presets_lead(name: str, url: str) -> None:
    asked = Asked(environ={**ENVIRON, find_preset(name, {}).api_key_env or "": "key"})
    endpoint, command = endpoint_of(find_preset(name, {}), "my-gpt", asked)
    assert endpoint.url == url
    assert command is None
    if name in HEADERS:
        assert "key" in endpoint.headers[HEADERS[name]]
    if name in LISTS:
        assert endpoint.models_url == LISTS[name]


@pytest.mark.parametrize("name", [name for name in URLS if find_preset(name, {}).key_needed])
def test_a_provider_without_its_key(name: str) -> None:
    variable = find_preset(name, {}).api_key_env
    with pytest.raises(UserError, match=rf"needs a key: set {variable}, or name another server"):
        open_model(f"{name}:m", environ=ENVIRON)


def test_a_variable_that_the_url_needs() -> None:
    with pytest.raises(UserError, match=r"azure needs the variable AZURE_OPENAI_RESOURCE: set it, or"):
        open_model("azure:m", environ={"AZURE_OPENAI_API_KEY": "k"})


def test_an_own_provider_needs_an_address() -> None:
    with pytest.raises(UserError, match=r"where is work\? .* providers\.work\.base_url"):
        open_model("work:m", providers={"work": {}})


async def body(name: str, entry: dict[str, Any] | None = None, **options: Any) -> dict[str, Any]:
    """What a model of a provider is sent, with its address changed to a fake one."""
    provider = name.partition(":")[0]
    anthropic = find_preset(provider, {provider: entry or {}}).wire == "anthropic"
    async with RawServer([replies("x") if anthropic else says("x")]) as server:
        own = {provider: {**(entry or {}), "base_url": server.base_url, "api_key_env": "K"}}
        model = open_model(name, providers=own, environ=KEYS, **options)
        await model.complete(REQUEST, lambda piece: None)
        await model.aclose()
    sent: dict[str, Any] = server.requests[0].json()
    return sent


async def test_an_ordinary_model_of_openai() -> None:
    sent = await body("openai:gpt-4.1")
    assert sent["max_completion_tokens"] == 5
    assert sent["temperature"] == 0.5
    assert sent["messages"][0]["role"] == "system"
    assert sent["stream_options"] == {"include_usage": True}


@pytest.mark.parametrize(
    "name", ["openai:gpt-5-mini", "openai:o3", "openai:o4-mini", "azure:o1", "openai:x/o3"]
)
async def test_a_reasoning_model_of_openai(name: str) -> None:
    sent = await body(name)
    assert sent["max_completion_tokens"] == 5
    assert "temperature" not in sent
    assert sent["messages"][0]["role"] == "developer"


async def test_a_chat_model_among_the_reasoning_models() -> None:
    sent = await body("openai:gpt-5-chat-latest")
    assert sent["temperature"] == 0.5
    assert sent["messages"][0]["role"] == "system"


async def test_flags_of_the_user_go_before_the_preset() -> None:
    entry = {"token_field": "max_tokens", "models": {"big-*": {"temperature": False}}}
    assert "temperature" not in await body("openai:big-1", entry)
    sent = await body("openai:gpt-5-mini", entry)
    assert sent["max_tokens"] == 5
    assert sent["temperature"] == 0.5


async def test_no_stream_options_where_the_preset_says_so() -> None:
    assert "stream_options" not in await body("mistral:m")


async def test_a_provider_of_the_user_on_the_other_wire() -> None:
    sent = await body("work:m", {"wire": "anthropic"})
    assert sent["max_tokens"] == 5
    assert sent["system"][0]["text"] == "Be brief."


async def test_more_fields_of_each_request() -> None:
    entry = {"params": {"reasoning_effort": "low", "seed": 1}}
    sent = await body("groq:m", entry, params={"seed": 2})
    assert (sent["reasoning_effort"], sent["seed"]) == ("low", 2)


REFUSALS = {
    "the limit's name": (
        "Unsupported parameter: 'max_tokens' is not supported with this model. "
        "Use 'max_completion_tokens' instead.",
        lambda sent: "max_completion_tokens" in sent and "max_tokens" not in sent,
    ),
    "the temperature": (
        "Unsupported value: 'temperature' does not support 0.5 with this model.",
        lambda sent: "temperature" not in sent,
    ),
    "the usage": ("unknown field stream_options", lambda sent: "stream_options" not in sent),
}


@pytest.mark.parametrize(("words", "is_mended"), REFUSALS.values(), ids=REFUSALS.keys())
async def test_what_a_server_refuses_is_left_out_from_then_on(words: str, is_mended: Any) -> None:
    refused = plain(400, {"error": {"message": words}})
    async with RawServer([refused, says("a"), says("b")]) as server:
        model = open_model("openai:my-deployment", base_url=server.base_url)
        for _ in "ab":
            await model.complete(REQUEST, lambda piece: None)
        await model.aclose()
    assert [bool(is_mended(request.json())) for request in server.requests] == [False, True, True]


async def test_a_server_that_refuses_everything_is_not_asked_for_ever() -> None:
    words = "max_tokens, max_completion_tokens, stream_options, temperature unsupported"
    async with RawServer([plain(400, {"error": {"message": words}})]) as server:
        model = open_model("openai:m", base_url=server.base_url)
        with pytest.raises(UserError, match="refused the request"):
            await model.complete(REQUEST, lambda piece: None)
        await model.aclose()
    assert len(server.requests) <= 4
