"""Keys that a command prints: run once, again when refused, never through a shell."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from agentscope_tui.errors import UserError
from agentscope_tui.models import key_command
from agentscope_tui.models.chat import ChatRequest, Completion, ModelError
from agentscope_tui.models.factory import open_model
from agentscope_tui.models.key_command import KeyCommand, shared_key_command
from fakes.raw_server import RawServer, plain, says
from waiting import wait_until

REQUEST = ChatRequest(messages=[{"role": "user", "content": "hi"}])


@pytest.fixture
def counter(tmp_path: Path) -> str:
    """A command line that prints `token-number-1`, then `token-number-2` ..."""
    script = tmp_path / "token.py"
    script.write_text(
        "import pathlib\n"
        f"runs = pathlib.Path({str(tmp_path / 'runs')!r})\n"
        "runs.write_text((runs.read_text() if runs.exists() else '') + 'x')\n"
        "print(f'token-number-{len(runs.read_text())}')\n"
    )
    return f"'{sys.executable}' '{script}'"


async def complete(server: RawServer, *times: int, **options: Any) -> list[Completion]:
    model = open_model("openai:m", base_url=server.base_url, retries=0, **options)
    try:
        return [await model.complete(REQUEST, lambda piece: None) for _ in times]
    finally:
        await model.aclose()


def keys_of(server: RawServer) -> list[str]:
    return [request.headers["authorization"] for request in server.requests]


async def test_the_key_is_printed_once(counter: str) -> None:
    async with RawServer([says("x")]) as server:
        await complete(server, 1, 2, api_key_command=counter)
        await complete(server, 1, api_key_command=counter)
    assert keys_of(server) == ["Bearer token-number-1"] * 3


async def test_a_refused_key_is_printed_anew_and_the_call_goes_on(counter: str) -> None:
    refused = plain(401, {"error": {"message": "expired"}})
    async with RawServer([says("a"), refused, says("b")]) as server:
        texts = [item.text for item in await complete(server, 1, 2, api_key_command=counter)]
    assert texts == ["a", "b"]
    assert keys_of(server) == ["Bearer token-number-1", "Bearer token-number-1", "Bearer token-number-2"]


async def test_a_key_refused_twice_is_told(counter: str) -> None:
    async with RawServer([plain(401, {"error": {"message": "no, token-number-2"}})]) as server:
        with pytest.raises(ModelError, match=r"refused the key from model\.api_key_command .*no, \*\*\*"):
            await complete(server, 1, api_key_command=counter)
    assert len(server.requests) == 2


async def test_sessions_that_ask_at_once_wait_for_one_run(counter: str) -> None:
    command = shared_key_command(counter, "here")
    old, *others = await asyncio.gather(*(command.key() for _ in range(4)))
    assert {key.value for key in (old, *others)} == {"token-number-1"}
    command.forget(old)
    new = await command.key()
    # Another session's call was refused with the old key, too.
    command.forget(old)
    assert (await command.key()) == new


async def test_a_command_of_a_preset(counter: str) -> None:
    async with RawServer([says("x")]) as server:
        own = {"work": {"base_url": server.base_url, "api_key_command": counter}}
        model = open_model("work:m", providers=own)
        await model.complete(REQUEST, lambda piece: None)
        await model.aclose()
    assert keys_of(server) == ["Bearer token-number-1"]


FAILURES = {
    "no-such-program-here": r"no-such-program-here, cannot be run \(No such file or directory\)",
    "false": r"false, ended with exit code 1: run it",
    "true": r"true, printed nothing",
    "sh -c 'echo first >&2; echo why >&2; exit 3'": r"sh, ended with exit code 3: why: run it",
    "printf 'a b'": r"has characters that no key has",
}


@pytest.mark.parametrize(("command", "words"), FAILURES.items())
async def test_commands_that_fail(command: str, words: str) -> None:
    async with RawServer([says("x")]) as server:
        with pytest.raises(ModelError, match=words) as caught:
            await complete(server, 1, api_key_command=command)
    assert caught.value.kind == "authentication"
    assert server.requests == []


async def test_there_is_no_shell() -> None:
    command = shared_key_command("echo $HOME;ls", "here")
    assert (await command.key()).value == "$HOME;ls"


async def test_a_command_that_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(key_command, "_TO_PRINT", 0.1)
    with pytest.raises(ModelError, match=r"sleep, printed no key within 0\.1 s"):
        await KeyCommand(["sleep", "60"], "here").key()


async def test_sessions_that_ask_at_once_are_told_of_one_failure(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    command = KeyCommand(["sh", "-c", f"echo x >> {runs}; sleep 0.2; exit 1"], "here")
    asked = await asyncio.gather(*(command.key() for _ in range(3)), return_exceptions=True)
    assert {str(failure) for failure in asked} == {
        "the command of here, sh, ended with exit code 1: run it in a terminal to see why"
    }
    assert runs.read_text() == "x\n"
    with pytest.raises(ModelError):
        await command.key()
    assert runs.read_text() == "x\n" * 2


@pytest.mark.parametrize("own_session", [False, True])
async def test_what_a_command_has_started_does_not_hold_up_its_end(tmp_path: Path, own_session: bool) -> None:
    started = tmp_path / "started"
    helper = f"{'setsid ' if own_session else ''}sh -c 'echo $$ > {started}; exec sleep 60'"
    command = KeyCommand(["sh", "-c", f"{helper} & wait"], "here")
    task = asyncio.create_task(command.key())
    await wait_until(lambda: started.exists() and started.read_text().endswith("\n"), "the command runs")
    task.cancel()
    _, late = await asyncio.wait([task], timeout=10)
    assert not late
    pid = int(started.read_text())
    if own_session:
        os.kill(pid, signal.SIGKILL)
    await wait_until(lambda: not Path(f"/proc/{pid}").exists(), "what it has started is gone")
    # The loop sees the end of the pipes.
    await asyncio.sleep(0.1)


async def test_a_command_is_ended_with_the_call(tmp_path: Path) -> None:
    started = tmp_path / "started"
    command = KeyCommand(["sh", "-c", f"echo $$ > {started}; exec sleep 60"], "here")
    task = asyncio.create_task(command.key())
    await wait_until(lambda: started.exists() and started.read_text().endswith("\n"), "the command runs")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    with pytest.raises(ProcessLookupError):
        os.kill(int(started.read_text()), 0)


@pytest.mark.parametrize("command", ["'", "  "])
def test_no_command_line(command: str) -> None:
    with pytest.raises(UserError, match=r"my\.setting is "):
        shared_key_command(command, "my.setting")
