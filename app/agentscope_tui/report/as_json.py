"""A run, or two of them, as JSON data: all that the report says, with figures that are not rounded."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from agentscope_tui.report.measures import REWARD
from agentscope_tui.report.pair import Change, Pair
from agentscope_tui.report.pair_text import METHOD, warnings_of
from agentscope_tui.report.reading import Rollout
from agentscope_tui.report.recordings import Recordings
from agentscope_tui.report.run import Row, Run
from agentscope_tui.report.statistics import Paired
from agentscope_tui.report.text import SHOWN
from agentscope_tui.secrets import MASKER


def run_in_json(run: Run, recordings: Recordings, *, every: bool) -> dict[str, Any]:
    """A run. Its rows and failures are the worst ones, or `every` one."""
    rows = run.worst if every else run.worst[:SHOWN]
    failed = run.failed if every else run.failed[:SHOWN]
    rewards = next(measure for measure in run.measures if measure.name == REWARD)
    return _masked(
        {
            **_summary(run),
            "histogram": [asdict(one) for one in run.bins(rewards)],
            "reasons": [{"error": error, "failed": count} for error, count in run.reasons],
            "failures": [{"error": one.error, **_rollout(run, one, recordings)} for one in failed],
            "worst": [_row(run, row, recordings) for row in rows],
        }
    )


def pair_in_json(pair: Pair, recordings: Recordings, *, every: bool) -> dict[str, Any]:
    """Two runs; differences are right less left. The rows that changed are the first of those that got worse
    and better, or `every` one."""
    worse = [change for change in pair.changes if change.difference < 0]
    better = [change for change in reversed(pair.changes) if change.difference > 0]
    most = None if every else SHOWN
    reward = pair.reward
    return _masked(
        {
            "left": _summary(pair.left),
            "right": _summary(pair.right),
            "same_dataset": pair.same_dataset,
            "warnings": [*warnings_of(pair)],
            "settings": [*pair.settings],
            "rows": len(pair.rows),
            "reward_only_in": dict(zip(("left", "right"), pair.ungraded, strict=True)),
            "method": METHOD,
            "reward": None if reward is None else _paired(reward),
            "measures": {measure.name: _paired(found) for measure, found in pair.measures},
            "failed": dict(zip(("left", "right"), pair.failures, strict=True)),
            "worse": len(worse),
            "better": len(better),
            "pass_now": sum(change.flipped for change in better),
            "pass_no_more": sum(change.flipped for change in worse),
            "rows_worse": [_change(pair, change, recordings) for change in worse[:most]],
            "rows_better": [_change(pair, change, recordings) for change in better[:most]],
        }
    )


def _summary(run: Run) -> dict[str, Any]:
    return {
        "run": str(run.folder),
        **asdict(run.info),
        "created": run.info.created.isoformat(),
        "rows_run": len(run.rows),
        "counts": {state: run.states[state] for state in ("done", "failed", "stopped")},
        "interval": None if run.interval is None else {**asdict(run.interval[0]), "method": run.interval[1]},
        "mean_reward_failed_as_0": run.failed_as_nothing,
        "passes": run.passes,
        "pass_at": [asdict(one) for one in run.pass_at],
        "measures": {name: asdict(found) for name, found in run.spreads.items()},
    }


def _paired(found: Paired) -> dict[str, Any]:
    return {**asdict(found), "clear": found.is_clear}


def _rollout(run: Run, rollout: Rollout, recordings: Recordings) -> dict[str, Any]:
    folder = recordings.folder(run, rollout)
    return {
        "row": rollout.row,
        "rollout": rollout.rollout,
        "session": rollout.session,
        "recording": None if folder is None else str(folder),
    }


def _row(run: Run, row: Row, recordings: Recordings) -> dict[str, Any]:
    rollouts = [
        {**_rollout(run, one, recordings), "state": one.state, "reward": one.reward} for one in row.rollouts
    ]
    return {
        "row": row.index,
        "task": recordings.prompt(run, row.worst),
        "measures": {one.name: value for one in run.measures if (value := row.figure(one)) is not None},
        "rollouts": rollouts,
    }


def _change(pair: Pair, change: Change, recordings: Recordings) -> dict[str, Any]:
    compared = recordings.compared(pair.left, pair.right, change)
    return {
        "row": change.index,
        "left": change.left.mean,
        "right": change.right.mean,
        "difference": change.difference,
        "flipped": change.flipped,
        "compare": f"agentscope compare {compared}" if compared else None,
    }


def _masked(found: dict[str, Any]) -> dict[str, Any]:
    masked: dict[str, Any] = MASKER.masked(found)
    return masked
