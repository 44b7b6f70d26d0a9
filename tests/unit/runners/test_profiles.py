"""Profiles, the environment of a runner, and what a user may choose."""

import asyncio
from pathlib import Path

import pytest

from agentscope_tui.errors import UsageError
from agentscope_tui.resources import configs_dir
from agentscope_tui.runners.environment import runner_environment
from agentscope_tui.runners.profile import load_profiles
from agentscope_tui.runners.source import RunnerChoice, RunnerSource, read_files
from agentscope_tui.wire.frames import Hello

SHIPPED = configs_dir() / "runners.yaml"


def test_the_stock_runner_is_known_by_its_hello() -> None:
    profiles = load_profiles(SHIPPED)
    name, profile = profiles.choose({"mode": "session", "pi_version": "0.80.3"})
    assert name == "pi"
    assert profile.patience is not None
    assert profile.patience < 300


def test_an_unknown_runner_waits_without_end() -> None:
    for hello in ({}, {"name": "mine"}):
        name, profile = load_profiles(SHIPPED).choose(hello)
        assert (name, profile.patience) == ("default", None)


def test_the_user_may_name_a_profile_or_a_patience() -> None:
    assert load_profiles(SHIPPED, named="pi").choose({})[0] == "pi"
    assert load_profiles(SHIPPED, patience=7.0).choose({"pi_version": "1"})[1].patience == 7.0
    with pytest.raises(UsageError, match=r"no runner profile 'po': known are default, pi"):
        load_profiles(SHIPPED, named="po")


@pytest.mark.parametrize("text", ["x: {patience: 0}", "x: {patient: 1}", "x: 5", "x: {hello: {a: 1}}"])
def test_a_bad_file_of_profiles_is_one_line(tmp_path: Path, text: str) -> None:
    file = tmp_path / "runners.yaml"
    file.write_text(text)
    with pytest.raises(UsageError, match=r"runners\.yaml: x"):
        load_profiles(file)


def test_no_credential_reaches_a_runner() -> None:
    hidden = {
        "OPENAI_API_KEY": "1",
        "ANTHROPIC_AUTH_TOKEN": "2",
        "AWS_SECRET_ACCESS_KEY": "3",
        "github_token": "4",
        "DB_PASSWORD": "5",
        "GOOGLE_APPLICATION_CREDENTIALS": "6",
        "INNOCENT": "has sk-123 in it",
    }
    kept = {"PATH": "/bin", "HOME": "/h", "NODE_PATH": "/n", "KEYBOARD": "de", "AUTHOR": "me", "PATTERN": "x"}
    assert runner_environment(hidden | kept, ["sk-123", ""]) == kept


@pytest.mark.parametrize(
    ("choice", "reason"),
    [
        (RunnerChoice(command="a", listen="127.0.0.1:0"), "--runner and --listen exclude each other"),
        (RunnerChoice(command="'a"), "no closing quotation"),
        (RunnerChoice(command=" "), "names no program"),
        (RunnerChoice(listen="here"), "HOST:PORT"),
        (RunnerChoice(connect="10.0.0.1:5"), "runner.remote"),
    ],
)
def test_what_cannot_be_chosen(choice: RunnerChoice, reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        RunnerSource(choice)


async def test_the_builtin_loop_is_a_runner_like_any_other() -> None:
    source = RunnerSource(RunnerChoice())
    await source.start()
    channel = source.channel(lambda stream, line: None)
    await channel.open()
    hello = await asyncio.wait_for(channel.receive(), 10)
    assert (source.name, hello) == ("builtin", Hello(name="builtin"))
    await channel.aclose()
    await source.aclose()


def test_files_for_the_runner(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "agent.ts").write_text("export {}")
    assert read_files(tmp_path) == {"src/agent.ts": "export {}"}
    (tmp_path / "picture").write_bytes(b"\xff\xd8")
    with pytest.raises(UsageError, match="no UTF-8 text"):
        read_files(tmp_path)
    with pytest.raises(UsageError, match="there is no folder"):
        read_files(tmp_path / "none")
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match="has no files"):
        read_files(tmp_path / "empty")
