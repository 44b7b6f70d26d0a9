"""Grading the turns' answers: rewards, or the grader's own error, as events."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from agentscope_tui.clock import Clock
from agentscope_tui.errors import UserError
from agentscope_tui.events import Event, Graded
from agentscope_tui.models.chat import Message
from agentscope_tui.session.tasks import Tasks
from agentscope_tui.session.turn import Turn

log = logging.getLogger(__name__)


class Verdict(Protocol):
    """What a grader gives: a number, why in a few words, further numbers, and the sessions of its judges."""

    @property
    def reward(self) -> float: ...
    @property
    def reason(self) -> str: ...
    @property
    def metrics(self) -> Mapping[str, float]: ...
    @property
    def sessions(self) -> Sequence[str]: ...


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
    provisional: bool = False,
) -> Graded:
    """Run the grader; what it raises becomes the event's `error`."""
    started = monotonic()
    verdict, reason, error = None, "", None
    try:
        verdict = await grader.grade(answer, messages)
        reason = verdict.reason
    except UserError as problem:
        error, reason = str(problem), str(getattr(problem, "detail", ""))
    except Exception as problem:
        log.exception("the grader %s failed", grader.name)
        error = f"{type(problem).__name__}: {problem}"
    return Graded(
        grader=grader.name,
        turn=turn,
        reward=verdict.reward if verdict else None,
        reason=reason,
        metrics={**verdict.metrics} if verdict else {},
        error=error,
        duration=monotonic() - started,
        sessions=[*verdict.sessions] if verdict else [],
        provisional=provisional,
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
        scorer: AnswerGrader | None = None,
    ) -> None:
        """`done` is called when a grading has ended. `scorer` grades on a copy of the files."""
        self._grader = grader
        self._scorer = scorer
        self._scoring: asyncio.Task[None] | None = None
        self._publish = publish
        self._tasks = tasks
        self._done = done
        self._clock = clock
        self.name = grader.name if grader is not None else None
        self.pending = 0
        """Gradings that run."""

    def grade(self, turn: Turn, messages: Sequence[Message], own_reward: float | None) -> None:
        """Grade a turn's answer; `own_reward` is what the agent itself gives it."""
        if own_reward is not None:
            self._publish(Graded(grader="agent", turn=turn.number, reward=own_reward))
        if self._grader is not None:
            self.pending += 1
            self._tasks.spawn(self._run(self._grader, turn.number, turn.text_to_grade, messages), "grading")

    def score(self, turn: Turn, messages: Sequence[Message]) -> bool:
        """Grade what there is now, for the user to know; False: that is being done, and ends now.

        Nobody waits for it, and it changes nothing of the session.

        Raises:
            UserError: there is no grader, or nothing was asked so far.
        """
        if not turn.number:
            raise UserError("nothing was asked in this session so far: there is nothing to grade")
        if self._scoring is not None and not self._scoring.done():
            self._scoring.cancel()
            return False
        if self._scorer is None:
            raise UserError("there is no grader: name one with --grader")
        work = self._score(self._scorer, turn.number, turn.text_to_grade, messages)
        self._scoring = self._tasks.spawn(work, "score now")
        return True

    async def _score(self, scorer: AnswerGrader, turn: int, answer: str, messages: Sequence[Message]) -> None:
        self._publish(
            await graded(
                scorer, answer, messages, turn=turn, monotonic=self._clock.monotonic, provisional=True
            )
        )

    async def _run(self, grader: AnswerGrader, turn: int, answer: str, messages: Sequence[Message]) -> None:
        try:
            reward = await graded(grader, answer, messages, turn=turn, monotonic=self._clock.monotonic)
            self._publish(reward)
        finally:
            self.pending -= 1
            self._done()
