"""A run's folder as a report reads it: which results count, what they come to, which rows are the worst."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentscope_tui.errors import UserError
from agentscope_tui.report.run import LAST, find_run, load
from fakes.run_folders import failed, result, run_of, write_recording, write_run


def test_the_newest_result_of_a_rollout_counts_and_damaged_lines_do_not(tmp_path: Path):
    run = run_of(
        tmp_path / "run",
        result(3, 0.0),
        result(1, 1.0, answer="long " * 1000),
        '{"row": 2, "state": "done", "reward": NaN}',
        '{"row": 2, "state": "done", "reward": 1e300}',
        '{"row": 2, "state": "done", "metrics": {"a": "b"}}',
        "{'row': 2",
        result(3, 0.5, answer="7"),
        '{"row": 4, "state": "do',
    )
    assert [(one.row, one.reward) for one in run.rollouts] == [(1, 1.0), (3, 0.5)]
    assert [one.answer for one in run.results.whole(iter([(3, 0)]))] == ["7"]


def test_a_run_comes_to_known_figures(tmp_path: Path):
    run = run_of(
        tmp_path / "run",
        *(result(0, reward, n) for n, reward in enumerate([1.0, 0.0, 1.0, 0.0])),
        *(result(1, 1.0, n) for n in range(4)),
        *(result(2, 0.0, n) for n in range(2)),
        failed(2, "boom", 2),
        failed(2, "boom", 3),
        failed(3, "bad row"),
        result(4, 0.9, state="stopped"),
    )
    assert run.states == {"done": 10, "failed": 3, "stopped": 1}
    reward = run.reward
    assert reward is not None
    # Row means 0.5, 1 and 0; those that failed as 0: 0.5, 1, 0 and 0.
    assert (reward.mean, reward.rows, reward.count) == (0.5, 3, 10)
    assert run.failed_as_nothing == pytest.approx(1.5 / 4)
    # pass@2 of 2 in 4: 1 - C(2,2)/C(4,2) = 5/6.
    assert [(one.k, one.rows) for one in run.pass_at] == [(1, 3), (2, 3), (3, 2), (4, 2)]
    assert [one.chance for one in run.pass_at] == pytest.approx([0.5, (5 / 6 + 1 + 0) / 3, 1, 1])
    assert run.reasons == [("boom", 2), ("bad row", 1)]
    assert [row.index for row in run.worst] == [3, 2, 0, 1, 4]
    assert run.worst[1].worst.error == "boom"
    assert run.worst[2].worst.key == (0, 1)
    assert run.worst[2].best.key == (0, 0)
    assert run.interval is not None
    assert run.interval[1] == "Student's t"


def test_from_which_reward_on_a_rollout_passes_is_chosen(tmp_path: Path):
    run = run_of(tmp_path / "run", result(0, 0.5), result(1, 0.49), passes=0.5)
    assert [one.chance for one in run.pass_at] == [0.5]


def test_the_interval_of_rewards_that_are_0_or_1_is_that_of_a_share(tmp_path: Path):
    run = run_of(tmp_path / "run", *(result(row, 1.0) for row in range(5)))
    assert run.interval is not None
    interval, method = run.interval
    assert (method, interval.high) == ("Wilson", 1.0)
    assert interval.low == pytest.approx(0.5655, abs=1e-4)


def test_metrics_are_measures_and_what_had_no_session_took_nothing(tmp_path: Path):
    run = run_of(
        tmp_path / "run",
        result(0, 1.0, metrics={"style": 0.25}, cost=0.5),
        result(1, 0.0, metrics={"style": 0.75, "calls": 9}),
        result(2, state="failed", session="", calls=0, seconds=0),
    )
    names = ["reward", "style", "calls", "calls", "input tokens", "output tokens", "cost", "time"]
    assert [measure.name for measure in run.measures] == names
    assert run.spreads["style"].mean == 0.5
    assert run.spreads["time"].count == 2


def test_runs_are_found_by_path_name_or_beginning(tmp_path: Path):
    runs = tmp_path / "runs"
    one, two = (write_run(runs / name, result(0, 1.0)) for name in ("20261128-one", "20261129-two"))
    (runs / "20261130-no-run").mkdir()
    assert find_run(str(one), runs) == one
    assert find_run("20261128-one", runs) == one
    assert find_run("20261129", runs) == two
    assert find_run(LAST, runs) == two
    with pytest.raises(UserError, match="2 runs begin with '2026'"):
        find_run("2026", runs)
    with pytest.raises(UserError, match="there is no run 'other'"):
        find_run("other", runs)
    with pytest.raises(UserError, match="has no results yet"):
        load(write_run(tmp_path / "empty"), 1.0)


def test_recordings_are_in_the_runs_folder_or_among_the_sessions_and_nowhere_else(tmp_path: Path):
    run = run_of(
        tmp_path / "run",
        *(result(row, session=name) for row, name in enumerate(["in", "out", "gone", "../in", ""])),
    )
    inside = write_recording(run.folder / "sessions", "in")
    outside = write_recording(tmp_path / "sessions", "out")
    write_recording(tmp_path / "run", "in")
    found = [run.recording(one, tmp_path / "sessions") for one in run.rollouts]
    assert found == [inside, outside, None, None, None]


@settings(max_examples=30, deadline=None)
@given(
    rewards=st.lists(
        st.lists(st.sampled_from([0.0, 0.25, 1.0]), min_size=1, max_size=5), min_size=1, max_size=8
    )
)
def test_pass_at_grows_with_k_where_all_rows_have_as_many(
    tmp_path_factory: pytest.TempPathFactory, rewards: list[list[float]]
):
    least = min(map(len, rewards))
    folder = tmp_path_factory.mktemp("runs") / "run"
    run = run_of(
        folder,
        *(result(row, one, n) for row, some in enumerate(rewards) for n, one in enumerate(some[:least])),
    )
    chances = [one.chance for one in run.pass_at]
    assert len(chances) == least
    assert chances == sorted(chances)
    assert all(0 <= chance <= 1 for chance in chances)
    assert run.reward is not None
    assert run.reward.least <= run.reward.mean <= run.reward.most
