"""Two runs beside each other: rows matched, differences, flips, and what makes them hard to compare."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentscope_tui.report.pair import Pair
from agentscope_tui.report.pair_text import verdict_parts, warnings_of
from agentscope_tui.report.statistics import Interval
from fakes.run_folders import failed, result, run_of


def test_rows_are_matched_and_their_differences_are_the_unit(tmp_path: Path):
    left = run_of(
        tmp_path / "left",
        *(result(0, reward, n) for n, reward in enumerate([1.0, 0.0])),
        result(1, 1.0),
        result(2, 0.2),
        result(3, 0.5),
        failed(4, "boom"),
        result(8, 1.0),
    )
    right = run_of(
        tmp_path / "right",
        *(result(0, reward, n) for n, reward in enumerate([1.0, 1.0])),
        result(1, 0.5, calls=5),
        result(2, 0.6),
        result(3, 0.5),
        result(4, 1.0),
        result(9, 1.0),
        model="openai:large",
    )
    pair = Pair(left, right)
    # Rows 0 to 3: +0.5, -0.5, +0.4, 0: mean 0.1, deviation 0.454606, error 0.227303, t(3) 3.182446.
    found = pair.reward
    assert found is not None
    assert (found.rows, found.difference) == (4, pytest.approx(0.1))
    assert found.interval is not None
    assert found.interval.low == pytest.approx(0.1 - 0.723379, abs=1e-5)
    assert not found.is_clear
    assert [(one.index, one.mark) for one in pair.changes] == [
        (1, "passes no more"),
        (2, "better"),
        (0, "passes now"),
    ]
    assert pair.alone == (1, 1)
    assert pair.failures == (1, 0)
    assert pair.settings == ['the model was "openai:small" and is "openai:large"']
    calls = {measure.name: found for measure, found in pair.measures}["calls"]
    assert (calls.rows, calls.difference) == (5, pytest.approx(0.6))
    assert verdict_parts(pair) == [
        "mean reward +0.1 (0.55 to 0.65, 4 rows)",
        "95 %: −0.623 to +0.823",
        "no clear difference",
    ]
    assert [*warnings_of(pair)] == [
        "not compared: 1 row only in the first one, 1 row only in the second one",
        "1 row with a reward only in the second one: 4",
    ]


def test_a_clear_difference_is_called_one(tmp_path: Path):
    left = run_of(tmp_path / "left", *(result(row, row / 100) for row in range(10)))
    right = run_of(tmp_path / "right", *(result(row, row / 100 + 0.5) for row in range(10)))
    assert verdict_parts(Pair(left, right))[-1] == "a clear difference"


def test_other_datasets_are_said(tmp_path: Path):
    left = run_of(tmp_path / "left", result(0, 1.0))
    right = run_of(tmp_path / "right", result(0, 1.0), dataset_identity="d2")
    assert [*warnings_of(Pair(left, right))] == ["the datasets differ: rows are matched by their index alone"]


def test_runs_that_were_graded_again_in_other_ways_are_said(tmp_path: Path):
    again = [{"at": "2026-11-30T00:00:00+00:00", "grader": "numeric", "judge": None}]
    left = run_of(tmp_path / "left", result(0, 1.0))
    right = run_of(tmp_path / "right", result(0, 1.0), regraded=again)
    assert [words.partition(":")[0] for words in warnings_of(Pair(left, right))] == [
        "they were not graded alike"
    ]
    same = run_of(
        tmp_path / "same", result(0, 1.0), regraded=[{**again[0], "at": "2026-12-01T00:00:00+00:00"}]
    )
    assert [*warnings_of(Pair(right, same))] == []


def test_runs_without_a_row_or_a_reward_in_common_are_told(tmp_path: Path):
    one = run_of(tmp_path / "one", result(0, 1.0))
    other = run_of(tmp_path / "other", result(1, 1.0))
    ungraded = run_of(tmp_path / "ungraded", result(0))
    assert verdict_parts(Pair(one, other)) == ["the runs have no row in common"]
    assert verdict_parts(Pair(one, ungraded)) == ["no row has a reward in both runs"]


REWARDS = st.lists(st.sampled_from([None, 0.0, 0.25, 1.0]), min_size=1, max_size=8)


@settings(max_examples=30, deadline=None)
@given(rewards=REWARDS, others=REWARDS)
def test_a_run_equals_itself_and_swapping_mirrors(
    tmp_path_factory: pytest.TempPathFactory, rewards: list[float | None], others: list[float | None]
):
    folder = tmp_path_factory.mktemp("runs")
    left = run_of(folder / "left", *(result(row, one) for row, one in enumerate(rewards)))
    right = run_of(folder / "right", *(result(row, one) for row, one in enumerate(others)))
    itself = Pair(left, left)
    assert itself.changes == []
    for _, found in itself.measures:
        assert found.difference == 0
        assert found.interval in (None, Interval(0, 0))
    there, back = Pair(left, right), Pair(right, left)
    assert [(one.index, one.difference) for one in there.changes] == sorted(
        ((one.index, -one.difference) for one in back.changes), key=lambda one: (one[1], one[0])
    )
    assert {one.name: found.difference for one, found in there.measures} == {
        one.name: -found.difference for one, found in back.measures
    }
