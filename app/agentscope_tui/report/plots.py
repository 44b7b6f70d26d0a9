"""Plots of a report as SVG: drawn here, coloured by the page's style sheet, and told in words by titles."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from agentscope_tui.report.bins import Bin, round_step
from agentscope_tui.report.statistics import Interval
from agentscope_tui.store.export.html_text import plain

_WIDTH, _HEIGHT = 460, 210
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 12, 14, 30
_TICKS = 4
_WIDEST = 56
"""Of a bar that stands for one value."""
_DOTS = 400
"""Points that are drawn one by one; more are drawn as groups of neighbours."""
_GROUPS = 150

Words = Callable[[float], str]


@dataclass(frozen=True)
class Point:
    """A row: where it is, its mean, and the least and most that the mean is of."""

    at: float
    mean: float
    low: float
    high: float
    title: str


@dataclass(frozen=True)
class _Axis:
    """Figures from `low` to `high` on the places from `start` to `end`."""

    low: float
    high: float
    start: float
    end: float

    def place(self, value: float) -> float:
        share = (value - self.low) / ((self.high - self.low) or 1.0)
        return self.start + share * (self.end - self.start)

    def ticks(self) -> list[float]:
        """Round figures on it, some."""
        if self.high <= self.low:
            return [self.low]
        step = round_step((self.high - self.low) / _TICKS)
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return [float(f"{number * step:.12g}") for number in range(first, last + 1)]


def _across(low: float, high: float) -> _Axis:
    return _Axis(low, high, _LEFT, _WIDTH - _RIGHT)


def _upward(low: float, high: float) -> _Axis:
    return _Axis(low, high, _HEIGHT - _BOTTOM, _TOP)


def histogram(title: str, bins: Sequence[Bin], words: Words, mean: float | None = None) -> str:
    """How often figures are in each bin; a line where their mean is."""
    y = _upward(0, max((one.count for one in bins), default=1))
    parts = [_grid(y, lambda value: f"{value:,.0f}" if value == int(value) else "")]
    room = (_WIDTH - _LEFT - _RIGHT) / max(1, len(bins))
    single = all(one.low == one.high for one in bins)
    every = max(1, math.ceil(len(bins) / 8))
    for place, one in enumerate(bins):
        left, top = _LEFT + place * room, y.place(one.count)
        name = words(one.low) if one.low == one.high else f"{words(one.low)} – {words(one.high)}"
        wide = min(room - min(3.0, room / 5), _WIDEST if single else room)
        parts.append(
            f'<rect class="bar" x="{left + (room - wide) / 2:.1f}" y="{top:.1f}" width="{wide:.1f}" '
            f'height="{y.start - top:.1f}" rx="1.5"><title>{plain(name)}: {one.count:,}</title></rect>'
        )
        if single and place % every == 0:
            parts.append(_below(left + room / 2, words(one.low)))
        elif not single and place % every == 0:
            parts.append(_below(left, words(one.low)))
    if not single and bins:
        x = _across(bins[0].low, bins[-1].high)
        if (len(bins)) % every == 0:
            parts.append(_below(x.end, words(bins[-1].high), anchor="end"))
        if mean is not None:
            parts.append(_mean_line(x.place(mean), words(mean)))
    return _figure(title, parts)


def by_row(title: str, points: Sequence[Point], words: Words, mean: float) -> str:
    """A mark for each row at its mean, and a line over its rollouts; very many rows in groups."""
    if len(points) > _DOTS:
        points = _grouped(points)
    y = _upward(min(0.0, *(one.low for one in points)), max(1.0, *(one.high for one in points)))
    x = _across(points[0].at, points[-1].at)
    x = _Axis(x.low, x.high, x.start + 6, x.end - 6)
    parts = [_grid(y, words)]
    parts += [_below(x.place(tick), f"{tick:,.0f}") for tick in x.ticks() if tick == int(tick)]
    level = y.place(mean)
    parts.append(
        f'<line class="mean" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{level:.1f}" y2="{level:.1f}">'
        f"<title>mean {plain(words(mean))}</title></line>"
    )
    for one in points:
        left = x.place(one.at)
        if one.low != one.high:
            parts.append(
                f'<line class="range" x1="{left:.1f}" x2="{left:.1f}" y1="{y.place(one.low):.1f}" '
                f'y2="{y.place(one.high):.1f}"/>'
            )
        parts.append(
            f'<circle class="dot" cx="{left:.1f}" cy="{y.place(one.mean):.1f}" '
            f'r="{3.2 if len(points) <= 100 else 2}"><title>{plain(one.title)}</title></circle>'
        )
    return _figure(title, parts)


def curve(title: str, lines: Sequence[tuple[str, Sequence[tuple[int, float]]]]) -> str:
    """Chances over whole numbers: one line without a name, or two with theirs."""
    ks = sorted({k for _, line in lines for k, _ in line})
    y, x = _upward(0, 1), _across(ks[0], ks[-1])
    x = _Axis(x.low, x.high, x.start + 8, x.end - 8)
    every = max(1, math.ceil(len(ks) / 10))
    parts = [_grid(y, lambda value: f"{value:g}")]
    parts += [_below(x.place(k), str(k)) for k in ks[::every]]
    for number, (name, line) in enumerate(lines, 2 - len(lines)):
        path = " ".join(f"{x.place(k):.1f},{y.place(chance):.1f}" for k, chance in line)
        parts.append(f'<polyline class="curve side{number}" points="{path}"/>')
        lead = f"{name}: " if name else ""
        parts += [
            f'<circle class="knot side{number}" cx="{x.place(k):.1f}" cy="{y.place(chance):.1f}" r="3.5">'
            f"<title>{plain(lead)}pass@{k} {chance:.3f}</title></circle>"
            for k, chance in line
        ]
    return _figure(title, parts, [name for name, _ in lines if name])


def against(
    title: str, points: Sequence[tuple[float, float, str]], words: Words, names: tuple[str, str]
) -> str:
    """Each row's mean in one run against the other's; above the diagonal the second is better."""
    low = min(0.0, *(min(left, right) for left, right, _ in points))
    high = max(1.0, *(max(left, right) for left, right, _ in points))
    x, y = _across(low, high), _upward(low, high)
    x = _Axis(low, high, x.start + 6, x.end - 6)
    parts = [_grid(y, words)]
    parts += [_below(x.place(tick), words(tick)) for tick in x.ticks()]
    parts.append(
        f'<line class="mean" x1="{x.place(low):.1f}" y1="{y.place(low):.1f}" '
        f'x2="{x.place(high):.1f}" y2="{y.place(high):.1f}"/>'
    )
    places: dict[tuple[float, float], list[str]] = {}
    for left, right, name in points:
        # Rows at the same place are one dot: there are seldom many rewards.
        place = round(x.place(left) / 3) * 3, round(y.place(right) / 3) * 3
        places.setdefault(place, []).append(name)
    for (left, top), rows in places.items():
        title_of = rows[0] if len(rows) == 1 else f"{len(rows):,} rows: {', '.join(rows[:8])}"
        more = "…" if len(rows) > 8 else ""
        parts.append(
            f'<circle class="dot see" cx="{left}" cy="{top}" r="{min(3 + math.sqrt(len(rows)), 16):.1f}">'
            f"<title>{plain(title_of)}{more}</title></circle>"
        )
    parts.append(
        f'<text class="name" x="{_WIDTH - _RIGHT}" y="{_HEIGHT - _BOTTOM - 6}">{plain(names[0])} →</text>'
    )
    parts.append(f'<text class="name up" x="{_LEFT + 6}" y="{_TOP + 4}">↑ {plain(names[1])}</text>')
    return _figure(title, parts)


def interval_bar(title: str, interval: Interval, value: float, low: float, high: float) -> str:
    """A value with its interval on a line from `low` to `high`; a mark at 0 where that is within."""
    axis = _Axis(low, high, 4, 236)
    places = [axis.place(min(max(one, low), high)) for one in (interval.low, value, interval.high)]
    zero = axis.place(0)
    mark = f'<line class="zero" x1="{zero:.1f}" x2="{zero:.1f}" y1="1" y2="17"/>' if low < 0 < high else ""
    return (
        '<svg class="interval" viewBox="0 0 240 18" preserveAspectRatio="xMinYMid" role="img" '
        f'aria-label="{plain(title)}">'
        f'<line class="track" x1="4" x2="236" y1="9" y2="9"/>{mark}'
        f'<line class="span" x1="{places[0]:.1f}" x2="{places[2]:.1f}" y1="9" y2="9"/>'
        f'<circle class="dot" cx="{places[1]:.1f}" cy="9" r="4.5"/></svg>'
    )


def _grouped(points: Sequence[Point]) -> Sequence[Point]:
    size = math.ceil(len(points) / _GROUPS)
    found = []
    for start in range(0, len(points), size):
        group = points[start : start + size]
        mean = sum(one.mean for one in group) / len(group)
        title = f"rows {group[0].at:.0f} to {group[-1].at:.0f}: mean {mean:.3g}"
        half = (sum((one.mean - mean) ** 2 for one in group) / len(group)) ** 0.5
        found.append(Point((group[0].at + group[-1].at) / 2, mean, mean - half, mean + half, title))
    return found


def _grid(y: _Axis, words: Words) -> str:
    lines = []
    for tick in y.ticks():
        top = y.place(tick)
        lines.append(
            f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{top:.1f}" y2="{top:.1f}"/>'
            f'<text class="left" x="{_LEFT - 6}" y="{top + 3.5:.1f}">{plain(words(tick))}</text>'
        )
    return "".join(lines)


def _below(x: float, text: str, anchor: str = "middle") -> str:
    return f'<text style="text-anchor:{anchor}" x="{x:.1f}" y="{_HEIGHT - _BOTTOM + 16}">{plain(text)}</text>'


def _mean_line(x: float, text: str) -> str:
    return (
        f'<line class="mean" x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP - 4}" y2="{_HEIGHT - _BOTTOM}">'
        f"<title>mean {plain(text)}</title></line>"
    )


def _figure(title: str, parts: Sequence[str], names: Sequence[str] = ()) -> str:
    legend = "".join(
        f'<span><i class="side{number}"></i>{plain(name)}</span>' for number, name in enumerate(names)
    )
    return (
        f'<figure class="plot"><figcaption>{plain(title)}{legend}</figcaption>'
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{plain(title)}">'
        f"{''.join(parts)}</svg></figure>\n"
    )
