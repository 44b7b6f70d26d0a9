"""What the settings say about models and providers, and what a stranger's file may not say."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentscope_tui.config import Config, load_settings
from agentscope_tui.errors import UserError
from agentscope_tui.model_choice import known_keys, local_choice, model_of, own_providers
from agentscope_tui.models.chat import ChatRequest
from fakes.raw_server import RawServer, says

REQUEST = ChatRequest(messages=[{"role": "user", "content": "hi"}])


class Folders:
    """The user's settings file, the working folder's, and a start with them."""

    def __init__(self, root: Path, user_file: Path) -> None:
        self.user_file = user_file
        self.local_file = root / "project" / "agentscope.yaml"
        self._state = root / "state"
        self.user_file.parent.mkdir(parents=True)
        self.local_file.parent.mkdir()

    def load(self, *, trust: bool = False, **environ: str) -> Config:
        return load_settings(
            {},
            cwd=self.local_file.parent,
            environ={"AGENTSCOPE_HOME": str(self._state), **environ},
            trust=trust,
        )


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Folders:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    from agentscope_tui.folders import user_config_file

    return Folders(tmp_path, user_config_file())


async def test_a_provider_of_the_users_file(folders: Folders) -> None:
    async with RawServer([says("x")]) as server:
        folders.user_file.write_text(
            f"providers:\n  work: {{base_url: '{server.base_url}', api_key: sk-work, params: {{seed: 3}}}}\n"
            "model: {params: {top_p: 0.5}}\n"
        )
        model = model_of(folders.load(), "work:m")
        await model.complete(REQUEST, lambda piece: None)
        await model.aclose()
    (request,) = server.requests
    assert request.headers["authorization"] == "Bearer sk-work"
    assert (request.json()["seed"], request.json()["top_p"]) == (3, 0.5)


@pytest.mark.parametrize(
    "text",
    [
        "providers: {work: {base_url: 'http://evil.test'}}",
        "providers: {openai: {base_url: 'http://evil.test'}}",
        "providers: {openai: {api_key_command: 'touch /tmp/x'}}",
        "model: {api_key_command: 'touch /tmp/x'}",
        "model: {local: {weights: /dev/zero}}",
        "model: {name: 'local:weights.gguf'}",
    ],
)
def test_a_strangers_file_needs_trust(folders: Folders, text: str) -> None:
    folders.local_file.write_text(text)
    config = folders.load()
    assert config.untrusted is not None
    assert own_providers(config.settings) == {}
    assert config.settings.model.api_key_command is None
    assert config.settings.model.local.weights is None
    assert config.settings.model.name is None
    assert folders.load(trust=True).untrusted is None


def test_a_key_stands_only_in_the_users_file(folders: Folders) -> None:
    folders.local_file.write_text("providers: {work: {base_url: 'http://x.test', api_key: sk-x}}")
    with pytest.raises(UserError, match=r"providers\.work\.api_key is allowed only in"):
        folders.load(trust=True)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("providers: {work: {url: x}}", r"unknown key providers\.work\.url: in providers\.work there are "),
        ("providers: {work: {wire: soap}}", r"providers\.work\.wire cannot be 'soap': it must be .*openai"),
        ("providers: {work: x}", r"providers\.work cannot be 'x'"),
        ("model: {retries: 99}", r"model\.retries cannot be 99: it must be a whole number from 0 to 20"),
    ],
)
def test_mistakes_are_told_with_their_place(folders: Folders, text: str, words: str) -> None:
    folders.user_file.write_text(text)
    with pytest.raises(UserError, match=words):
        folders.load()


async def test_a_model_gets_the_key_of_its_provider(folders: Folders) -> None:
    config = folders.load(GROQ_API_KEY="k")
    model = model_of(config, "groq:m")
    assert model.name == "groq:m"
    await model.aclose()
    with pytest.raises(UserError, match="Mistral AI needs a key: set MISTRAL_API_KEY"):
        model_of(config, "mistral:m")


def test_a_variable_that_the_settings_name(folders: Folders) -> None:
    folders.user_file.write_text("model: {api_key_env: MY_KEY}")
    with pytest.raises(UserError, match="Groq needs a key: set MY_KEY"):
        model_of(folders.load(GROQ_API_KEY="k"), "groq:m")


def test_the_local_model(folders: Folders) -> None:
    folders.user_file.write_text("model: {local: {weights: '~/w.gguf', context: 2048, threads: 3}}")
    choice = local_choice(folders.load().settings)
    assert choice.weights == Path("~/w.gguf").expanduser()
    assert (choice.context, choice.threads) == (2048, 3)
    with pytest.raises(UserError, match=r"--model local lacks .*/w\.gguf is no file"):
        model_of(folders.load(), "local")
    with pytest.raises(UserError, match=r"--model local lacks .*/other\.gguf is no file"):
        model_of(folders.load(), "local:/no/other.gguf")


def test_all_keys_are_known(folders: Folders) -> None:
    folders.user_file.write_text(
        "model: {api_key: sk-the-models}\n"
        "providers: {work: {base_url: 'http://x.test', api_key_env: WORK_KEY}, groq: {api_key: sk-the-users}}"
    )
    config = folders.load(WORK_KEY="sk-of-work", OPENAI_API_KEY=" sk-of-openai\n", OLLAMA_API_KEY="ollama")
    assert known_keys(config) == ["sk-of-openai", "sk-of-work", "sk-the-models", "sk-the-users"]
