"""Two runs as a page: how the second differs from the first, and the rows that got worse or better."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from agentscope_tui.report import plots
from agentscope_tui.report.bins import bins_of
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
from agentscope_tui.report.measures import Measure, plain_number
from agentscope_tui.report.pair import Change, Pair
from agentscope_tui.report.pair_text import METHOD, verdict_parts, warnings_of
from agentscope_tui.report.recordings import Recordings
from agentscope_tui.report.statistics import Paired
from agentscope_tui.report.words import brief, counted, difference_words, facts_of, share, signed

MOST_ROWS = 2_000
_TEXT = 300
_COUNT = Measure("rollouts", lambda rollout: 1.0, plain_number)


def pair_page(pair: Pair, recordings: Recordings, links: Links, *, every: bool) -> Iterator[str]:
    """The page, piece by piece."""
    title = f"{pair.left.info.name} → {pair.right.info.name}"
    return page(title, _body(pair, recordings, links, title, every))


def _body(pair: Pair, recordings: Recordings, links: Links, title: str, every: bool) -> Iterator[str]:
    yield head(pair.right.folder, title, " · ".join(verdict_parts(pair)))
    yield from (f'<p class="warn">{plain(words)}</p>\n' for words in warnings_of(pair))
    yield f'<ul class="cards">\n{"".join(_cards(pair))}</ul>\n'
    if pair.settings:
        items = "".join(f"<li>{plain(words)}</li>" for words in pair.settings)
        yield f"<h2>What was run otherwise</h2>\n<ul>{items}</ul>\n"
    if pair.rows:
        yield "<h2>Distributions</h2>\n" + f'<div class="plots">\n{"".join(_plots(pair))}</div>\n'
        yield from _measures(pair)
        yield from _changes(pair, recordings, links, every)
    for run, side in ((pair.left, "first"), (pair.right, "second")):
        yield facts([*facts_of(run), ("folder", str(run.folder.resolve()))], f"About the {side} run")


def _cards(pair: Pair) -> Iterator[str]:
    found = pair.reward
    measure = pair.left.measures[0]
    if found is not None:
        difference, interval = difference_words(measure, found)
        bar = ""
        if found.interval is not None:
            widest = max(abs(found.interval.low), abs(found.interval.high), 0.05) * 1.1
            bar = plots.interval_bar(f"95 %: {interval}", found.interval, found.difference, -widest, widest)
        notes = [f"95 %: {interval}"] if interval else []
        notes += [f"{plain_number(found.left)} to {plain_number(found.right)}, {counted(found.rows, 'row')}"]
        yield card("mean reward", difference, notes, more=bar, kind="wide")
        for one, other in (*pair.pass_at[:1], *pair.pass_at[1:][-1:]):
            change = signed(measure, other.chance - one.chance)
            yield card(f"pass@{one.k}", change, [f"{share(one.chance)} to {share(other.chance)}"])
    worse = [change for change in pair.changes if change.difference < 0]
    better = [change for change in pair.changes if change.difference > 0]
    flips = [sum(change.flipped for change in side) for side in (worse, better)]
    yield card("rows worse", f"{len(worse):,}", [f"{flips[0]:,} pass no more"])
    yield card("rows better", f"{len(better):,}", [f"{flips[1]:,} pass now"])
    failed = pair.failures
    if any(failed):
        difference = signed(_COUNT, failed[1] - failed[0])
        yield card("failed rollouts", difference, [f"{failed[0]:,} to {failed[1]:,}"])


def _plots(pair: Pair) -> Iterator[str]:
    measure = pair.left.measures[0]
    names = pair.left.info.name, pair.right.info.name
    rows = [(a, b) for a, b in pair.rows if a.mean is not None and b.mean is not None]
    if rows:
        points = [(a.mean or 0.0, b.mean or 0.0, f"row {a.index}") for a, b in rows]
        yield plots.against("reward by row, one run against the other", points, measure.words, names)
        differences = [right - left for left, right, _ in points]
        mean = sum(differences) / len(differences)
        yield plots.histogram("difference of reward by row", bins_of(differences), measure.words, mean)
    if len(pair.pass_at) > 1:
        left = [(one.k, one.chance) for one, _ in pair.pass_at]
        right = [(other.k, other.chance) for _, other in pair.pass_at]
        yield plots.curve("pass@k", [(names[0], left), (names[1], right)])


def _measures(pair: Pair) -> Iterator[str]:
    yield "<h2>Each rollout</h2>\n"
    titles = {"": "", "first": "n", "second": "n", "difference": "n", "95 %": "n", "clear": ""}
    yield from table(titles, (_measure(measure, found) for measure, found in pair.measures), sorts=False)
    yield f'<p class="note">{plain(METHOD)}.</p>\n'


def _measure(measure: Measure, found: Paired) -> Sequence[Cell]:
    difference, interval = difference_words(measure, found)
    good = measure.better * found.difference if found.is_clear else 0
    kind = " good" if good > 0 else " bad" if good < 0 else ""
    return [
        Cell(plain(measure.name)),
        number(measure.words(found.left)),
        number(measure.words(found.right)),
        Cell(plain(difference), kind=f"n{kind}"),
        number(interval),
        Cell("yes" if found.is_clear else ""),
    ]


def _changes(pair: Pair, recordings: Recordings, links: Links, every: bool) -> Iterator[str]:
    found = sorted(pair.changes, key=lambda change: -abs(change.difference))
    shown = found if every else found[:MOST_ROWS]
    of = f", {len(shown):,} of {len(found):,}" if len(shown) < len(found) else ""
    yield f"<h2>Rows that changed{of}</h2>\n"
    titles = {
        "row": "n",
        "difference": "n",
        "first": "",
        "second": "",
        "": "",
        "task": "",
        "to compare them": "",
    }
    yield from table(titles, (_change(pair, change, recordings, links) for change in shown))


def _change(pair: Pair, change: Change, recordings: Recordings, links: Links) -> Sequence[Cell]:
    kind = "good" if change.difference > 0 else "bad"
    mark = f'<span class="mark {kind}">{change.mark}</span>' if change.flipped else ""
    words = signed(pair.left.measures[0], change.difference)
    prompt = recordings.prompt(pair.left, change.left.worst) or recordings.prompt(
        pair.right, change.right.worst
    )
    compared = recordings.compared(pair.left, pair.right, change)
    return [
        number(str(change.index)),
        Cell(plain(words), change.difference, f"n {kind}"),
        rollouts(pair.left, change.left, links),
        rollouts(pair.right, change.right, links),
        Cell(mark, kind="nowrap"),
        Cell(plain(brief(prompt, _TEXT)), kind="text"),
        command(f"agentscope compare {compared}" if compared else ""),
    ]
