"""Figures in bins: round edges, and every figure in the bin that it belongs to."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentscope_tui.report.bins import Bin, bins_of, round_step


def test_few_values_have_a_bin_each():
    assert bins_of([1.0, 0.0, 1.0, 0.5]) == [Bin(0.0, 0.0, 1), Bin(0.5, 0.5, 1), Bin(1.0, 1.0, 2)]
    assert bins_of([]) == []


def test_rewards_are_counted_in_tenths_and_an_edge_belongs_to_the_bin_above_it():
    bins = bins_of([*(n / 20 for n in range(20)), 0.3, 1.0])
    assert [(one.low, one.high) for one in bins] == [(n / 10, (n + 1) / 10) for n in range(10)]
    assert [one.count for one in bins] == [2, 2, 2, 3, 2, 2, 2, 2, 2, 3]


@pytest.mark.parametrize(("least", "step"), [(0.011, 0.02), (0.2, 0.2), (3, 5), (70, 100), (1e-9, 1e-9)])
def test_steps_are_round(least: float, step: float):
    assert round_step(least) == pytest.approx(step)


@given(st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=60))
def test_all_figures_are_counted_in_bins_without_gaps(values: list[float]):
    bins = bins_of(values)
    assert sum(one.count for one in bins) == len(values)
    assert bins[0].low <= min(values)
    assert bins[-1].high >= max(values) - abs(max(values)) * 1e-9 - 1e-9
    if bins[0].low != bins[0].high:
        assert [one.high for one in bins[:-1]] == [one.low for one in bins[1:]]
        assert len(bins) <= 13
