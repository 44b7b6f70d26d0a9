"""Means and how sure they are: standard errors and 95 % intervals, of one sample and of pairs.

Rows are the unit: several rollouts of a row tell of that row, and count as their mean. All figures that come
in are finite, and small enough to be squared (see `reading.Figure`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import fmean, median

_Z = 1.959963984540054
"""97.5 % of a normal distribution lie below."""
_SERIES_UP_TO = 60
"""Degrees of freedom up to which Student's distribution is summed; beyond, an expansion is as exact."""


@dataclass(frozen=True, slots=True)
class Interval:
    """From `low` to `high`, both in it."""

    low: float
    high: float

    @property
    def mirrored(self) -> Interval:
        """The same on the other side of 0."""
        return Interval(-self.high, -self.low)


@dataclass(frozen=True, slots=True)
class Spread:
    """Figures of rollouts, grouped by row. `mean` is the mean of the rows' means, `error` its standard error;
    the rest is of the figures themselves, whichever row they are of. What takes two is None of one."""

    rows: int
    count: int
    mean: float
    error: float | None
    interval: Interval | None
    deviation: float | None
    least: float
    median: float
    most: float


@dataclass(frozen=True, slots=True)
class Paired:
    """One figure of the same rows in two runs, and the mean of the rows' differences, right less left."""

    rows: int
    left: float
    right: float
    difference: float
    interval: Interval | None

    @property
    def is_clear(self) -> bool:
        """Whether 0, no difference, lies outside of the interval."""
        return self.interval is not None and not self.interval.low <= 0 <= self.interval.high


def spread(rows: Sequence[Sequence[float]]) -> Spread | None:
    """Figures by row; None where there are none."""
    means = [fmean(row) for row in rows if row]
    values = [value for row in rows for value in row]
    if not values:
        return None
    error = standard_error(means)
    return Spread(
        rows=len(means),
        count=len(values),
        mean=fmean(means),
        error=error,
        interval=mean_interval(means),
        deviation=deviation(values),
        least=min(values),
        median=median(values),
        most=max(values),
    )


def paired(pairs: Sequence[tuple[float, float]]) -> Paired | None:
    """The rows' means, left and right; None of no rows. The interval is that of a paired t test."""
    if not pairs:
        return None
    differences = [right - left for left, right in pairs]
    return Paired(
        rows=len(pairs),
        left=fmean(left for left, _ in pairs),
        right=fmean(right for _, right in pairs),
        difference=fmean(differences),
        interval=mean_interval(differences),
    )


def deviation(values: Sequence[float]) -> float | None:
    """The sample's standard deviation; None of fewer than two values."""
    if len(values) < 2:
        return None
    mean = fmean(values)
    return math.sqrt(math.fsum((value - mean) * (value - mean) for value in values) / (len(values) - 1))


def standard_error(values: Sequence[float]) -> float | None:
    """Of the values' mean; None of fewer than two values."""
    found = deviation(values)
    return None if found is None else found / math.sqrt(len(values))


def mean_interval(values: Sequence[float]) -> Interval | None:
    """Where the mean lies, with 95 % confidence by Student's t; None of fewer than two values."""
    error = standard_error(values)
    if error is None:
        return None
    mean, half = fmean(values), student(len(values) - 1) * error
    return Interval(mean - half, mean + half)


def share_interval(passed: int, of: int) -> Interval:
    """Where a share lies, with 95 % confidence by Wilson's score: also of few rows, and of none or all."""
    share, extra = passed / of, _Z * _Z / of
    centre = (share + extra / 2) / (1 + extra)
    half = _Z / (1 + extra) * math.sqrt(share * (1 - share) / of + extra / of / 4)
    return Interval(max(0.0, centre - half), min(1.0, centre + half))


@lru_cache(maxsize=64)
def student(freedom: int) -> float:
    """Below which 97.5 % of Student's t with so many degrees of freedom lie."""
    if freedom > _SERIES_UP_TO:
        return _expanded(freedom)
    low, high = 0.0, math.pi / 2
    for _ in range(60):
        angle = (low + high) / 2
        low, high = (angle, high) if _within(angle, freedom) < 0.95 else (low, angle)
    return math.sqrt(freedom) * math.tan(low)


def _within(angle: float, freedom: int) -> float:
    """The chance that |t| is below sqrt(freedom) * tan(angle) (Abramowitz and Stegun 26.7.3 and 26.7.4)."""
    sine, cosine = math.sin(angle), math.cos(angle)
    term, total = (cosine, 0.0) if freedom % 2 else (1.0, 0.0)
    for step in range(freedom % 2 + 1, freedom, 2):
        total += term
        term *= cosine * cosine * step / (step + 1)
    return (angle + sine * total) * 2 / math.pi if freedom % 2 else sine * total


def _expanded(freedom: int) -> float:
    """Student's quantile from the normal one (Abramowitz and Stegun 26.7.5)."""
    z, v = _Z, freedom
    return (
        z
        + (z**3 + z) / (4 * v)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * v**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * v**3)
    )
