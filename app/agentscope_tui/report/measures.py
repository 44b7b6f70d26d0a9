"""What is measured of a rollout: its reward, the grader's metrics, and what it took."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter

from agentscope_tui.figures import dollars
from agentscope_tui.figures import seconds as clock_words
from agentscope_tui.report.reading import Rollout

MOST_METRICS = 50
"""Metrics of a grader that a report has; there is no end of names that one may give."""
REWARD = "reward"


@dataclass(frozen=True)
class Measure:
    """`of` gives the figure of a rollout, None where it has none; `words` writes one; `better` says whether
    more of it is good: 1, less: -1, or nobody knows: 0."""

    name: str
    of: Callable[[Rollout], float | None]
    words: Callable[[float], str]
    better: int = 0


def plain_number(value: float) -> str:
    """Of three digits or so: `0.625`, `12`, `1,234`, `−0.5`."""
    if value < 0:
        return f"−{plain_number(-value)}"
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def _time(value: float) -> str:
    """A duration, to tell apart also short ones: `0.756 s`, `1:02`."""
    return f"{plain_number(value)} s" if value < 60 else clock_words(value)


def measures_of(rollouts: Iterable[Rollout]) -> Sequence[Measure]:
    """Those that any of the rollouts has."""
    names: dict[str, None] = {}
    has_cost = False
    for rollout in rollouts:
        if rollout.metrics and len(names) < MOST_METRICS:
            names.update(dict.fromkeys(rollout.metrics))
        has_cost = has_cost or rollout.cost is not None
    metrics = [Measure(name, _metric(name), plain_number) for name in [*names][:MOST_METRICS]]
    cost = [Measure("cost", _ran("cost"), dollars, -1)] if has_cost else []
    return [
        Measure(REWARD, attrgetter("graded"), plain_number, 1),
        *metrics,
        Measure("calls", _ran("calls"), plain_number, -1),
        Measure("input tokens", _ran("input_tokens"), plain_number, -1),
        Measure("output tokens", _ran("output_tokens"), plain_number, -1),
        *cost,
        Measure("time", _ran("seconds"), _time, -1),
    ]


def _metric(name: str) -> Callable[[Rollout], float | None]:
    return lambda rollout: rollout.metrics.get(name) if rollout.state == "done" else None


def _ran(name: str) -> Callable[[Rollout], float | None]:
    """What a rollout took that came to its end, also to a bad one, and that had a session."""
    get = attrgetter(name)
    return lambda rollout: get(rollout) if rollout.state != "stopped" and rollout.session else None
