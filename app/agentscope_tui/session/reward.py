"""Grading the turns' answers: rewards, or the grader's own error, as events."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Protocol

from agentscope_tui.clock import Clock
from agentscope_tui.errors import UserError
from agentscope_tui.events import Event, Graded
from agentscope_tui.models.chat import Message
from agentscope_tui.session.tasks import Tasks

log = logging.getLogger(__name__)


class Verdict(Protocol):
    """What a grader gives: a number, and why in a few words."""

    @property
    def reward(self) -> float: ...
    @property
    def reason(self) -> str: ...


class AnswerGrader(Protocol):
    """Grades answers to this session's row."""

    @property
    def name(self) -> str: ...

    async def grade(self, answer: str, messages: Sequence[Message]) -> Verdict:
        """The verdict on an answer; `messages` are the whole conversation.

        Raises:
            UserError: the grader's own error.
        """


async def graded(
    grader: AnswerGrader,
    answer: str,
    messages: Sequence[Message],
    *,
    turn: int,
    monotonic: Callable[[], float],
) -> Graded:
    """Run the grader; what it raises becomes the event's `error`."""
    started = monotonic()
    reward, reason, error = None, "", None
    try:
        verdict = await grader.grade(answer, messages)
        reward, reason = verdict.reward, verdict.reason
    except UserError as problem:
        error, reason = str(problem), str(getattr(problem, "detail", ""))
    except Exception as problem:
        log.exception("the grader %s failed", grader.name)
        error = f"{type(problem).__name__}: {problem}"
    return Graded(
        grader=grader.name,
        turn=turn,
        reward=reward,
        reason=reason,
        error=error,
        duration=monotonic() - started,
    )


class Grading:
    """The gradings of one session. `name` is the grader's, None without one."""

    def __init__(
        self,
        grader: AnswerGrader | None,
        publish: Callable[[Event], Event],
        tasks: Tasks,
        done: Callable[[], None],
        clock: Clock,
    ) -> None:
        """`done` is called when a grading has ended."""
        self._grader = grader
        self._publish = publish
        self._tasks = tasks
        self._done = done
        self._clock = clock
        self.name = grader.name if grader is not None else None
        self.pending = 0
        """Gradings that run."""

    def grade(self, turn: int, answer: str, messages: Sequence[Message], own_reward: float | None) -> None:
        """Grade a turn's answer; `own_reward` is what the agent itself gives it."""
        if own_reward is not None:
            self._publish(Graded(grader="agent", turn=turn, reward=own_reward))
        if self._grader is not None:
            self.pending += 1
            self._tasks.spawn(self._run(self._grader, turn, answer, messages), "grading")

    async def _run(self, grader: AnswerGrader, turn: int, answer: str, messages: Sequence[Message]) -> None:
        try:
            reward = await graded(grader, answer, messages, turn=turn, monotonic=self._clock.monotonic)
            self._publish(reward)
        finally:
            self.pending -= 1
            self._done()
