"""Several sessions of a row: their rewards in numbers, and their calls as strips."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentscope_tui.session.rollouts import pass_at, statistics_of, strips_of
from fakes.small_sessions import Did, past_session, state_of


@pytest.mark.parametrize(
    ("n", "passed", "k", "chance"),
    [
        (10, 3, 1, 0.3),
        (10, 3, 5, 1 - 21 / 252),
        (5, 0, 3, 0.0),
        (5, 5, 1, 1.0),
        (5, 3, 3, 1.0),
        (4, 2, 2, 5 / 6),
    ],
)
def test_pass_at_k_has_its_known_values(n: int, passed: int, k: int, chance: float):
    assert pass_at(n, passed, k) == pytest.approx(chance)


@given(st.integers(1, 7).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n))))
def test_pass_at_k_is_the_share_of_choices_with_one_that_passed(given: tuple[int, int, int]):
    n, passed, k = given
    choices = [*combinations([True] * passed + [False] * (n - passed), k)]
    assert pass_at(n, passed, k) == pytest.approx(sum(map(any, choices)) / len(choices))


def test_rewards_come_to_a_mean_a_deviation_the_best_and_the_worst():
    found = statistics_of([0.5, 1.0, None, 0.0, 1.0, 0.0])
    assert (found.sessions, found.graded, found.passed) == (6, 5, 2)
    assert found.mean == pytest.approx(0.5)
    assert found.deviation == pytest.approx(0.5)
    assert (found.best, found.worst) == (1, 3)
    assert found.pass_at(1) == pytest.approx(0.4)
    assert found.pass_at(5) == 1.0
    assert found.pass_at(6) is None


@pytest.mark.parametrize("rewards", [[], [None], [0.25]])
def test_few_rewards_come_to_less(rewards: list[float | None]):
    found = statistics_of(rewards)
    assert found.deviation is None
    assert found.mean == (rewards[0] if rewards else None)
    assert found.best == found.worst == (0 if found.graded else None)


def test_a_strip_has_a_cell_for_each_call_and_tells_how_many_are_the_same():
    look, done = Did("look", "bash"), Did("done")
    failed = Did("look", "bash", status="failed")
    submit = Did("", "submit", '{"answer": "4"}')
    rows = [(look, look, submit), (look, failed, look, done), (look, look)]
    found = strips_of([state_of(past_session(*did, session_id=str(n))) for n, did in enumerate(rows)])
    # That a tool failed is no other wish.
    assert found.common == 2
    assert found.strips == [
        ["tool", "tool", "submit"],
        ["tool", "error", "tool", "text"],
        ["tool", "tool"],
    ]
