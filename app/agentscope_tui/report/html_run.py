"""A run as a page: its figures, plots, failures and rows, with links into recordings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from agentscope_tui.figures import dollars, seconds, thousands
from agentscope_tui.report import plots
from agentscope_tui.report.html_page import (
    Cell,
    Links,
    card,
    command,
    facts,
    head,
    number,
    page,
    plain,
    rollouts,
    table,
)
from agentscope_tui.report.measures import REWARD, Measure, plain_number
from agentscope_tui.report.recordings import Recordings
from agentscope_tui.report.run import Row, Run
from agentscope_tui.report.words import (
    brief,
    counted,
    facts_of,
    interval_words,
    pass_words,
    reward_notes,
)

MOST_ROWS = 2_000
"""Rows that a page has unless all are asked for: browsers are slow with more."""
_TEXT = 300
"""Characters of a prompt, an answer or an error that a page shows."""
_REASONS = 50


def run_page(run: Run, recordings: Recordings, links: Links, *, every: bool) -> Iterator[str]:
    """The page, piece by piece."""
    title = f"{Path(run.info.dataset).name} · {run.info.model}"
    return page(title, _body(run, recordings, links, title, every))


def _body(run: Run, recordings: Recordings, links: Links, title: str, every: bool) -> Iterator[str]:
    about = [*facts_of(run)]
    yield head(run.folder, title, dict(about)["begun"])
    yield f'<ul class="cards">\n{"".join(_cards(run))}</ul>\n'
    yield '<h2 id="plots">Distributions</h2>\n<div class="plots">\n'
    yield from _plots(run)
    yield "</div>\n"
    yield from _measures(run)
    yield from _reasons(run)
    yield from _rows(run, recordings, links, every)
    more = [("identity", run.info.dataset_identity), ("folder", str(run.folder.resolve()))]
    yield facts([*about, *more], "About this run")


def _cards(run: Run) -> Iterator[str]:
    reward = run.reward
    if reward is not None:
        error = "" if reward.error is None else f"± {plain_number(reward.error)}"
        bar = ""
        if run.interval is not None:
            interval = run.interval[0]
            low, high = min(0.0, interval.low), max(1.0, interval.high)
            bar = plots.interval_bar(f"95 %: {interval_words(interval)}", interval, reward.mean, low, high)
        yield card(
            "mean reward", plain_number(reward.mean), reward_notes(run), small=error, more=bar, kind="wide"
        )
        found = [*pass_words(run)]
        for name, value, remark in found[:1] + found[1:][-1:]:
            passed = f"reward {run.passes:g} or more"
            yield card(name, value, [remark or (passed if name == "pass@1" else "unbiased estimate")])
    states = ("done", "failed", "stopped")
    parts = "".join(
        f'<i class="{state}" style="flex:{run.states[state]}"></i>' for state in states if run.states[state]
    )
    told = " · ".join(f"{run.states[state]:,} {state}" for state in states if run.states[state])
    rows = counted(len(run.rows), "row")
    yield card("rollouts", f"{len(run.rollouts):,}", [told, rows], more=f'<div class="bar-of">{parts}</div>')
    taken = sum(one.input_tokens for one in run.rollouts), sum(one.output_tokens for one in run.rollouts)
    yield card("tokens", thousands(sum(taken)), [f"{thousands(taken[0])} in · {thousands(taken[1])} out"])
    costs = [one.cost for one in run.rollouts if one.cost is not None]
    if costs:
        yield card("cost", dollars(sum(costs)), [f"{dollars(sum(costs) / len(costs))} a rollout"])
    time = run.spreads.get("time")
    if time is not None:
        words = _measure(run, "time").words
        yield card(
            "time", seconds(sum(one.seconds for one in run.rollouts)), [f"{words(time.mean)} a rollout"]
        )


def _measure(run: Run, name: str) -> Measure:
    return next(measure for measure in run.measures if measure.name == name)


def _plots(run: Run) -> Iterator[str]:
    graded = [row for row in run.rows if row.mean is not None]
    for measure in run.measures:
        found = run.spreads.get(measure.name)
        if found is None:
            continue
        yield plots.histogram(measure.name, run.bins(measure), measure.words, found.mean)
        if measure.name != REWARD:
            continue
        if len(graded) > 1:
            points = [_point(row, measure) for row in graded]
            yield plots.by_row("reward by row", points, measure.words, found.mean)
        if len(run.pass_at) > 1:
            yield plots.curve("pass@k", [("", [(one.k, one.chance) for one in run.pass_at])])


def _point(row: Row, measure: Measure) -> plots.Point:
    values = row.figures(measure)
    mean = row.mean or 0.0
    title = f"row {row.index}: {measure.words(mean)}"
    return plots.Point(row.index, mean, min(values), max(values), title)


def _measures(run: Run) -> Iterator[str]:
    yield '<h2 id="measures">Each rollout</h2>\n'
    titles = {"": "", **dict.fromkeys(("mean", "± error", "deviation", "least", "median", "most"), "n")}
    rows = []
    for measure in run.measures:
        if (found := run.spreads.get(measure.name)) is not None:
            figures = (found.mean, found.error, found.deviation, found.least, found.median, found.most)
            cells = [number("" if one is None else measure.words(one)) for one in figures]
            rows.append([Cell(plain(measure.name)), *cells])
    yield from table(titles, rows, sorts=False)


def _reasons(run: Run) -> Iterator[str]:
    if not run.reasons:
        return
    yield f'<h2 id="failed">{len(run.failed):,} failed</h2>\n'
    rows: list[Sequence[Cell]] = [
        (
            number(f"{count:,}"),
            Cell(f'<span class="reason">{plain(brief(error, 1000)) or "no reason is known"}</span>'),
        )
        for error, count in run.reasons[:_REASONS]
    ]
    yield from table({"rollouts": "n", "reason": ""}, rows, sorts=False)
    if len(run.reasons) > _REASONS:
        yield f'<p class="note">… {len(run.reasons) - _REASONS:,} more reasons</p>\n'


def _rows(run: Run, recordings: Recordings, links: Links, every: bool) -> Iterator[str]:
    shown = run.worst if every else run.worst[:MOST_ROWS]
    some = (
        f"the worst {len(shown):,} of {len(run.rows):,}" if len(shown) < len(run.rows) else "the worst first"
    )
    yield f'<h2 id="rows">Rows, {some}</h2>\n'
    metrics = [
        one
        for one in run.measures
        if one.name in run.spreads and one.name not in (REWARD, "input tokens", "output tokens")
    ]
    titles = {
        "row": "n",
        "reward": "n",
        "rollouts": "",
        **{one.name: "n" for one in metrics},
        "tokens": "n",
        "task": "",
        "answer, or why not": "",
        "to open it": "",
    }
    yield from table(titles, (_row(run, row, recordings, links, metrics) for row in shown))
    if any(one.session for one in run.rollouts):
        yield '<p class="note">Answers, and what opens them, are those of the row\'s worst rollout.</p>\n'


def _row(
    run: Run, row: Row, recordings: Recordings, links: Links, metrics: Sequence[Measure]
) -> Sequence[Cell]:
    worst = row.worst
    whole = next(run.results.whole(iter([worst.key])))
    told = plain(brief(whole.answer or "", _TEXT))
    if worst.error:
        told = f'<span class="reason">{plain(brief(worst.error, _TEXT))}</span>'
    figures = [(one, row.figure(one)) for one in metrics]
    tokens = sum(one.input_tokens + one.output_tokens for one in row.rollouts)
    return [
        number(str(row.index)),
        number("" if row.mean is None else f"{row.mean:.3g}", row.mean),
        rollouts(run, row, links),
        *(number("" if value is None else one.words(value), value) for one, value in figures),
        number(thousands(tokens), tokens),
        Cell(plain(brief(recordings.prompt(run, worst), _TEXT)), kind="text"),
        Cell(told, kind="text"),
        command(recordings.open_command(run, worst)),
    ]
