"""`replay_session`: an agent again on a recording that `export --pytest` wrote, and what it tells of it."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from agentscope_tui.config import load_settings
from agentscope_tui.datasets.task import Task
from agentscope_tui.errors import UserError
from agentscope_tui.options import Options
from agentscope_tui.session.gate import Decision
from agentscope_tui.session.launch import open_rows
from agentscope_tui.session.open_session import OpenSession
from agentscope_tui.session.state import SessionState
from agentscope_tui.store.export.formats import Choices
from agentscope_tui.store.export.pytest_file import write
from agentscope_tui.store.export.source import imported, recorded
from agentscope_tui.store.imports import open_trajectories
from agentscope_tui.testing import ReplayedSession, replay_session
from waiting import wait_until

Act = Callable[[OpenSession, SessionState], Awaitable[None]]


def bash(command: str, **more: Any) -> dict[str, Any]:
    return {"tool_calls": [{"name": "bash", "arguments": {"command": command}}], **more}


async def nothing(opened: OpenSession, state: SessionState) -> None:
    """The user only watches."""


class Project:
    """A folder with one row and a scripted model; `record` runs it and writes the test."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.said: list[str] = []
        monkeypatch.chdir(folder)
        monkeypatch.setenv("AGENTSCOPE_HOME", str(folder / "state"))

    async def record(
        self,
        *replies: dict[str, Any],
        act: Act = nothing,
        row: dict[str, Any] | None = None,
        mode: Any = "run",
        **flags: Any,
    ) -> Path:
        quick = [{"tokens_per_second": 10_000, **reply} for reply in replies]
        (self.folder / "script.yaml").write_text(yaml.safe_dump({"scripts": [{"replies": quick}]}))
        (self.folder / "rows.jsonl").write_text(json.dumps({"user_prompt": "go", **(row or {})}) + "\n")
        chosen = {"model.name": "scripted:script.yaml", "sandbox.mode": "none", **flags}
        launcher, dataset = open_rows(load_settings(chosen), Options(self.folder / "rows.jsonl"))
        task = dataset.row(0)
        assert isinstance(task, Task)
        opened = await launcher.open(task, mode=mode)
        state = SessionState()
        opened.bus.subscribe(state.apply)
        await opened.start()
        await act(opened, state)
        await opened.session.settled()
        await opened.aclose()
        await launcher.aclose()
        dataset.close()
        path = self.folder / "test_it.py"
        write(recorded(opened.folder.path), path, Choices(say=self.said.append))
        return self.folder / "test_it.session"

    async def replay(self, recording: Path, **options: Any) -> ReplayedSession:
        settings = {"sandbox.mode": "none", **options.pop("settings", {})}
        return await asyncio.to_thread(
            replay_session, recording, folder=self.folder, settings=settings, **options
        )


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    return Project(tmp_path, monkeypatch)


async def test_what_an_agent_did_is_told(project: Project) -> None:
    recording = await project.record(
        bash("echo hello > out.txt; cat out.txt"),
        {"tool_calls": [{"name": "submit", "arguments": {"answer": "42"}}], "text": "Done."},
        row={"ground_truth": "42", "grader": "exact"},
    )
    assert await project.replay(recording) == ReplayedSession(
        outcome="completed",
        calls=2,
        tool_calls=[("bash", {"command": "echo hello > out.txt; cat out.txt"}), ("submit", {"answer": "42"})],
        answer="42",
        reward=1.0,
    )
    assert not list(project.folder.glob("**/out.txt"))[1:], "the tool ran again"


async def test_the_test_says_what_the_replay_tells(project: Project) -> None:
    await project.record(bash("true"), {"text": 'It\'s "done"\n\u202e'})
    text = (project.folder / "test_it.py").read_text()
    assert text.isascii()
    told: dict[str, Any] = {"__file__": str(project.folder / "test_it.py")}
    exec(compile(text, "test_it.py", "exec"), told)
    await asyncio.to_thread(told["test_it"])


async def test_tools_can_run_again(project: Project) -> None:
    recording = await project.record(
        bash("cat counter || echo none"), {"text": "bye"}, row={"files": {"a": "1"}}
    )
    run = await project.replay(recording, tools="run")
    assert (run.differences, run.calls) == ([], 2)
    again = await project.record(
        bash(f"echo x >> {project.folder}/log; wc -l < {project.folder}/log"), {"text": "bye"}
    )
    run = await project.replay(again, tools="run")
    [difference] = run.differences
    assert "differs from call #2 of test_it.session: ~ message 4 (tool): 1" in difference
    assert "→ 2" in difference
    assert "--replay" not in difference
    assert run.outcome == "failed"


async def test_the_agent_begins_with_the_same_files(project: Project) -> None:
    recording = await project.record(bash("cat a; rm a"), {"text": "bye"}, row={"files": {"a": "one"}})
    (project.folder / "rows.jsonl").unlink()
    run = await project.replay(recording, tools="run")
    assert run.differences == []


async def test_a_grader_that_looks_at_files_finds_them(project: Project) -> None:
    grader = "command:test -f made -a ! -e gone"
    row = {"files": {"gone": "x"}, "grader": grader}
    recording = await project.record(bash("rm gone; touch made"), {"text": "bye"}, row=row)
    run = await project.replay(recording)
    assert (run.reward, run.error) == (1.0, None)
    (recording / "files" / "made").unlink()
    assert (await project.replay(recording)).reward == 0.0


async def test_what_the_user_said_is_said_again(project: Project) -> None:
    async def act(opened: OpenSession, state: SessionState) -> None:
        await wait_until(lambda: state.running_calls)
        opened.session.send("be quick")
        (opened.folder.files / "go").touch()
        await opened.session.settled()
        opened.session.send("and now?")

    recording = await project.record(
        bash("while [ ! -e go ]; do sleep 0.01; done; echo went"),
        {"text": "quick it is", "when": {"contains": "be quick"}},
        {"text": "now nothing", "when": {"contains": "and now?"}},
        {"text": "script without what was said"},
        act=act,
    )
    run = await project.replay(recording)
    assert (run.differences, run.calls, run.answer) == ([], 3, "now nothing")


async def test_what_the_user_did_at_the_gate_is_as_it_was(project: Project) -> None:
    async def act(opened: OpenSession, state: SessionState) -> None:
        session = opened.session
        decisions = {
            ("tool_call", "call_1"): Decision("edit", arguments={"command": "echo edited"}),
            ("tool_call", "call_2"): Decision("refuse", reason="no, not that"),
            ("tool_result", "call_3"): Decision("edit", content="another result"),
        }
        session.step(fine=True)
        while session.status != "idle":
            await wait_until(lambda: state.holds or session.status == "idle")
            if not state.holds:
                return
            hold = state.holds[0]
            decision = decisions.pop((hold.step, hold.call_id or ""), None)
            if decision is None:
                session.step(fine=True)
            else:
                session.decide(decision, hold=hold.hold)
            await wait_until(lambda hold=hold: hold not in state.holds)
        assert not decisions

    recording = await project.record(
        bash("echo one"), bash("echo two"), bash("echo three"), {"text": "bye"}, act=act, mode="step"
    )
    run = await project.replay(recording)
    assert run.differences == []
    assert [arguments["command"] for _, arguments in run.tool_calls] == ["echo one", "echo two", "echo three"]
    text = (project.folder / "test_it.py").read_text()
    for command in ("echo one", "echo two", "echo three"):
        assert command in text
    assert "echo edited" not in text


async def test_turns_after_an_interrupt_are_left_out(project: Project) -> None:
    async def act(opened: OpenSession, state: SessionState) -> None:
        await opened.session.settled()
        opened.session.send("again")
        await wait_until(lambda: state.running_calls)
        opened.session.interrupt()

    recording = await project.record({"text": "one"}, bash("sleep 60"), act=act)
    run = await project.replay(recording)
    assert (run.differences, run.calls, run.answer, run.outcome) == ([], 1, "one", "completed")


async def test_a_session_without_a_whole_turn_is_no_test(project: Project) -> None:
    async def act(opened: OpenSession, state: SessionState) -> None:
        await wait_until(lambda: state.running_calls)
        opened.session.interrupt()

    with pytest.raises(UserError, match="no turn came to its end by itself"):
        await project.record(bash("sleep 60"), act=act)
    assert not (project.folder / "test_it.py").exists()


async def test_a_failed_turn_is_a_test_too(project: Project) -> None:
    async def act(opened: OpenSession, state: SessionState) -> None:
        await wait_until(lambda: state.holds)
        opened.session.give_up()

    recording = await project.record(bash("true"), {"error": {"message": "the server is gone"}}, act=act)
    run = await project.replay(recording)
    assert (run.differences, run.outcome, run.answer) == ([], "failed", None)
    assert "the server is gone" in str(run.error)


AGENT = """
async def run(ctx):
    messages = [{"role": "system", "content": "WORDS"}, *ctx.messages]
    while True:
        reply = await ctx.chat(messages)
        messages.append(reply.message)
        if not reply.tool_calls:
            return ctx.done(reply.content)
        for call in reply.tool_calls:
            result = await ctx.call_tool(call.name, CHANGED)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
"""


async def test_an_agent_that_calls_a_tool_in_another_way_is_told(project: Project) -> None:
    (project.folder / "agent.py").write_text(AGENT.replace("CHANGED", "call.arguments"))
    flags = {"runner.agent": "agent.py:run"}
    recording = await project.record(bash("echo one"), {"text": "bye"}, **flags)
    assert "settings={" in (project.folder / "test_it.py").read_text()
    assert (await project.replay(recording, settings=flags)).differences == []
    (project.folder / "agent.py").write_text(AGENT.replace("CHANGED", '{"command": "rm -rf ."}'))
    run = await project.replay(recording, settings=flags)
    assert 'the agent called bash {"command": "rm -rf ."}' in run.differences[0]
    (project.folder / "agent.py").write_text(AGENT.replace("CHANGED", "call.arguments").replace("WORDS", "W"))
    run = await project.replay(recording, settings=flags)
    assert "~ message 1 (system): WORDS → W" in run.differences[0]


PROGRAM = """
import json, os, sys, urllib.request
messages = [{"role": "user", "content": " ".join(sys.argv[1:])}]
request = urllib.request.Request(
    os.environ["OPENAI_BASE_URL"] + "/chat/completions",
    json.dumps({"model": "any", "messages": messages}).encode(),
    {"authorization": "Bearer " + os.environ["OPENAI_API_KEY"], "content-type": "application/json"},
)
with urllib.request.urlopen(request) as response:
    print(json.load(response)["choices"][0]["message"]["content"])
"""


async def test_a_program_is_run_again(project: Project) -> None:
    (project.folder / "program.py").write_text(PROGRAM)
    flags = {"runner.program": f"{sys.executable} {project.folder}/program.py {{user_prompt}}"}
    recording = await project.record({"text": "bye"}, **flags)
    run = await project.replay(recording, settings=flags)
    assert (run.differences, run.outcome, run.answer) == ([], "completed", "bye")
    (project.folder / "program.py").write_text(PROGRAM.replace('" ".join', '"!".join'))
    longer = {"runner.program": flags["runner.program"] + " now"}
    run = await project.replay(recording, settings=longer)
    assert "~ message 1 (user): go → go!now" in run.differences[0]


async def test_a_file_of_another_tool_can_be_a_test(project: Project) -> None:
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "2 + 2?"},
        {"role": "assistant", "content": "4"},
    ]
    file = project.folder / "chat.jsonl"
    file.write_text(json.dumps({"messages": messages}) + "\n")
    trajectories = open_trajectories(file)
    path = project.folder / "test_it.py"
    write(imported(trajectories.session(0), "chat"), path, Choices())
    run = await project.replay(project.folder / "test_it.session", settings={"session.system": "Be brief."})
    assert (run.differences, run.answer) == ([], "4")


async def test_an_agent_that_hangs_is_not_waited_for_without_end(project: Project) -> None:
    (project.folder / "agent.py").write_text(AGENT.replace("CHANGED", "call.arguments"))
    flags = {"runner.agent": "agent.py:run"}
    recording = await project.record({"text": "bye"}, **flags)
    (project.folder / "agent.py").write_text("import asyncio\nasync def run(ctx): await asyncio.sleep(600)\n")
    with pytest.raises(TimeoutError, match="turn 1 of the agent took more than"):
        await project.replay(recording, settings=flags, timeout=1.0)


async def test_an_agent_that_cannot_be_loaded_says_so(project: Project) -> None:
    recording = await project.record({"text": "bye"})
    run = await project.replay(recording, settings={"runner.agent": "no_such.py:run"})
    assert run.outcome == "failed"
    assert "no_such" in str(run.error)


async def test_neither_environment_nor_own_settings_count(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    recording = await project.record({"text": "bye"})
    own = project.folder / "config" / "agentscope"
    own.mkdir(parents=True)
    (own / "agentscope.yaml").write_text("session: {system: Mine.}")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(own.parent))
    monkeypatch.setenv("AGENTSCOPE_SESSION__SYSTEM", "The environment's.")
    sessions = sorted(os.listdir(project.folder / "state" / "sessions"))
    assert (await project.replay(recording)).differences == []
    assert sorted(os.listdir(project.folder / "state" / "sessions")) == sessions
    (project.folder / "agentscope.yaml").write_text("session: {system: The project's.}")
    [difference] = (await project.replay(recording)).differences
    assert "→ The project's." in difference


async def test_nothing_of_this_machine_and_no_secret_is_in_it(project: Project) -> None:
    secret = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789"
    row = {"files": {"key": secret, "b": "plain"}}
    recording = await project.record({"text": f"the key is {secret}"}, row=row)
    files = [file for file in recording.rglob("*") if file.is_file()]
    assert {file.name for file in files} >= {"events.jsonl", "meta.json", "conftest.py"}
    held = b"".join(file.read_bytes() for file in files)
    assert secret.encode() not in held
    assert str(project.folder).encode() not in held
    assert [note for note in project.said if "holds a secret" in note]
    assert (await project.replay(recording)).differences == []


async def test_a_folder_of_something_else_is_not_written_over(project: Project) -> None:
    (project.folder / "test_it.session").mkdir()
    (project.folder / "test_it.session" / "mine").touch()
    with pytest.raises(UserError, match="is no recording"):
        await project.record({"text": "bye"})
    assert (project.folder / "test_it.session" / "mine").exists()


async def test_several_replay_at_once(project: Project) -> None:
    recording = await project.record(bash("true"), {"text": "bye"})
    runs = await asyncio.gather(*(project.replay(recording) for _ in range(3)))
    assert [run.differences for run in runs] == [[]] * 3
