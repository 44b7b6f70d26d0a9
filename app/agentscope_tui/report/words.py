"""What reports say in words, on a terminal and on a page alike."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from agentscope_tui.figures import dollars, seconds, thousands
from agentscope_tui.report.bins import Bin
from agentscope_tui.report.measures import Measure, plain_number
from agentscope_tui.report.reading import Rollout
from agentscope_tui.report.run import Row, Run
from agentscope_tui.report.statistics import Interval, Paired


def facts_of(run: Run) -> Iterator[tuple[str, str]]:
    """What was run: names and values."""
    info = run.info
    rows = counted(len(run.rows), "row")
    yield "dataset", f"{info.dataset} · {rows}" + (f" × {info.rollouts}" if info.rollouts > 1 else "")
    yield "agent", f"{info.runner} · {info.model}"
    settings = [f"{name} {_value(value)}" for name, value in info.settings.items() if name != "model.name"]
    if settings:
        yield "settings", " · ".join(settings)
    if info.regraded:
        yield "regraded", " · ".join(map(_graded_again, info.regraded))
    yield "begun", f"{info.created.astimezone():%Y-%m-%d %H:%M:%S} · agentscope {info.version}"


def _graded_again(entry: dict[str, object]) -> str:
    grader = entry.get("grader")
    return f"{entry.get('at')} by {'the same grader' if grader is None else _value(grader)}"


def _value(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def counts_of(run: Run) -> str:
    """`96 rollouts: 88 done · 8 failed`."""
    parts = [f"{run.states[state]:,} {state}" for state in ("done", "failed", "stopped") if run.states[state]]
    return f"{counted(len(run.rollouts), 'rollout')}: {' · '.join(parts)}"


def reward_of(run: Run) -> str:
    """`0.698 ± 0.051`; empty without rewards."""
    found = run.reward
    if found is None:
        return ""
    error = "" if found.error is None else f" ± {plain_number(found.error)}"
    return f"{plain_number(found.mean)}{error}"


def reward_notes(run: Run) -> Iterator[str]:
    """What else is to be said of the mean reward."""
    found = run.reward
    if found is None:
        return
    if run.interval is not None:
        interval, method = run.interval
        yield f"95 %: {interval_words(interval)} ({method}, {counted(found.rows, 'row')})"
    if run.failed_as_nothing is not None:
        yield f"{plain_number(run.failed_as_nothing)} if the {run.states['failed']:,} failed count as 0"


def pass_words(run: Run) -> Iterator[tuple[str, str, str]]:
    """pass@k of some k: name, value, and a remark where not all rows have so many rollouts."""
    graded = sum(1 for row in run.rows if row.graded)
    for one in run.pass_at:
        remark = "" if one.rows == graded else f"of {counted(one.rows, 'row')}"
        yield f"pass@{one.k}", share(one.chance), remark


def totals_of(run: Run) -> Iterator[str]:
    """Tokens, cost and time of all rollouts."""
    taken = sum(one.input_tokens for one in run.rollouts), sum(one.output_tokens for one in run.rollouts)
    yield f"{thousands(taken[0])} tokens in, {thousands(taken[1])} out"
    costs = [one.cost for one in run.rollouts if one.cost is not None]
    if costs:
        yield dollars(sum(costs))
    yield f"{seconds(sum(one.seconds for one in run.rollouts))} of sessions"


def interval_words(interval: Interval) -> str:
    """`0.594 to 0.802`."""
    return f"{plain_number(interval.low)} to {plain_number(interval.high)}"


def share(value: float) -> str:
    """A chance: `0.625`; 0 and 1 only if it is."""
    if value in (0, 1):
        return f"{value:.0f}"
    return f"{min(max(value, 0.001), 0.999):.3f}"


def signed(measure: Measure, value: float) -> str:
    """A difference with its sign; `=` where there is none."""
    if value == 0:
        return "="
    return ("+" if value > 0 else "−") + measure.words(abs(value))


def difference_words(measure: Measure, found: Paired) -> tuple[str, str]:
    """A difference, and its interval."""
    if found.interval is None:
        return signed(measure, found.difference), ""
    low, high = signed(measure, found.interval.low), signed(measure, found.interval.high)
    return signed(measure, found.difference), f"{low.replace('=', '0')} to {high.replace('=', '0')}"


def bin_words(measure: Measure, one: Bin) -> str:
    """What a bin holds: `0.5`, or `0.1 – 0.2`."""
    if one.low == one.high:
        return measure.words(one.low)
    return f"{measure.words(one.low)} – {measure.words(one.high)}"


def rewards_words(row: Row) -> str:
    """A row's rewards, one for each rollout: `1 0.5 ✗ ■`."""
    return " ".join(map(rollout_word, row.rollouts))


def rollout_word(rollout: Rollout) -> str:
    """A rollout in a word: its reward, or how it ended."""
    match rollout.state:
        case "failed":
            return "✗"
        case "stopped":
            return "■"
        case "done":
            return "✓" if rollout.reward is None else plain_number(rollout.reward)


def joined(parts: Sequence[str], width: int | None) -> Iterator[str]:
    """The parts with points between them, on as few lines of `width` as they fit on."""
    line = ""
    for part in parts:
        if line and width is not None and len(line) + len(part) + 3 > width:
            yield line
            line = f"  {part}"
        else:
            line = f"{line} · {part}" if line else part
    yield line


def brief(text: str, most: int) -> str:
    """The text on one line, cut."""
    text = " ".join(text.split())
    return text if len(text) <= most else f"{text[: most - 1]}…"


def counted(count: int, what: str) -> str:
    """`1 row`, `1,200 rows`."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def bars(counts: Sequence[int], width: int) -> Iterator[str]:
    """A bar for each count, the largest of `width` cells, in eighths of a cell; what is there has a bar."""
    most = max(counts, default=0)
    for count in counts:
        eighths = max(1, round(8 * width * count / most)) if count else 0
        yield "█" * (eighths // 8) + " ▏▎▍▌▋▊▉"[eighths % 8].strip()
