"""Figures counted in bins, whose edges are round numbers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

_MOST_VALUES = 11
"""Different values up to which each has a bin of its own."""
_BINS = 10


@dataclass(frozen=True, slots=True)
class Bin:
    """How many figures are from `low` on and below `high`; the last bin has its `high` too. A bin of one
    value has it as both."""

    low: float
    high: float
    count: int


def bins_of(values: Sequence[float]) -> Sequence[Bin]:
    """The figures in bins, in order: none of none. Between 0 and 1 they are tenths, as rewards are read."""
    if not values:
        return []
    counts = Counter(values)
    if len(counts) <= _MOST_VALUES:
        return [Bin(value, value, counts[value]) for value in sorted(counts)]
    least, most = min(counts), max(counts)
    step = 0.1 if least >= 0 and most <= 1 < 2 * most else round_step((most - least) / _BINS)
    first = math.floor(least / step)
    number = max(1, math.ceil(most / step) - first)
    heights = [0] * number
    for value, count in counts.items():
        # Edges as they are written: 3 * 0.1 is not 0.3.
        place = math.floor(value / step + 1e-9) - first
        heights[min(max(place, 0), number - 1)] += count
    return [
        Bin(_edge(first + place, step), _edge(first + place + 1, step), count)
        for place, count in enumerate(heights)
    ]


def round_step(least: float) -> float:
    """The smallest of 1, 2 and 5 times a power of ten that is not below `least`."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(power * step for step in (1, 2, 5, 10) if power * step >= least * (1 - 1e-9))


def _edge(number: int, step: float) -> float:
    return float(f"{number * step:.15g}")
