"""Runs of many rows in words and figures: what a row came to, how far a run is, and its rewards in bins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from agentscope_tui.batch.batch import Progress
from agentscope_tui.batch.results import RolloutResult
from agentscope_tui.datasets.record import Standing
from agentscope_tui.figures import dollars, seconds, thousands
from agentscope_tui.run_display import time_left
from agentscope_tui.session.rollouts import Statistics, statistics_of
from agentscope_tui.session.tally import Word
from agentscope_tui.tui.batches import RowRollouts, Run
from agentscope_widgets.look import Tone
from agentscope_widgets.row_columns import Column
from agentscope_widgets.row_list import RowCells

BINS = 10
"""Bins of a histogram of rewards."""


class Bins(NamedTuple):
    """How many values are in each of the bins from `low` to `high`, which are as wide as each other."""

    counts: Sequence[int]
    low: float
    high: float


# A row


def word_of(rollouts: RowRollouts) -> Word:
    """How a row's rollouts stand: as the one that wants most to be looked at."""
    if rollouts.running:
        words = [account.tally.word for account in rollouts.running]
        return next((word for word in ("waiting", "paused", "running") if word in words), words[0])
    words = [_word(result) for result in rollouts.ended]
    return next((word for word in ("failed", "limit", "stopped") if word in words), "done")


def standing_of_rollouts(rollouts: RowRollouts, now: datetime, sessions: int | None) -> Standing:
    """The same in the values that filters and orders see: of several rollouts the mean, of tokens the sum."""
    tallies = [account.tally for account in rollouts.running]
    calls = [tally.call for tally in tallies] + [result.calls for result in rollouts.ended]
    tokens = sum(tally.input_tokens + tally.output_tokens for tally in tallies)
    tokens += sum(result.input_tokens + result.output_tokens for result in rollouts.ended)
    times = [result.seconds for result in rollouts.ended]
    times += [
        ((tally.turn_ended or now) - tally.turn_started).total_seconds()
        for tally in tallies
        if tally.turn_started is not None
    ]
    return Standing(
        word_of(rollouts),
        round(sum(calls) / len(calls)) or None,
        statistics(rollouts).mean,
        sum(times) / len(times) if times else None,
        sessions,
        tokens or None,
        _metrics(rollouts),
    )


def statistics(rollouts: RowRollouts) -> Statistics:
    """What the rewards of a row's rollouts come to by now."""
    return statistics_of(
        [account.tally.reward for account in rollouts.running] + [result.reward for result in rollouts.ended]
    )


def _metrics(rollouts: RowRollouts) -> dict[str, float]:
    """The mean of each metric, over the rollouts that have it."""
    values: dict[str, list[float]] = {}
    for metrics in (
        *(account.tally.metrics for account in rollouts.running),
        *(result.metrics for result in rollouts.ended),
    ):
        for name, value in metrics.items():
            values.setdefault(name, []).append(value)
    return {name: sum(found) / len(found) for name, found in values.items()}


def rollout_texts(rollouts: RowRollouts, standing: Standing, glyph: str) -> dict[str, str]:
    """A row's cells by the keys of their columns."""
    found = statistics(rollouts)
    several = rollouts.total > 1
    texts = {
        "state": f"{glyph} {len(rollouts.ended)}/{rollouts.total}"
        if several
        else f"{glyph} {standing.state}",
        "calls": str(standing.calls or ""),
        "duration": "" if standing.duration is None else seconds(standing.duration),
    }
    if found.mean is not None:
        texts["reward"] = _mean(found) if several else f"{found.mean:g}"
    if several:
        texts["passes"] = " ".join(f"@{k} {chance:.2g}" for k, chance in _chances(found))
    return texts


def row_note(rollouts: RowRollouts) -> str:
    """On a row that is run several times: `mean 0.5±0.58 · pass@1 0.5 · pass@4 1`; empty: no reward."""
    found = statistics(rollouts)
    mean = "" if found.mean is None else f"mean {_mean(found)}"
    return " · ".join([mean, *(f"pass@{k} {chance:.2g}" for k, chance in _chances(found))]) if mean else ""


def _mean(found: Statistics) -> str:
    """The mean with its deviation, short enough for a column."""
    deviation = "" if found.deviation is None else f"±{found.deviation:.2g}"
    return f"{found.mean:.2g}{deviation}"


def _chances(found: Statistics) -> list[tuple[int, float]]:
    """(k, pass@k) for one rollout, and for all that have a reward."""
    wanted = dict.fromkeys((1, found.graded))
    return [(k, chance) for k in wanted if (chance := found.pass_at(k)) is not None]


def _word(result: RolloutResult) -> Word:
    if result.state == "failed" and result.outcome == "limit":
        return "limit"
    return result.state


# A run


def run_lines(run: Run, concurrency: int) -> list[str]:
    """What is to be said of a run, line by line; the first names it."""
    info, progress = run.info, run.progress
    head = [info.name, f"{len(run.rows):,} row{'s' * (len(run.rows) != 1)}"]
    if info.rollouts > 1:
        head[1] += f" × {info.rollouts}"
    head += [info.model, run.state]
    if run.running:
        head.append(f"{concurrency} at a time")
    return [" · ".join(head), " · ".join(counts_of(progress)), " · ".join(_figures(run))]


def counts_of(progress: Progress) -> list[str]:
    """How many rollouts have ended, and how."""
    parts = [f"{progress.done:,} done"]
    if progress.running:
        parts.append(f"{len(progress.running):,} running")
    parts.append(f"{progress.failed:,} failed")
    if waiting := progress.left - len(progress.running):
        parts.append(f"{waiting:,} to come")
    if progress.mean_reward is not None:
        parts.append(f"mean reward {progress.mean_reward:.3g}")
    return parts


def _figures(run: Run) -> list[str]:
    progress = run.progress
    parts = [f"{thousands(progress.input_tokens + progress.output_tokens)} tokens"]
    if run.running:
        parts.append(f"{progress.tokens_per_second:,.0f} tok/s")
    if progress.cost is not None:
        parts.append(dollars(progress.cost))
    if run.running:
        parts += [seconds(progress.seconds), time_left(progress.seconds_left)]
    return parts


def progress_notes(progress: Progress) -> list[str]:
    """How far a run is, in two short lines."""
    ended = progress.total - progress.left
    first = ["run", f"{ended:,}/{progress.total:,}", f"{len(progress.running):,} running"]
    second = [f"{progress.failed:,} failed", time_left(progress.seconds_left)]
    if progress.mean_reward is not None:
        second.insert(0, f"reward {progress.mean_reward:.3g}")
    return [" · ".join(first), " · ".join(second)]


def reward_bins(rewards: Sequence[float]) -> Bins:
    """The rewards in bins: from 0 to 1, or as far as there are others."""
    low, high = min([0.0, *rewards]), max([1.0, *rewards])
    counts = [0] * BINS
    for reward in rewards:
        counts[min(BINS - 1, int((reward - low) / (high - low) * BINS))] += 1
    return Bins(counts, low, high)


def ended_bins(results: Sequence[RolloutResult], bins: int) -> Bins:
    """How many rollouts ended when: in seconds since the first of them."""
    times = [result.ended.timestamp() for result in results if result.ended is not None]
    if not times:
        return Bins([0] * bins, 0.0, 0.0)
    low = min(times)
    high = max(max(times), low + bins)
    counts = [0] * bins
    for at in times:
        counts[min(bins - 1, int((at - low) / (high - low) * bins))] += 1
    return Bins(counts, 0.0, high - low)


# The list of runs

COLUMNS = (
    Column("name", "run", least=20, most=44),
    Column("state", "state", least=8, most=14, style="tone"),
    Column("ended", "ended", least=5, most=15, right=True),
    Column("failed", "failed", least=4, most=9, right=True, style="muted"),
    Column("reward", "reward", least=5, most=8, right=True, style="tone"),
    Column("tokens", "tokens", least=5, most=8, right=True, style="muted", narrow="hidden"),
    Column("model", "model", least=8, most=40, style="muted"),
)


def run_cells(place: int, run: Run, *, marked: bool) -> RowCells:
    """A run's cells."""
    progress = run.progress
    glyph, tone = _RUN_LOOKS[_short_state(run)]
    ended = progress.total - progress.left
    texts = {
        "index": f"{place + 1}",
        "name": run.info.name,
        "state": f"{glyph} {_short_state(run)}",
        "ended": f"{ended:,}/{progress.total:,}",
        "failed": f"{progress.failed:,}" if progress.failed else "",
        "reward": "" if progress.mean_reward is None else f"{progress.mean_reward:.3g}",
        "tokens": thousands(progress.input_tokens + progress.output_tokens),
        "model": run.info.model,
    }
    return RowCells(place, texts, tone, marked)


_RUN_LOOKS: Mapping[str, tuple[str, Tone]] = {
    "running": ("●", "accent"),
    "done": ("✓", "success"),
    "stopped": ("■", "warning"),
    "partial": ("◐", "warning"),
}


def _short_state(run: Run) -> str:
    if run.running:
        return "running"
    if run.complete:
        return "done"
    return "stopped" if run.state.startswith("stopped") else "partial"
