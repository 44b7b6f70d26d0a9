"""Means, errors and intervals of reports: known values, and what must hold of any values."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentscope_tui.report.statistics import (
    Interval,
    mean_interval,
    paired,
    share_interval,
    spread,
    student,
)

FIGURES = st.floats(-1e6, 1e6)


@pytest.mark.parametrize(
    ("freedom", "quantile"),
    [
        (1, 12.7062),
        (2, 4.3027),
        (3, 3.1824),
        (4, 2.7764),
        (9, 2.2622),
        (10, 2.2281),
        (30, 2.0423),
        (60, 2.0003),
        (61, 1.9996),
        (120, 1.9799),
        (1000, 1.9623),
        (10**6, 1.9600),
    ],
)
def test_quantiles_of_students_t_are_those_of_the_tables(freedom: int, quantile: float):
    assert student(freedom) == pytest.approx(quantile, abs=6e-5)


def test_a_spread_has_rows_as_its_unit():
    # Row means 0.5, 1 and 0: mean 0.5, deviation 0.5, standard error 0.5 / sqrt 3.
    found = spread([[0.0, 1.0], [1.0, 1.0], [0.0], []])
    assert found is not None
    assert (found.rows, found.count) == (3, 5)
    assert found.mean == pytest.approx(0.5)
    assert found.error == pytest.approx(0.288675)
    assert found.interval is not None
    assert found.interval.low == pytest.approx(0.5 - 4.302653 * 0.288675, abs=1e-5)
    # Of 0 1 1 1 0: mean 0.6, squares 2 x 0.36 + 3 x 0.16 = 1.2, over 4.
    assert found.deviation == pytest.approx(math.sqrt(0.3))
    assert (found.least, found.median, found.most) == (0, 1, 1)


def test_few_figures_say_less():
    assert spread([]) is None
    assert spread([[]]) is None
    one = spread([[0.25]])
    assert one is not None
    assert (one.mean, one.error, one.interval, one.deviation) == (0.25, None, None, None)


@pytest.mark.parametrize(
    ("passed", "of", "low", "high"), [(8, 10, 0.4902, 0.9433), (0, 10, 0.0, 0.2775), (5, 5, 0.5655, 1.0)]
)
def test_intervals_of_shares_are_wilsons(passed: int, of: int, low: float, high: float):
    found = share_interval(passed, of)
    assert (found.low, found.high) == (pytest.approx(low, abs=1e-4), pytest.approx(high, abs=1e-4))


def test_a_paired_difference_has_its_known_interval():
    # Differences 0.1 0.3 0.2 0.4: mean 0.25, deviation 0.129099, error 0.0645497, t(3) 3.182446.
    found = paired([(0.1, 0.2), (0.2, 0.5), (0.3, 0.5), (0.4, 0.8)])
    assert found is not None
    assert (found.left, found.right) == (pytest.approx(0.25), pytest.approx(0.5))
    assert found.difference == pytest.approx(0.25)
    assert found.interval is not None
    assert found.interval.low == pytest.approx(0.25 - 0.205426, abs=1e-5)
    assert found.interval.high == pytest.approx(0.25 + 0.205426, abs=1e-5)
    assert found.is_clear
    assert paired([]) is None


@given(st.lists(FIGURES, min_size=1, max_size=30))
def test_a_run_does_not_differ_from_itself(figures: list[float]):
    found = paired([(figure, figure) for figure in figures])
    assert found is not None
    assert found.difference == 0
    assert found.interval == (Interval(0, 0) if len(figures) > 1 else None)
    assert not found.is_clear


@given(st.lists(st.tuples(FIGURES, FIGURES), min_size=1, max_size=30))
def test_swapping_the_runs_mirrors_the_difference(pairs: list[tuple[float, float]]):
    there, back = paired(pairs), paired([(right, left) for left, right in pairs])
    assert there is not None
    assert back is not None
    assert (there.left, there.right, there.difference) == (back.right, back.left, -back.difference)
    assert there.interval == (back.interval and back.interval.mirrored)
    assert there.is_clear == back.is_clear


@given(st.lists(FIGURES, min_size=2, max_size=30))
def test_a_mean_is_in_its_interval(figures: list[float]):
    found = mean_interval(figures)
    assert found is not None
    assert found.low <= sum(figures) / len(figures) + 1e-6
    assert found.high >= sum(figures) / len(figures) - 1e-6
