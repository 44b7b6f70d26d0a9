"""Scores of Inspect as rewards: numbers as they are, and the letters of its scorers."""

from __future__ import annotations

from typing import Any

from agentscope_tui.events import Graded
from agentscope_tui.store.imports.building import EventBuilder
from agentscope_tui.store.imports.fields import Fields, number_of
from agentscope_tui.store.imports.messages import as_text

_LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
"""Correct, partly, incorrect, no answer."""


def score_number(value: Any) -> float | None:
    """The reward that a score's value is."""
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, str):
        return _LETTERS.get(value)
    return number_of(value)


def reward_of(scores: Any) -> float | None:
    """The reward of a sample: that of the first scorer that gives a number."""
    found = scores.values() if isinstance(scores, dict) else ()
    numbers = (score_number(score.get("value")) for score in found if isinstance(score, dict))
    return next((number for number in numbers if number is not None), None)


def tell_scores(builder: EventBuilder, scores: Fields) -> None:
    """Tell all scores. A session's reward is the last one that is told: so the first scorer's comes last."""
    for name in scores.names[::-1]:
        score = scores.inner(name)
        if not score.names:
            continue
        value = score.peek("value")
        metrics = {key: number_of(item) for key, item in value.items()} if isinstance(value, dict) else {}
        numbers = {key: number for key, number in metrics.items() if number is not None}
        reward = score_number(value)
        if reward is not None:
            score.drop("value")
        known = reward is not None or bool(numbers)
        reason = score.text("explanation") or as_text(score.peek("answer") or "")
        builder.grade(
            Graded(
                grader=name,
                turn=0,
                reward=reward,
                reason=reason,
                metrics=numbers,
                error=None if known else f"the score is no number: {as_text(value)[:80]}",
            )
        )
