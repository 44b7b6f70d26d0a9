"""What a grader is: it gets the answer of a turn that completed, and gives a reward and its reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from agentscope_tui.datasets.task import Task
from agentscope_tui.errors import UserError
from agentscope_tui.models.chat import Message


class GraderError(UserError):
    """The grader itself failed, which says nothing about the answer. One line that says what to do."""

    def __init__(self, message: str, *, detail: str = "") -> None:
        super().__init__(message)
        self.detail = detail
        """A traceback of the user's code, or what it printed."""


class RunCommand(Protocol):
    """Runs a shell command confined like the session's tools, in their folder."""

    async def __call__(
        self, command: str, *, timeout: float, env: Mapping[str, str]
    ) -> tuple[int | None, str]:
        """The exit code (None: killed after `timeout` seconds) and the output. `env` is added."""


@dataclass(frozen=True)
class Grade:
    """A reward, usually from 0 to 1, and one line on how it came about."""

    reward: float
    reason: str = ""
    metrics: Mapping[str, float] = field(default_factory=dict)
    """Further numbers, by name."""
    sessions: tuple[str, ...] = ()
    """The ids of the sessions in which a model judged."""


@dataclass(frozen=True)
class GradeInput:
    """What there is to grade. `workdir` is the scratch folder as the agent left it, `session` the id of the
    session that it is from."""

    answer: str
    task: Task
    workdir: Path
    run_command: RunCommand
    messages: list[Message] = field(default_factory=list)
    session: str = ""


class Grader(Protocol):
    """Gives rewards. One instance may grade several turns, also at the same time."""

    @property
    def name(self) -> str:
        """How the user named it, for example `numeric:0.01`."""

    async def grade(self, given: GradeInput) -> Grade:
        """Grade one answer.

        Raises:
            GraderError: there is no reward, because the grader failed or the row lacks a ground truth.
            asyncio.CancelledError: the task was cancelled; nothing that it started is left running.
        """


def ground_truth_of(task: Task, grader: str) -> str:
    """The row's ground truth, for a grader that compares with it.

    Raises:
        GraderError: the row has none, or a blank one.
    """
    if task.ground_truth is None or not task.ground_truth.strip():
        raise GraderError(
            f"grader `{grader}` needs a ground truth and row {task.index} has none "
            "(--map ground_truth=COLUMN names its column)"
        )
    return task.ground_truth


def shorten(text: str, limit: int = 80) -> str:
    """A text on one line, with at most `limit` characters, for a reason."""
    line = " ".join(text[: limit * 4].split())
    return line if len(line) <= limit else line[: limit - 1] + "…"
