"""A run as lines for a terminal, each with its style."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TypeVar

from agentscope_tui.figures import dollars, seconds, thousands
from agentscope_tui.report.measures import REWARD, Measure
from agentscope_tui.report.reading import Rollout
from agentscope_tui.report.recordings import Recordings
from agentscope_tui.report.run import Row, Run
from agentscope_tui.report.statistics import Spread
from agentscope_tui.report.words import (
    bars,
    bin_words,
    brief,
    counted,
    counts_of,
    facts_of,
    joined,
    pass_words,
    reward_notes,
    reward_of,
    rewards_words,
    totals_of,
)
from agentscope_tui.text_table import Column, table_of

T = TypeVar("T")
Styled = tuple[str, str]
"""A line, and how it is drawn on a terminal."""

SHOWN = 15
"""Rows, and failures, that are printed unless all are asked for."""
_BAR = 40
_INDENT = 2
_BESIDE = 36
"""Cells that the rest of a table takes beside commands."""
_CUT = 400
"""Characters of a text in a table that is not cut."""


def run_lines(run: Run, recordings: Recordings, width: int | None, *, every: bool) -> Iterator[Styled]:
    """The report. `width` is that of the terminal; None: nothing is cut."""
    yield str(run.folder), "bold"
    yield from ((f"  {name:9}{value}", "dim") for name, value in facts_of(run))
    yield "", ""
    yield counts_of(run), "bold"
    if reward := reward_of(run):
        yield from ((line, "bold") for line in joined([f"mean reward {reward}", *reward_notes(run)], width))
        yield from ((line, "") for line in joined([*_passes(run)], width))
    yield from ((line, "") for line in joined([*totals_of(run)], width))
    yield from _histogram(run)
    yield from _measures(run, width)
    yield from _failures(run, recordings, every)
    yield from _rows(run, recordings, width, every)


def _passes(run: Run) -> Iterator[str]:
    for name, value, remark in pass_words(run):
        yield f"{name} {value}{remark and f' {remark}'}"
    yield f"passed: reward {run.passes:g} or more"


def _histogram(run: Run) -> Iterator[Styled]:
    measure = next(one for one in run.measures if one.name == REWARD)
    bins = run.bins(measure)
    if len(bins) < 2:
        return
    yield "", ""
    yield "rewards", "bold"
    names = [bin_words(measure, one) for one in bins]
    room = max(map(len, names))
    for name, one, bar in zip(names, bins, bars([one.count for one in bins], _BAR), strict=True):
        yield f"  {name:>{room}}  {bar} {one.count:,}", ""


def _measures(run: Run, width: int | None) -> Iterator[Styled]:
    found = [(one, run.spreads[one.name]) for one in run.measures if one.name in run.spreads]
    if not found:
        return
    yield "", ""
    columns: list[Column[tuple[Measure, Spread]]] = [
        Column("each rollout", 0, lambda one: one[0].name),
        Column("mean", 0, lambda one: one[0].words(one[1].mean), right=True),
        Column("± error", 3, lambda one: _or_none(one[0], one[1].error), right=True),
        Column("deviation", 4, lambda one: _or_none(one[0], one[1].deviation), right=True),
        Column("least", 2, lambda one: one[0].words(one[1].least), right=True),
        Column("median", 1, lambda one: one[0].words(one[1].median), right=True),
        Column("most", 2, lambda one: one[0].words(one[1].most), right=True),
    ]
    yield from table_lines(table_of(found, columns, width and width - _INDENT))


def _or_none(measure: Measure, value: float | None) -> str:
    return "" if value is None else measure.words(value)


def _failures(run: Run, recordings: Recordings, every: bool) -> Iterator[Styled]:
    if not run.failed:
        return
    yield "", ""
    yield f"{len(run.failed):,} failed", "bold"
    reasons = run.reasons if every else run.reasons[:SHOWN]
    room = len(f"{reasons[0][1]:,}")
    for reason, count in reasons:
        yield f"  {count:>{room},} × {brief(reason, _CUT) or 'no reason is known'}", ""
    if len(reasons) < len(run.reasons):
        yield f"  … {len(run.reasons) - len(reasons):,} more reasons (--all shows them)", "dim"
    opened = [one for one in run.failed if recordings.folder(run, one) is not None]
    shown = opened if every else opened[:SHOWN]
    for one in shown:
        yield f"  row {_number(one)}  {recordings.open_command(run, one)}", "dim"
    if len(shown) < len(opened):
        yield f"  … {len(opened) - len(shown):,} more (--all shows them)", "dim"


def _number(rollout: Rollout) -> str:
    return f"{rollout.row}.{rollout.rollout}" if rollout.rollout else str(rollout.row)


def _rows(run: Run, recordings: Recordings, width: int | None, every: bool) -> Iterator[Styled]:
    shown = run.worst if every else run.worst[:SHOWN]
    yield "", ""
    yield ("rows, the worst first" if every else f"the worst {counted(len(shown), 'row')}"), "bold"
    several = run.most_rollouts > 1
    columns: list[Column[Row]] = [
        Column("row", 0, lambda row: str(row.index), right=True),
        Column("reward", 0, _mean, right=True),
        *([Column("rollouts", 1, rewards_words, most=30)] if several else []),
        *(
            Column(one.name, 6, partial(_figure, one), right=True)
            for one in run.measures
            if one.name in run.spreads and one.name not in _OWN
        ),
        Column("calls", 5, lambda row: f"{sum(one.calls for one in row.rollouts):,}", right=True),
        Column("tokens", 4, lambda row: thousands(_tokens(row)), right=True),
        *([Column("cost", 7, _cost, right=True)] if "cost" in run.spreads else []),
        Column("time", 8, lambda row: seconds(sum(one.seconds for one in row.rollouts)), right=True),
        Column("task", 3, lambda row: brief(recordings.prompt(run, row.worst), _CUT), most=40),
    ]
    opened = Column[Row]("agentscope open", 0, lambda row: recordings.name(run, row.worst), most=_CUT)
    yield from table_and_commands(shown, columns, opened, width)
    if len(shown) < len(run.worst):
        yield f"… {len(run.worst) - len(shown):,} more rows (--all shows them)", "dim"


_OWN = (REWARD, "calls", "input tokens", "output tokens", "cost", "time")
"""Measures that have columns of their own, or none."""


def _mean(row: Row) -> str:
    return "" if row.mean is None else f"{row.mean:.3g}"


def _figure(measure: Measure, row: Row) -> str:
    return _or_none(measure, row.figure(measure))


def _tokens(row: Row) -> int:
    return sum(one.input_tokens + one.output_tokens for one in row.rollouts)


def _cost(row: Row) -> str:
    costs: Sequence[float] = [one.cost for one in row.rollouts if one.cost is not None]
    return dollars(sum(costs)) if costs else ""


def table_and_commands(
    items: Sequence[T], columns: Sequence[Column[T]], command: Column[T], width: int | None
) -> Iterator[Styled]:
    """A table with a last column of commands, its title their beginning. Without room they stand below: one
    that is cut is none. The first column is the number of the row."""
    if width is None or max(len(command.text(item)) for item in items) <= width - _BESIDE:
        yield from table_lines(table_of(items, [*columns, command], width and width - _INDENT))
        return
    yield from table_lines(table_of(items, columns, width - _INDENT))
    for item in items:
        if words := command.text(item):
            yield f"  row {columns[0].text(item)}  {command.title} {words}", "dim"


def table_lines(lines: Iterator[str]) -> Iterator[Styled]:
    """The lines of a table, under its titles."""
    for number, line in enumerate(lines):
        yield f"  {line}", "" if number else "dim"
