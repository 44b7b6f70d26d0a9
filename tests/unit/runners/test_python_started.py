"""Python agents as a user starts them: `agentscope init`, flags and settings, and a row that runs again."""

from __future__ import annotations

import inspect
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import agentscope_tui
from agentscope_tui.config import load_settings
from agentscope_tui.datasets.task import Task
from agentscope_tui.doctor.command import examine
from agentscope_tui.errors import UsageError
from agentscope_tui.options import Options
from agentscope_tui.runners.python_agent import context, replies
from agentscope_tui.runners.source import RunnerChoice, RunnerSource
from agentscope_tui.session.forking import Fork
from agentscope_tui.session.launch import open_rows
from agentscope_tui.starter import write_starter
from agentscope_tui.tui.workspace import Workspace
from fakes.processes import alive, is_ours
from waiting import wait_until


def environ(folder: Path) -> dict[str, str]:
    return {**os.environ, "AGENTSCOPE_HOME": str(folder / "state")}


def test_init_writes_an_agent_that_runs_at_once(tmp_path: Path) -> None:
    env = environ(tmp_path)
    command = [sys.executable, "-c", "from agentscope_tui.cli import main; raise SystemExit(main())"]
    told = subprocess.run([*command, "init", "mine"], cwd=tmp_path, env=env, capture_output=True, text=True)
    assert (told.returncode, told.stderr) == (0, "")
    assert "  cd mine\n  agentscope tasks.jsonl\n" in told.stdout
    folder = tmp_path / "mine"
    rows = ["--row", "0", "--row", "1", "--row", "2"]
    words = [*command, "run", "tasks.jsonl", *rows]
    ran = subprocess.run(words, cwd=folder, env=env, capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.count("✓ count_words done") == 3
    assert ran.stdout.count("reward (exact): 1") == 3
    assert "not trusted" not in ran.stderr


def test_init_writes_over_nothing(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text("mine")
    with pytest.raises(UsageError, match=r"already has agent\.py: name another folder"):
        write_starter(tmp_path, environ(tmp_path))
    assert [file.name for file in tmp_path.iterdir()] == ["agent.py"]


def test_one_runner_at_a_time_and_an_interpreter_that_is_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--agent and --runner exclude each other"):
        RunnerSource(RunnerChoice(agent="a:b", command="runner"))
    with pytest.raises(UsageError, match="--python nowhere: there is no such interpreter"):
        RunnerSource(RunnerChoice(agent="a:b", python="nowhere"))


def test_doctor_is_for_runners_of_frames(tmp_path: Path) -> None:
    config = load_settings({"runner.agent": "agent:run"}, cwd=tmp_path, environ=environ(tmp_path))
    with pytest.raises(UsageError, match="--agent needs no check"):
        examine(config)


def test_the_types_of_the_extension_api_are_those_of_the_runner() -> None:
    pairs = [
        (agentscope_tui.AgentContext, context.AsyncContext),
        (agentscope_tui.SyncAgentContext, context.SyncContext),
        (agentscope_tui.Completion, replies.Completion),
        (agentscope_tui.ToolCall, replies.ToolCall),
        (agentscope_tui.ToolResult, replies.ToolResult),
    ]
    for promised, real in pairs:
        methods = {name: value for name, value in inspect.getmembers(promised) if inspect.isfunction(value)}
        for name, method in methods.items():
            if not name.startswith("_"):
                found = getattr(real, name)
                assert inspect.iscoroutinefunction(found) == inspect.iscoroutinefunction(method), name
                assert [*inspect.signature(found).parameters] == [*inspect.signature(method).parameters], name
    source = inspect.getsource(context.Context.__init__)
    for name in agentscope_tui.AgentContext.__mro__[1].__annotations__:
        assert f"self.{name}:" in source


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_starter(tmp_path, environ(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def workspace(folder: Path, **flags: object) -> tuple[Workspace, Task]:
    """The rows of `agentscope init`, and the first of them."""
    config = load_settings({"sandbox.mode": "none", **flags}, cwd=folder, environ=environ(folder))
    launcher, dataset = open_rows(config, Options(folder / "tasks.jsonl"))
    row = dataset.row(0)
    assert isinstance(row, Task)
    return Workspace(launcher, dataset), row


async def test_a_row_that_runs_again_runs_the_code_as_it_is_now(folder: Path) -> None:
    rows, task = workspace(folder, **{"session.mode": "run"})
    (folder / "agent.py").write_text("async def run(ctx):\n    return ctx.nothing\n")
    opened = await rows.open(task)
    await opened.session.settled()
    opened.pump()
    assert opened.state.outcome == "failed"
    (folder / "agent.py").write_text("async def run(ctx):\n    return ctx.row.ground_truth\n")
    again = await rows.open(task)
    await again.session.settled()
    await wait_until(lambda: again.pump() and again.state.reward is not None, "the reward")
    assert (again.state.outcome, again.state.answer, again.state.reward) == ("completed", "4", 1.0)
    await rows.aclose()


async def test_an_agent_that_died_is_restarted_where_it_was(folder: Path) -> None:
    rows, task = workspace(folder)
    opened = await rows.open(task)
    await wait_until(lambda: opened.pump() and opened.state.holds, "the first step")
    opened.session.step()
    await wait_until(lambda: opened.pump() and opened.state.call == 2 and opened.state.holds, "the second")
    [runner] = [pid for pid in alive("python_agent/start.py") if is_ours(pid)]
    os.kill(runner, signal.SIGKILL)
    await wait_until(lambda: opened.session.status == "failed", "the session failed")
    again = await rows.open(task, fork=Fork(opened.past()))
    await wait_until(lambda: again.pump() and again.state.holds, "the first step that is new")
    again.session.run_on()
    await again.session.settled()
    again.pump()
    assert (again.state.outcome, again.state.answer) == ("completed", "4")
    assert [(call.name, call.content, call.own) for call in again.state.calls] == [("count_words", "4", True)]
    assert [entry.text for entry in again.state.entries if entry.kind == "error"] == []
    await rows.aclose()


@pytest.mark.parametrize(("system", "seen"), [({}, "user"), ({"session.system": "Be kind."}, "system user")])
async def test_our_own_system_prompt_is_not_for_python_agents(
    system: dict[str, str], seen: str, folder: Path
) -> None:
    (folder / "agent.py").write_text(
        "def run(ctx):\n    return ' '.join(m['role'] for m in ctx.messages) + ctx.row.ground_truth\n"
    )
    rows, task = workspace(folder, **{"session.mode": "run", **system})
    opened = await rows.open(task)
    await opened.session.settled()
    opened.pump()
    assert opened.state.answer == f"{seen}4"
    await rows.aclose()


async def test_functions_of_a_file_are_tools_of_the_built_in_loop(folder: Path) -> None:
    (folder / "mine.py").write_text("def count_words(text: str) -> int:\n    return len(text.split())\n")
    own = {"runner.agent": None, "tools.python": "mine.py"}
    rows, task = workspace(folder, **{"session.mode": "run", **own})
    opened = await rows.open(task)
    await opened.session.settled()
    opened.pump()
    assert [(call.name, call.content, call.own) for call in opened.state.calls] == [
        ("count_words", "4", False)
    ]
    await rows.aclose()
    with pytest.raises(UsageError, match=r"--tools none\.py: there is no such file"):
        workspace(folder, **{"tools.python": "none.py"})


async def test_the_interpreter_of_the_agent_runs_the_grader_too(folder: Path) -> None:
    (folder / "python").symlink_to(sys.executable)
    (folder / "grade.py").write_text(
        "import sys\ndef score(answer):\n    return float(answer == sys.executable)\n"
    )
    (folder / "agent.py").write_text("import sys\ndef run(ctx):\n    return sys.executable\n")
    flags = {"session.mode": "run", "runner.python": "./python", "grading.grader": "grade:score"}
    rows, task = workspace(folder, **flags)
    opened = await rows.open(task)
    await opened.session.settled()
    opened.pump()
    assert opened.state.answer == str(folder / "python")
    assert opened.state.grade_error is None
    assert opened.state.reward == 1.0
    await rows.aclose()
