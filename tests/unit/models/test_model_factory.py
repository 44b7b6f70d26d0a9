"""From a name to a model, or to one line that says what to do."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from agentscope_tui.errors import UsageError, UserError
from agentscope_tui.models.chat import ChatRequest
from agentscope_tui.models.factory import open_model
from fakes.raw_server import RawServer, says


@pytest.mark.parametrize("name", ["", "gpt-5", "openai", "openai:", "scripted:", ":x"])
def test_what_is_no_model(name: str) -> None:
    with pytest.raises(
        UsageError, match=r"use --model PROVIDER:NAME .* --model scripted:FILE or --model replay:SESSION"
    ):
        open_model(name)


def test_a_provider_that_nobody_knows() -> None:
    with pytest.raises(UsageError, match=r"no provider is called 'oracle': there are openai, anthropic, "):
        open_model("oracle:x")
    with pytest.raises(UsageError, match="did you mean openai"):
        open_model("openia:x")


def test_openai_needs_a_key() -> None:
    with pytest.raises(UserError, match=r"OpenAI needs a key: set MY_KEY, or .*--base-url"):
        open_model("openai:gpt-5", api_key_source="MY_KEY")


def test_a_bad_base_url() -> None:
    with pytest.raises(UserError, match="'localhost:8080' is not"):
        open_model("openai:m", base_url="localhost:8080")


def test_a_url_that_only_the_client_refuses() -> None:
    with pytest.raises(UserError, match=r"Invalid IPv4 address.*--base-url"):
        open_model("openai:m", base_url="http://1.2.3.999/v1")


async def test_a_proxy_that_cannot_be_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "gopher://proxy.test")
    with pytest.raises(UserError, match="ALL_PROXY"):
        open_model("openai:m", base_url="http://x.test")


async def test_only_openai_itself_gets_its_newer_name_for_the_limit() -> None:
    request = ChatRequest(messages=[{"role": "user", "content": "hi"}], max_output_tokens=5)
    async with RawServer([says("x")]) as server:
        for own in ({}, {"openai": {"base_url": server.base_url}}):
            base_url = None if own else server.base_url
            model = open_model("openai:m", base_url=base_url, providers=own, api_key="k")
            await model.complete(request, lambda piece: None)
            await model.aclose()
    names = ["max_tokens", "max_completion_tokens"]
    assert [[name for name in names if name in sent.json()] for sent in server.requests] == [
        [name] for name in names
    ]


async def test_models_are_named_as_the_user_named_them(tmp_path: Path) -> None:
    script = tmp_path / "s.yaml"
    script.write_text("scripts: [{replies: [{text: hi}]}]")
    for name, url in (("openai:a/b:free", "http://x.test"), (f"scripted:{script}", None)):
        model = open_model(name, base_url=url)
        assert model.name == name
        await model.aclose()


def test_importing_the_factory_is_cheap() -> None:
    code = (
        "import sys, agentscope_tui.models.factory;"
        "print([name for name in ('httpx', 'yaml', 'pydantic', 'textual') if name in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
