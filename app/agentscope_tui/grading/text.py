"""Graders that compare text: `exact` and `contains`.

Both compare after the same normalisation: space at the ends is dropped, any run of white space becomes one
space. Upper and lower case stay different.
"""

from __future__ import annotations

from dataclasses import dataclass

from agentscope_tui.grading.grader import Grade, GradeInput, ground_truth_of, shorten


def normalised(text: str) -> str:
    """The text as both graders compare it."""
    return " ".join(text.split())


@dataclass(frozen=True)
class ExactGrader:
    """1.0 where the answer is the ground truth."""

    name: str = "exact"

    async def grade(self, given: GradeInput) -> Grade:
        truth = normalised(ground_truth_of(given.task, self.name))
        answer = normalised(given.answer)
        if answer == truth:
            return Grade(1.0, "the answer is the ground truth")
        return Grade(0.0, f"expected {shorten(truth)!r}, got {shorten(answer)!r}")


@dataclass(frozen=True)
class ContainsGrader:
    """1.0 where the ground truth is somewhere in the answer."""

    name: str = "contains"

    async def grade(self, given: GradeInput) -> Grade:
        truth = normalised(ground_truth_of(given.task, self.name))
        if truth in normalised(given.answer):
            return Grade(1.0, f"the answer contains {shorten(truth)!r}")
        return Grade(0.0, f"the answer does not contain {shorten(truth)!r}")
