"""Regression tests of agents: an agent runs again on a recorded session, without a model and without tokens.

`agentscope export SESSION --pytest` writes a test that does it: docs/regression-tests.md.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

from agentscope_tui.config import Config, load_settings
from agentscope_tui.datasets.task import Task
from agentscope_tui.errors import UserError
from agentscope_tui.events import AssistantMessage, SessionEvent, ToolCallStarted, ToolResult
from agentscope_tui.grading.spec import parse_part
from agentscope_tui.model_choice import guarded
from agentscope_tui.models.factory import REPLAY
from agentscope_tui.session.launch import Launcher
from agentscope_tui.session.ledger import REFUSED_BY_RUNNER
from agentscope_tui.session.meta import task_of
from agentscope_tui.session.recorded_turns import RecordedTurn, recorded_turns
from agentscope_tui.session.rerun import Rerun, repeatable
from agentscope_tui.session.state import SessionState
from agentscope_tui.store.past import PastSession
from agentscope_tui.store.reopen import read_session
from agentscope_tui.wire.arguments import BadArguments, parse_arguments

__all__ = ["ReplayedSession", "replay_session"]

START, END = "start", "files"
"""Folders of a test's recording: the files that the agent began with, and those that were graded."""


@dataclass(frozen=True)
class ReplayedSession:
    """What an agent did."""

    outcome: str
    """How its last turn ended: `completed`, `interrupted`, `failed` or `limit`."""
    calls: int
    """Model calls."""
    tool_calls: list[tuple[str, Any]]
    """Name and arguments of each tool call that the agent made, in the order in which the model asked for
    them; arguments that are no JSON object are the model's text."""
    answer: str | None
    """What was submitted, else the last text of the model."""
    reward: float | None
    error: str | None = None
    """The last error, where something failed."""
    differences: list[str] = field(default_factory=list)
    """What the agent asked of model or tools that is not recorded, each in a few lines; empty: it did as it
    did when it was recorded."""


def replay_session(
    recording: str | os.PathLike[str],
    *,
    folder: str | os.PathLike[str] = ".",
    settings: Mapping[str, object] | None = None,
    tools: Literal["recorded", "run"] = "recorded",
    timeout: float = 300.0,
) -> ReplayedSession:
    """Run the agent of a project again, on the answers that its model gave in a recording.

    `recording` is a folder that `agentscope export --pytest` wrote. `folder` is the project's: its
    `agentscope.yaml` counts and is trusted, and the agent starts there; `settings` count more, by key
    (`{"runner.agent": "agent.py:run"}`). Neither the user's own settings nor the environment's count.
    The tools of agentscope give their `recorded` results, or `run` again; those in the agent's own process
    always run. `timeout` is in seconds, for each turn.

    Raises:
        UserError: recording, settings or agent cannot be used.
        TimeoutError: a turn took longer.
    """
    with tempfile.TemporaryDirectory(prefix="agentscope-") as home:
        config = _config(Path(folder), dict(settings or {}), Path(recording).absolute(), tools, home)
        return asyncio.run(_replay(config, Path(recording).absolute(), tools, timeout))


def _config(folder: Path, settings: dict[str, object], recording: Path, tools: str, home: str) -> Config:
    flags: dict[str, object] = {
        **settings,
        "model.name": f"{REPLAY}{recording}",
        "model.replay": "strict",
        "model.replay_fallback": None,
    }
    config = project_settings(folder, flags, home)
    if tools == "recorded" and config.settings.runner.program is None:
        # Their results are known: nothing has to be started for them.
        config = project_settings(folder, {**flags, "tools.python": None, "tools.mcp": []}, home)
    return guarded(config)


def project_settings(folder: Path, flags: Mapping[str, object], home: str) -> Config:
    """The settings of a project, whoever runs it: `home` is for the state. Raises as `load_settings`."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("AGENTSCOPE_")}
    environ = {**kept, "AGENTSCOPE_HOME": home}
    return load_settings(flags, cwd=folder, environ=environ, trust=True, own=False)


async def _replay(config: Config, recording: Path, tools: str, timeout: float) -> ReplayedSession:
    past = await asyncio.to_thread(read_session, recording)
    turns = repeatable(recorded_turns(past.events))
    if not turns:
        raise UserError(f"no turn of {recording} came to its end by itself: there is nothing to do again")
    task = replace(task_of(past), prompt=turns[0].message.text)
    launcher = Launcher(config, Path(past.started.dataset), model=str(config.settings.model.name))
    try:
        launcher.check()
        await _refuse_unconfined(launcher, config, task, tools)
        return await _run(launcher, task, recording, past, turns, tools, timeout)
    finally:
        await launcher.aclose()


async def _run(
    launcher: Launcher,
    task: Task,
    recording: Path,
    past: PastSession,
    turns: list[RecordedTurn],
    tools: str,
    timeout: float,
) -> ReplayedSession:
    events: list[SessionEvent] = []
    rerun = Rerun(turns, [*past.started.tools] if tools == "recorded" else None)
    async with aclosing(await launcher.open(task, mode="run", patient=False, rerun=rerun)) as opened:
        opened.bus.subscribe(events.append)
        scratch = opened.folder.files
        if (recording / START).is_dir():
            await asyncio.to_thread(_put_files, recording / START, scratch)
        if tools == "recorded" and (recording / END).is_dir():
            rerun.before_grading = partial(asyncio.to_thread, _put_files, recording / END, scratch)
        await opened.session.start()
        await rerun.run(opened.session, timeout=timeout)
    return replace(observed(events), differences=rerun.differences)


async def _refuse_unconfined(launcher: Launcher, config: Config, task: Task, tools: str) -> None:
    graders = map(parse_part, config.graders_of(task.grader))
    if tools != "run" and not any(part.spec.kind == "command" for part in graders):
        return
    if reason := await launcher.unconfined_reason():
        raise UserError(
            f"nothing can confine tools and grader here ({reason}): "
            'settings={"sandbox.mode": "none"} runs them as you, with your files and your network'
        )


def _put_files(source: Path, target: Path) -> None:
    """Make the files those of the recording: no tool ran that would have made them so."""
    for entry in target.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()
    shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True)


def observed(events: Iterable[SessionEvent]) -> ReplayedSession:
    """What the events of a session tell of its agent."""
    state = SessionState()
    events = list(events)
    for event in events:
        state.apply(event)
    said = [event.text for event in events if isinstance(event, AssistantMessage) and not event.partial]
    answer = (
        state.answer if state.answer is not None else next((text for text in reversed(said) if text), None)
    )
    return ReplayedSession(
        outcome=state.outcome or "failed",
        calls=state.call,
        tool_calls=_tool_calls(events),
        answer=answer if state.outcome == "completed" else None,
        reward=state.reward,
        error=state.last_error or state.grade_error,
    )


def _tool_calls(events: list[SessionEvent]) -> list[tuple[str, Any]]:
    """The agent's tool calls, as the model wrote them: what a user edited or refused at the gate was his."""
    proposed: dict[str, tuple[str, Any]] = {}
    made: set[str] = set()
    for event in events:
        match event:
            case AssistantMessage(partial=False):
                for part in event.tool_calls:
                    proposed[part.id] = (part.function.name, _arguments(part.function.arguments))
            case ToolCallStarted():
                # Agents may call tools of their own that no model asked for.
                proposed.setdefault(event.call_id, (event.name, event.arguments))
            case ToolResult() if event.reason != REFUSED_BY_RUNNER:
                made.add(event.call_id)
            case _:
                pass
    return [call for call_id, call in proposed.items() if call_id in made]


def _arguments(text: str) -> Any:
    try:
        return parse_arguments(text)
    except BadArguments:
        return text
