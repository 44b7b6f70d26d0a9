"""Grading sessions that were recorded, without running their agents again.

The last turn is graded as it was then: its answer, the conversation at its end, and a copy of the files that
the agent left.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from agentscope_tui.clock import Clock
from agentscope_tui.config import Config
from agentscope_tui.confining import sandbox_of, unconfined_reason
from agentscope_tui.datasets.dataset import Dataset
from agentscope_tui.datasets.source import open_dataset
from agentscope_tui.datasets.task import Task
from agentscope_tui.errors import UserError
from agentscope_tui.events import AssistantMessage, UserMessageSent
from agentscope_tui.folders import open_state_dir
from agentscope_tui.grading.grader import Grade
from agentscope_tui.grading.row_grader import CopyGrader
from agentscope_tui.grading.spec import parse_part
from agentscope_tui.models.chat import Message
from agentscope_tui.options import FLAGS
from agentscope_tui.session.graders import copy_files, named_grader
from agentscope_tui.session.meta import config_of, task_of
from agentscope_tui.session.offering import local_tools
from agentscope_tui.session.state import SessionState
from agentscope_tui.store.folders import SessionFolder
from agentscope_tui.store.past import PastSession
from agentscope_tui.store.reopen import recover
from agentscope_tui.store.snapshots import Snapshots


@dataclass(frozen=True)
class Regrade:
    """What came of one session. `before` is the reward that its recording has; exactly one of `grade`,
    `error` (the grader's, or why there is none) and `skipped` (why there was nothing to grade) is set."""

    session: str
    row: int | None = None
    before: float | None = None
    grade: Grade | None = None
    error: str = ""
    skipped: str = ""


class Regrader:
    """Grades recordings with the grader that `config` names, or, where no flag does, each as it was."""

    def __init__(self, config: Config, clock: Clock, *, trust: bool = False) -> None:
        """Raises UserError: the state folder cannot be written."""
        self._config = config
        self._clock = clock
        self._trust = trust
        self._state = open_state_dir(config.environ)
        self._has_grader = config.origin("grading.grader") == FLAGS["grading.grader"]

    async def grade(self, folder: Path) -> Regrade:
        """Grade the session in this folder."""
        try:
            past, turn = await asyncio.to_thread(_read, folder)
        except UserError as error:
            return Regrade(folder.name, error=str(error))
        row, before, skipped = past.started.row, turn.state.reward, turn.why_not
        if skipped:
            return Regrade(folder.name, row, before, skipped=skipped)
        try:
            grader = await self._grader(folder, past)
            return Regrade(folder.name, row, before, await grader.grade(turn.answer, turn.messages))
        except UserError as error:
            return Regrade(folder.name, row, before, error=str(error))

    async def _grader(self, folder: Path, past: PastSession) -> CopyGrader:
        kept = SessionFolder(folder)
        config = self._config
        if not self._has_grader:
            config = await asyncio.to_thread(config_of, config, kept, trust=self._trust)
        task = await asyncio.to_thread(_task, config, past)
        grader = named_grader(config, task.grader, folder.parent, self._clock)
        if grader is None and config.untrusted is not None:
            raise UserError("the grader that it had is not trusted here: use --trust, or --grader")
        if grader is None:
            raise UserError("there is no grader: name one with --grader")
        sandbox = await sandbox_of(config.settings.sandbox)
        fill = await asyncio.to_thread(_filler, kept)
        if any(parse_part(name).spec.kind == "command" for name in config.graders_of(task.grader)):
            if fill is None:
                raise UserError("the session's files are gone: a command has nothing to look at")
            if reason := await unconfined_reason(config, Path(past.started.dataset)):
                raise UserError(
                    f"nothing can confine the grader's command here ({reason}): "
                    "use --no-sandbox if it may run as you, with your files and your network"
                )
        tools = partial(local_tools, config, sandbox)
        return CopyGrader(grader, task, folder.name, self._state, fill or _nothing, tools)


@dataclass(frozen=True)
class _LastTurn:
    """`why_not` says why there is nothing to grade; empty: there is."""

    state: SessionState
    answer: str
    messages: list[Message]
    why_not: str = ""


def _read(folder: Path) -> tuple[PastSession, _LastTurn]:
    past = recover(folder)
    state = SessionState()
    text = ""
    for event in past.events:
        state.apply(event)
        match event:
            case UserMessageSent():
                text = ""
            case AssistantMessage(partial=False):
                text = event.text or text
            case _:
                pass
    why_not = "" if state.outcome == "completed" else f"its last turn did not complete: it is {state.word}"
    messages = state.request_messages(state.call) if state.call else []
    if (reply := state.reply(state.call)) is not None:
        messages = [*messages, reply]
    return past, _LastTurn(state, text if state.answer is None else state.answer, messages, why_not)


def _task(config: Config, past: PastSession) -> Task:
    """The task, as the recording keeps it; older ones do not, and then the dataset is looked at."""
    if isinstance(past.meta.get("task"), dict):
        return task_of(past)
    dataset: Dataset | None = None
    path = Path(past.started.dataset)
    try:
        if path.is_file():
            dataset = open_dataset(path, offset=0, limit=None, columns=config.columns)
        return task_of(past, dataset)
    finally:
        if dataset is not None:
            dataset.close()


def _filler(folder: SessionFolder) -> Callable[[Path, Path], None] | None:
    """What copies the files that the agent left, else those of its last call; None: there are none."""
    if folder.files.is_dir():
        return partial(copy_files, folder.files)
    snapshots = Snapshots(folder.snapshots)
    last = max(snapshots.calls(), default=None)
    return None if last is None else lambda target, work: _restore(snapshots, last, target)


def _restore(snapshots: Snapshots, call: int, target: Path) -> None:
    snapshots.restore(call, target)


def _nothing(target: Path, work: Path) -> None:
    """No files."""
