"""Runs in figures: what a row came to, bins of rewards and of times, and the row to look at next."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from agentscope_tui.batch.results import RolloutResult
from agentscope_tui.batch.rollout import Account, Job
from agentscope_tui.batch.selection import spans_of
from agentscope_tui.datasets.task import Task
from agentscope_tui.options import parse_rows, rows_text
from agentscope_tui.tui.batches import RowRollouts
from agentscope_tui.tui.present.runs import (
    BINS,
    ended_bins,
    reward_bins,
    rollout_texts,
    row_note,
    standing_of_rollouts,
    word_of,
)

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)


def result(**fields: object) -> RolloutResult:
    return RolloutResult(**{"row": 3, "state": "done", "session": "a", "calls": 2, "seconds": 4.0, **fields})


def row(total: int, *results: RolloutResult, running: int = 0) -> RowRollouts:
    accounts = [Account(Job(Task(3, 4, "do it"), number), session=f"z{number}") for number in range(running)]
    return RowRollouts(total, accounts, results)


def test_one_rollout_reads_like_a_session():
    rollouts = row(1, result(reward=1.0, input_tokens=900, output_tokens=100, metrics={"style": 0.5}))
    standing = standing_of_rollouts(rollouts, NOW, 7)
    assert (standing.state, standing.calls, standing.tokens, standing.sessions) == ("done", 2, 1000, 7)
    assert rollout_texts(rollouts, standing, "✓") == {
        "state": "✓ done",
        "calls": "2",
        "duration": "4.0 s",
        "reward": "1",
    }
    assert standing.metrics == {"style": 0.5}


def test_several_are_told_by_mean_deviation_and_chances():
    rollouts = row(4, *(result(rollout=at, reward=reward) for at, reward in enumerate((1.0, 0.0, 1.0, 0.0))))
    standing = standing_of_rollouts(rollouts, NOW, None)
    texts = rollout_texts(rollouts, standing, "✓")
    assert (texts["state"], texts["reward"], texts["passes"]) == ("✓ 4/4", "0.5±0.58", "@1 0.5 @4 1")
    assert row_note(rollouts) == "mean 0.5±0.58 · pass@1 0.5 · pass@4 1"
    assert standing.reward == 0.5


def test_of_several_the_one_that_wants_to_be_looked_at_gives_the_word():
    assert word_of(row(2, result(), running=1)) == "starting"
    assert word_of(row(2, result(), result(state="failed"))) == "failed"
    assert word_of(row(2, result(), result(state="failed", outcome="limit"))) == "limit"
    assert word_of(row(2, result(), result(state="stopped"))) == "stopped"


def test_nothing_is_told_of_rewards_that_are_not_there():
    rollouts = row(2, running=2)
    texts = rollout_texts(rollouts, standing_of_rollouts(rollouts, NOW, None), "●")
    assert texts["state"] == "● 0/2"
    assert "reward" not in texts
    assert row_note(rollouts) == ""


def test_the_newest_session_is_the_one_with_the_last_id():
    assert row(3, result(session="20"), result(session="")).newest == "20"
    assert row(3, result(session="20"), running=1).newest == "z0"
    assert row(1, result(session="")).newest == ""


@given(st.lists(st.floats(-1e6, 1e6)))
def test_every_reward_is_in_a_bin_between_the_ends(rewards: list[float]):
    bins = reward_bins(rewards)
    assert (sum(bins.counts), len(bins.counts)) == (len(rewards), BINS)
    assert (bins.low, bins.high) == (min([0.0, *rewards]), max([1.0, *rewards]))


def test_rewards_at_the_ends_are_in_the_first_and_the_last_bin():
    assert reward_bins([0.0, 0.5, 1.0, 1.0]).counts == [1, 0, 0, 0, 0, 1, 0, 0, 0, 2]


def test_rollouts_are_binned_by_when_they_ended():
    times = [NOW, NOW + timedelta(seconds=1), NOW + timedelta(seconds=100)]
    bins = ended_bins([result(ended=at) for at in times] + [result()], 4)
    assert (list(bins.counts), bins.high) == ([2, 0, 0, 1], 100.0)
    assert ended_bins([], 3).counts == [0, 0, 0]


@given(st.lists(st.integers(0, 30), unique=True))
def test_rows_are_written_down_and_read_again(rows: list[int]):
    spans = list(spans_of(rows))
    text = rows_text(spans)
    assert list(parse_rows(text or None)) == spans
    assert [index for start, last in spans for index in range(start, last + 1)] == rows
    assert rows_text(parse_rows("0-2,7,20-")) == "0-2,7,20-"
