"""The model that the agent asks for: which one each call goes to."""

from __future__ import annotations

from typing import Any

import pytest

from agentscope_tui.errors import UserError
from agentscope_tui.models.anthropic import AnthropicDialect
from agentscope_tui.models.asked import AskedModel, follows_agent
from agentscope_tui.models.chat import ChatRequest, Model, ModelError
from agentscope_tui.models.openai import OpenAIDialect
from fakes.engine import FakeModel, says

HELLO = [{"role": "user", "content": "hello"}]


def asks(model: str, api: Any = "openai", **params: Any) -> ChatRequest:
    return ChatRequest(messages=HELLO, asked_model=model, api=api, params=params)


class Opened(dict[str, FakeModel]):
    """Opens fakes by name, and keeps them."""

    def __call__(self, name: str) -> Model:
        if "unknown" in name:
            raise UserError(f"no model {name}")
        self[name] = FakeModel(says(f"from {name}"), says("again"))
        return self[name]


@pytest.mark.parametrize(
    ("name", "request_", "goes_to"),
    [
        ("agent", asks("gpt-x"), "openai:gpt-x"),
        ("agent", asks("claude-x", "anthropic"), "anthropic:claude-x"),
        ("openrouter:*", asks("claude-x", "anthropic"), "openrouter:claude-x"),
    ],
)
async def test_a_call_goes_to_the_model_it_names(name: str, request_: ChatRequest, goes_to: str) -> None:
    opened = Opened()
    model = AskedModel(name, opened)
    assert (await model.complete(request_, lambda delta: None)).text == f"from {goes_to}"


async def test_a_model_is_opened_once_and_closed_with_the_session() -> None:
    opened = Opened()
    model = AskedModel("agent", opened)
    await model.complete(asks("a"), lambda delta: None)
    await model.complete(asks("a"), lambda delta: None)
    assert len(opened["openai:a"].requests) == 2
    await model.aclose()
    assert opened["openai:a"].closed


@pytest.mark.parametrize(
    ("asked", "reason"), [("", "the agent names no model"), ("unknown", "no model openai:unknown")]
)
async def test_a_call_that_can_go_nowhere_fails(asked: str, reason: str) -> None:
    with pytest.raises(ModelError, match=reason):
        await AskedModel("agent", Opened()).complete(asks(asked), lambda delta: None)


def test_which_names_leave_the_choice_to_the_agent() -> None:
    names = ["agent", "openai:*", "openai:agent", "scripted:*.yaml"]
    assert [follows_agent(name) for name in names] == [True, True, False, False]


def test_no_limit_stays_no_limit_where_the_api_needs_none() -> None:
    free = ChatRequest(messages=HELLO, max_output_tokens=None)
    assert OpenAIDialect("m").body(free).keys() & {"max_tokens", "max_completion_tokens"} == set()
    assert AnthropicDialect("m").body(free)["max_tokens"] == 8192


def test_who_asks_has_another_name_for_another_api() -> None:
    metadata = {"user_id": "u1"}
    assert OpenAIDialect("m").body(asks("m", "anthropic", metadata=metadata))["user"] == "u1"
    assert "metadata" not in OpenAIDialect("m").body(asks("m", "anthropic", metadata=metadata))
    assert AnthropicDialect("m").body(asks("m", "anthropic", metadata=metadata))["metadata"] == metadata


@pytest.mark.parametrize("name", ["response_format", "logit_bias", "prediction", "web_search_options"])
def test_what_anthropic_has_no_counterpart_for_is_refused_by_name(name: str) -> None:
    with pytest.raises(ModelError, match=name):
        AnthropicDialect("m").body(asks("m", **{name: {"type": "json_object"}}))
    assert AnthropicDialect("m").body(asks("m", response_format={"type": "text"}))["model"] == "m"
