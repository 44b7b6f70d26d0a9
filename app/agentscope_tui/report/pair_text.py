"""Two runs as lines for a terminal, each with its style."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from agentscope_tui.report.measures import Measure, plain_number
from agentscope_tui.report.pair import Change, Pair
from agentscope_tui.report.recordings import Recordings
from agentscope_tui.report.statistics import Paired
from agentscope_tui.report.text import SHOWN, Styled, table_and_commands, table_lines
from agentscope_tui.report.words import (
    counted,
    counts_of,
    difference_words,
    joined,
    reward_of,
    rewards_words,
    share,
    signed,
)
from agentscope_tui.text_table import Column, table_of

_INDENT = 2
_SIDES = ("first", "second")
_NAMED = 10
"""Rows that are named one by one."""
METHOD = "95 % by a paired t test, rows are the unit"


def pair_lines(pair: Pair, recordings: Recordings, width: int | None, *, every: bool) -> Iterator[Styled]:
    """The comparison. `width` is that of the terminal; None: nothing is cut."""
    for run, mark, style in ((pair.left, "-", "red"), (pair.right, "+", "green")):
        rewards = [f"reward {reward}"] if (reward := reward_of(run)) else []
        yield from (
            (line, style) for line in joined([f"{mark} {run.folder}", counts_of(run), *rewards], width)
        )
    yield from ((f"  {words}", "") for words in pair.settings)
    yield from ((f"  {words}", "yellow") for words in warnings_of(pair))
    yield "", ""
    yield from ((line, "bold") for line in joined(verdict_parts(pair), width))
    if not pair.rows:
        return
    yield from _measures(pair, width)
    yield from _passes(pair, width)
    yield from _changes(pair, recordings, width, every)


def warnings_of(pair: Pair) -> Iterator[str]:
    """What makes the comparison less than it seems."""
    if not pair.same_dataset:
        yield "the datasets differ: rows are matched by their index alone"
    if not pair.graded_alike:
        yield "they were not graded alike: `agentscope grade RUN --grader … --write` grades a run again"
    sides = zip(_SIDES, pair.alone, strict=True)
    if alone := [f"{counted(count, 'row')} only in the {side} one" for side, count in sides if count]:
        yield f"not compared: {', '.join(alone)}"
    for side, rows in zip(_SIDES, pair.ungraded, strict=True):
        if rows:
            some = ", ".join(map(str, rows[:_NAMED])) + (" …" if len(rows) > _NAMED else "")
            yield f"{counted(len(rows), 'row')} with a reward only in the {side} one: {some}"


def verdict_parts(pair: Pair) -> list[str]:
    """Whether the mean reward differs."""
    found = pair.reward
    if found is None:
        return ["no row has a reward in both runs" if pair.rows else "the runs have no row in common"]
    measure = pair.left.measures[0]
    difference, interval = difference_words(measure, found)
    of = f"{plain_number(found.left)} to {plain_number(found.right)}, {counted(found.rows, 'row')}"
    if found.interval is None:
        return [f"mean reward {difference} ({of})"]
    clear = "a clear difference" if found.is_clear else "no clear difference"
    return [f"mean reward {difference} ({of})", f"95 %: {interval}", clear]


def _measures(pair: Pair, width: int | None) -> Iterator[Styled]:
    yield "", ""
    columns: list[Column[tuple[Measure, Paired]]] = [
        Column("each rollout", 0, lambda one: one[0].name),
        Column("-", 0, lambda one: one[0].words(one[1].left), right=True),
        Column("+", 0, lambda one: one[0].words(one[1].right), right=True),
        Column("difference", 0, lambda one: difference_words(*one)[0], right=True),
        Column("95 %", 1, lambda one: difference_words(*one)[1], most=40),
        Column("clear", 2, lambda one: "yes" if one[1].is_clear else ""),
    ]
    yield from table_lines(table_of(pair.measures, columns, width and width - _INDENT))
    yield f"  {METHOD}", "dim"


def _passes(pair: Pair, width: int | None) -> Iterator[Styled]:
    parts = [f"pass@{one.k} {share(one.chance)} to {share(other.chance)}" for one, other in pair.pass_at]
    failed = pair.failures
    if any(failed):
        parts.append(f"failed rollouts {failed[0]:,} to {failed[1]:,}")
    if parts:
        yield "", ""
        yield from ((line, "") for line in joined(parts, width))


def _changes(pair: Pair, recordings: Recordings, width: int | None, every: bool) -> Iterator[Styled]:
    worse = [change for change in pair.changes if change.difference < 0]
    better = [change for change in reversed(pair.changes) if change.difference > 0]
    same = len(pair.rows) - len(worse) - len(better)
    flips = [sum(change.flipped for change in side) for side in (worse, better)]
    yield "", ""
    told = [f"{counted(len(worse), 'row')} worse", f"{len(better):,} better", f"{same:,} the same"]
    told.append(f"flipped: {flips[0]:,} pass no more, {flips[1]:,} pass now")
    yield from ((line, "bold") for line in joined(told, width))
    for title, side in (("worse", worse), ("better", better)):
        if side:
            yield f"{title}, the most first", "bold"
            yield from _table_of(pair, side if every else side[:SHOWN], recordings, width)
            if len(side) > SHOWN and not every:
                yield f"  … {len(side) - SHOWN:,} more rows (--all shows them)", "dim"


def _table_of(
    pair: Pair, changes: Sequence[Change], recordings: Recordings, width: int | None
) -> Iterator[Styled]:
    measure = pair.left.measures[0]
    columns: list[Column[Change]] = [
        Column("row", 0, lambda one: str(one.index), right=True),
        Column("difference", 0, lambda one: signed(measure, one.difference), right=True),
        Column("-", 3, lambda one: rewards_words(one.left), most=30),
        Column("+", 3, lambda one: rewards_words(one.right), most=30),
        Column("", 2, lambda one: one.mark if one.flipped else ""),
    ]
    compared = Column[Change](
        "agentscope compare", 0, partial(recordings.compared, pair.left, pair.right), most=400
    )
    yield from table_and_commands(changes, columns, compared, width)
