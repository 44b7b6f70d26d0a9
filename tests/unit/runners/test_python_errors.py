"""Errors in the code of a Python agent: told with a traceback of that code only, and the session lives on."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from agentscope_tui.errors import UsageError
from agentscope_tui.events import ErrorOccurred
from agentscope_tui.models.chat import ModelError
from agentscope_tui.runners.python import agent_command
from agentscope_tui.runners.python_agent.load import load_agent
from agentscope_tui.runners.python_agent.replies import AgentError
from fakes.engine import FakeModel, says
from fakes.python_agents import agent_rig

FAULTS = {
    "exception": (
        "def check(x):\n    raise KeyError(x)\n\nasync def run(ctx):\n    check('boom')\n",
        "KeyError: 'boom' (agent.py:2)",
        ['File "agent.py", line 5, in run', 'File "agent.py", line 2, in check', "KeyError: 'boom'"],
    ),
    "cause": (
        "def run(ctx):\n    try:\n        1 / 0\n"
        "    except Exception as error:\n        raise ValueError from error\n",
        "ValueError (agent.py:5)",
        ["line 3, in run", "ZeroDivisionError: division by zero", "direct cause", "line 5, in run"],
    ),
    "syntax": (
        "def run(ctx:\n    pass\n",
        "SyntaxError: '(' was never closed (agent.py:1)",
        ['File "agent.py", line 1', "def run(ctx:", "SyntaxError"],
    ),
    "import": (
        "import nowhere_to_be_found\n",
        "ModuleNotFoundError: No module named 'nowhere_to_be_found' (agent.py:1)",
        ['File "agent.py", line 1, in <module>', "import nowhere_to_be_found"],
    ),
    "exit": (
        "import sys\n\ndef run(ctx):\n    sys.exit(3)\n",
        "the agent called sys.exit(3)",
        ["line 4, in run"],
    ),
    "cancelled": (
        "import asyncio\n\nasync def run(ctx):\n    raise asyncio.CancelledError('mine')\n",
        "asyncio.exceptions.CancelledError: mine (agent.py:4)",
        ["line 4, in run"],
    ),
}


@pytest.mark.parametrize(("source", "message", "parts"), FAULTS.values(), ids=FAULTS)
async def test_an_error_fails_the_turn_with_a_traceback_of_the_users_code(
    source: str, message: str, parts: list[str], tmp_path: Path
) -> None:
    async with agent_rig(tmp_path, source, FakeModel()) as rig:
        await rig.run()
        [error] = rig.of(ErrorOccurred)
        assert (error.source, error.message) == ("agent", message)
        for part in parts:
            assert part in error.detail
        assert "python_agent" not in error.detail
        assert "importlib" not in error.detail
        assert rig.outcomes() == ["failed"]
        assert rig.session.status == "idle"


NAMES = {
    "nothere:run": "no module nothere in ",
    "named:walk": "named has no walk; it has run, Helper",
    "named:NUMBER": "named:NUMBER is no agent: it is neither a function nor has it a method `run`",
    "other.py:run": "no file other.py in ",
}


@pytest.mark.parametrize("name", NAMES)
def test_a_wrong_name_is_told_in_one_line(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "named.py").write_text("NUMBER = 5\n\ndef run(ctx):\n    pass\n\nclass Helper:\n    pass\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(AgentError) as caught:
        load_agent(name)
    assert str(caught.value).startswith(NAMES[name])


async def test_a_wrong_name_needs_no_traceback(tmp_path: Path) -> None:
    async with agent_rig(tmp_path, "", FakeModel()) as rig:
        await rig.run()
        [error] = rig.of(ErrorOccurred)
        assert (error.message, error.detail) == ("agent has no run", "")


async def test_a_failed_model_call_is_an_exception_that_the_agent_may_catch(tmp_path: Path) -> None:
    source = """
        async def run(ctx):
            try:
                await ctx.chat()
            except RuntimeError as error:
                return f"{type(error).__name__}: {error}; {(await ctx.chat()).content}"
    """
    model = FakeModel(ModelError("no credit"), says("better"))
    async with agent_rig(tmp_path, source, model, patient=False) as rig:
        await rig.run()
        assert rig.has("submit", answer="ModelCallError: no credit; better")
        assert rig.outcomes() == ["completed"]


async def test_a_failed_model_call_that_nobody_catches_is_told_once(tmp_path: Path) -> None:
    source = "def run(ctx):\n    ctx.chat()\n"
    async with agent_rig(tmp_path, source, FakeModel(ModelError("no credit")), patient=False) as rig:
        await rig.run()
        assert rig.outcomes() == ["failed"]
        assert [error.message for error in rig.of(ErrorOccurred)] == ["no credit"]


async def test_what_is_no_message_is_refused_in_the_agent(tmp_path: Path) -> None:
    source = """
        async def run(ctx):
            said = []
            for wrong in ([object()], ["text"], [{"role": "user", "content": float("nan")}]):
                try:
                    await ctx.chat(wrong)
                except (TypeError, ValueError) as error:
                    said.append(type(error).__name__)
            return " ".join(said)
    """
    async with agent_rig(tmp_path, source, FakeModel()) as rig:
        await rig.run()
        assert rig.has("submit", answer="TypeError TypeError ValueError")


async def test_a_forgotten_async_is_told(tmp_path: Path) -> None:
    source = "async def work(ctx):\n    pass\n\ndef run(ctx):\n    return work(ctx)\n"
    async with agent_rig(tmp_path, source, FakeModel()) as rig:
        await rig.run()
        assert rig.of(ErrorOccurred)[0].message == "agent:run returned a coroutine: declare it `async def`"


@pytest.mark.parametrize(
    ("agent", "python", "message"),
    [
        ("agent:", None, "--agent agent:: name it as my_pkg.agent:run or agent.py:run"),
        (":run", None, "--agent :run: name it"),
        ("agent:run", ".venv/bin/python", "--python .venv/bin/python: there is no such interpreter"),
        ("agent:run", "no-such-python", "--python no-such-python: there is no such interpreter"),
    ],
)
def test_wrong_usage(agent: str, python: str | None, message: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        agent_command(agent, python, tmp_path, os.environ, 1.0)
    assert str(caught.value).startswith(message)


def test_the_interpreter_is_found_in_the_folder_and_in_the_search_path(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "mypython").symlink_to(sys.executable)
    environ = {"PATH": str(tmp_path / "bin")}
    for name in ("bin/mypython", "mypython"):
        assert agent_command("a:b", name, tmp_path, environ, 1.0)[0] == str(tmp_path / "bin" / "mypython")
    assert agent_command("a:b", None, tmp_path, environ, 1.0)[0] == sys.executable
