"""Several sessions of one row: what their rewards come to, and each as a strip of one cell a call."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from agentscope_tui.session.comparing import common_calls
from agentscope_tui.session.parts import Call, calls_of
from agentscope_tui.session.state import SessionState

PASSED = 1.0
"""The reward from which on a session counts as passed."""

Cell = Literal["text", "tool", "submit", "error", "interrupted"]
"""What a call came to: an answer, tools that ran, the answer handed in, something that failed, a cut."""


@dataclass(frozen=True, slots=True)
class Statistics:
    """`deviation` is the sample's, None of fewer than two; `best` and `worst` are positions of sessions, the
    first of several as good. Sessions without a reward count in none of it."""

    sessions: int
    graded: int
    passed: int
    mean: float | None
    deviation: float | None
    best: int | None
    worst: int | None

    def pass_at(self, k: int) -> float | None:
        """The chance that of `k` sessions one passes; None where fewer were graded."""
        return pass_at(self.graded, self.passed, k) if 0 < k <= self.graded else None


@dataclass(frozen=True, slots=True)
class Strips:
    """A strip for each session. In the first `common` calls all want the same of the same tools."""

    common: int
    strips: Sequence[Sequence[Cell]]


def pass_at(n: int, passed: int, k: int) -> float:
    """The chance that one of `k` sessions passes, as `passed` of `n` did: 1 - C(n - passed, k) / C(n, k), an
    estimate without bias (Chen et al. 2021)."""
    return 1.0 - math.comb(n - passed, k) / math.comb(n, k)


def statistics_of(rewards: Sequence[float | None], *, passes: float = PASSED) -> Statistics:
    """What the rewards of a row's sessions come to; None is no reward."""
    graded = [(reward, -place) for place, reward in enumerate(rewards) if reward is not None]
    values = [reward for reward, _ in graded]
    return Statistics(
        sessions=len(rewards),
        graded=len(values),
        passed=sum(reward >= passes for reward in values),
        mean=statistics.fmean(values) if values else None,
        deviation=statistics.stdev(values) if len(values) > 1 else None,
        best=-max(graded)[1] if graded else None,
        worst=-min(graded, key=lambda one: (one[0], -one[1]))[1] if graded else None,
    )


def strips_of(states: Sequence[SessionState]) -> Strips:
    """The sessions' calls as cells."""
    strips = [[_cell(call) for call in calls_of(state)[1:]] for state in states]
    return Strips(common_calls(states), strips)


def _cell(call: Call) -> Cell:
    tools = [part for part in call.parts if part.kind == "tool"]
    if any(part.kind == "error" for part in call.parts) or any(part.state == "failed" for part in tools):
        return "error"
    if any(part.state in ("cut off", "interrupted") for part in call.parts):
        return "interrupted"
    if any(part.name == "submit" for part in tools):
        return "submit"
    return "tool" if tools else "text"
