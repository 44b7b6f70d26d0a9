"""Grading a turn's answer: the reward, or the grader's own error, as an event."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Protocol

from agentscope_tui.errors import UserError
from agentscope_tui.events import Graded
from agentscope_tui.models.chat import Message

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
