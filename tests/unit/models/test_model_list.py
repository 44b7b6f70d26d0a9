"""`agentscope models`: what it lists, and what it says of servers that answer or do not."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentscope_tui.cli import main
from agentscope_tui.models.presets import load_presets
from fakes.raw_server import Answer, HangUp, RawServer, Wait, plain
from fakes.threaded import in_thread

KEY = "sk-very-secret"


@pytest.fixture(autouse=True)
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's settings file; no key of this machine is seen."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("AGENTSCOPE_HOME", str(tmp_path / "state"))
    for preset in load_presets({}).values():
        monkeypatch.delenv(preset.api_key_env or "", raising=False)
    monkeypatch.chdir(tmp_path)
    from agentscope_tui.folders import user_config_file

    file = user_config_file()
    file.parent.mkdir(parents=True)
    return file


def lines_of(capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    assert main(["models", *words]) == 0
    return capsys.readouterr().out.splitlines()


def test_presets_are_listed(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROQ_API_KEY", KEY)
    lines = lines_of(capsys)
    assert lines[0].split() == ["PROVIDER", "WIRE", "KEY", "ADDRESS"]
    rows = {line.split()[0]: line for line in lines[1:] if line}
    assert "GROQ_API_KEY: set " in rows["groq"]
    assert "MISTRAL_API_KEY: not set " in rows["mistral"]
    assert "OLLAMA_API_KEY: not set (not needed)" in rows["ollama"]
    assert "anthropic" in rows["anthropic"].split()[1]
    assert "local:" in rows
    assert set(load_presets({})) <= set(rows)
    assert KEY not in "".join(lines)


def test_a_provider_that_there_is_not(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "oracle"]) == 2
    assert "no provider is called 'oracle': there are openai, " in capsys.readouterr().err


CHECKS: dict[str, tuple[Answer, str]] = {
    "models": (plain(200, {"data": [{"id": "a"}, {"id": "models/b"}]}), "serves a, b"),
    "a bare list": (plain(200, [{"id": "a"}]), "serves a"),
    "no models": (plain(200, {"data": []}), "answers, and lists no models"),
    "a wrong key": (
        plain(401, {"error": {"message": f"bad key {KEY}"}}),
        "error: 127.0.0.1:",
    ),
    "a wrong address": (plain(404, "nothing here"), "check --base-url: nothing here"),
    "a page": (plain(200, "<html>"), "answered without JSON"),
    "nobody": ([HangUp()], "no answer: "),
    "a redirect": (plain(307, "", "Location: http://elsewhere"), "sends the request on to http://elsewhere"),
}


@pytest.mark.parametrize(("answer", "words"), CHECKS.values(), ids=CHECKS.keys())
def test_a_server_is_asked(
    answer: Answer, words: str, settings: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with in_thread(RawServer([answer])) as server:
        settings.write_text(f"providers: {{work: {{base_url: '{server.base_url}', api_key: {KEY}}}}}")
        lines = lines_of(capsys, "work", "--check")
    assert server.requests[0].method == "GET"
    assert server.requests[0].target == "/v1/models"
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert "providers.work.api_key: set" in lines[1]
    assert words in lines[2]
    assert KEY not in "".join(lines)


def test_a_server_that_is_silent(
    settings: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agentscope_tui.model_list._TO_ANSWER", 0.2)
    with in_thread(RawServer([[Wait()]])) as server:
        settings.write_text(f"providers: {{work: {{base_url: '{server.base_url}'}}}}")
        lines = lines_of(capsys, "work", "--check")
    assert "no answer: no answer within 0.2 s" in lines[2]


def test_many_models_are_cut_only_in_the_whole_list(
    settings: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    many = plain(200, {"data": [{"id": f"m{number}"} for number in range(9)]})
    with in_thread(RawServer([many])) as server:
        local = ", ".join(
            f"{name}: {{base_url: '{server.base_url}'}}"
            for name in ("ollama", "vllm", "llamacpp", "lmstudio")
        )
        settings.write_text(f"providers: {{{local}}}")
        whole = lines_of(capsys, "--check")
        one = lines_of(capsys, "ollama", "--check")
    assert whole.count("  serves m0, m1, m2, m3, m4 and 4 more") == 4
    assert "m8" in one[2]
    assert "  not asked: no key" in whole


def test_a_key_from_a_command(settings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with in_thread(RawServer([plain(200, {"data": [{"id": "a"}]})])) as server:
        settings.write_text(
            f"providers: {{work: {{base_url: '{server.base_url}', api_key_command: 'echo from-command'}}}}"
        )
        lines = lines_of(capsys, "work", "--check")
    assert "from its command" in lines[1]
    assert "serves a" in lines[2]
    assert server.requests[0].headers["authorization"] == "Bearer from-command"


def test_what_the_local_model_lacks(settings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings.write_text("model: {local: {weights: /no/such.gguf}}")
    lines = lines_of(capsys, "local", "--check")
    assert "local: not ready" in lines
    assert (
        "  missing is the weights: /no/such.gguf is no file (model.local.weights, or local:WEIGHTS)" in lines
    )
