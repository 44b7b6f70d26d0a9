"""Several graders as one: the reward is the weighted mean of theirs, and each of theirs is a metric."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from agentscope_tui.grading.grader import Grade, GradeInput, Grader, GraderError, shorten
from agentscope_tui.grading.spec import GraderPart


@dataclass(frozen=True)
class ComposedGrader:
    """Its parts grade at the same time. The error of one is the error of all: there is no reward without it.

    A part's own metrics become `PART.METRIC`.
    """

    parts: Sequence[tuple[GraderPart, Grader]]

    @property
    def name(self) -> str:
        return " + ".join(part.name for part, _ in self.parts)

    async def grade(self, given: GradeInput) -> Grade:
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [
                    group.create_task(_graded(part.name, grader, given), name=f"grader {part.name}")
                    for part, grader in self.parts
                ]
        except BaseExceptionGroup as failures:
            raise failures.exceptions[0] from None
        grades = [(part, task.result()) for (part, _), task in zip(self.parts, tasks, strict=True)]
        total = sum(part.weight for part, _ in grades)
        metrics: dict[str, float] = {}
        for part, grade in grades:
            metrics[part.name] = grade.reward
            metrics |= {f"{part.name}.{name}": value for name, value in grade.metrics.items()}
        return Grade(
            sum(part.weight * grade.reward for part, grade in grades) / total,
            " · ".join(_told(part, grade) for part, grade in grades),
            metrics,
            tuple(session for _, grade in grades for session in grade.sessions),
        )


async def _graded(name: str, grader: Grader, given: GradeInput) -> Grade:
    try:
        return await grader.grade(given)
    except GraderError as error:
        raise GraderError(f"{name}: {error}", detail=error.detail) from error


def _told(part: GraderPart, grade: Grade) -> str:
    reason = f" ({shorten(grade.reason, 200)})" if grade.reason else ""
    return f"{part.name} {grade.reward:g}{reason}"
