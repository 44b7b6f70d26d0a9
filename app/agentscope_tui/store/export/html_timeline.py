"""The timeline of a page: model calls above, tools below, along the time; where nothing ran it is cut."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agentscope_tui.store.export.html_text import plain
from agentscope_tui.store.export.reading import Reading, tool_facts
from agentscope_widgets.safe_text import safe_line

_WIDTH, _HEIGHT = 1000.0, 44
_THINNEST = 1.5
_GAP = 0.03
"""The part of all working time that a gap takes at most."""


@dataclass(frozen=True)
class _Bar:
    start: float
    end: float
    call: int
    kind: str
    title: str


def timeline(reading: Reading) -> Iterator[str]:
    """An SVG with a bar for each call, which links to it; nothing for a session without calls."""
    bars = [*_model_bars(reading), *_tool_bars(reading)]
    if not bars:
        return
    axis = _Axis(bars)
    yield (
        f'<svg class="timeline" viewBox="0 0 {_WIDTH:.0f} {_HEIGHT}" preserveAspectRatio="none" role="img" '
        'aria-label="When model calls and tools ran">\n'
    )
    for start, end in axis.gaps:
        yield f'<rect class="idle" x="{start:.2f}" y="0" width="{end - start:.2f}" height="{_HEIGHT}"/>\n'
    for bar in bars:
        left, right = axis.place(bar.start), axis.place(bar.end)
        width, top = max(right - left, _THINNEST), 7 if bar.kind == "model" else 25
        yield (
            f'<a href="#call-{bar.call}"><rect class="{bar.kind}" x="{min(left, _WIDTH - width):.2f}" '
            f'y="{top}" width="{width:.2f}" height="12" rx="1"><title>{plain(bar.title)}</title></rect></a>\n'
        )
    for entry in reading.state.entries:
        if entry.kind in ("user", "steer"):
            left = axis.place(entry.at.timestamp())
            yield (
                f'<rect class="user" x="{left:.2f}" y="0" width="2" height="{_HEIGHT}">'
                f"<title>{entry.kind}: {plain(safe_line(entry.text, 80))}</title></rect>\n"
            )
    cut = "<span>grey: time cut</span>" if axis.gaps else ""
    yield (
        '</svg>\n<p class="legend"><span><i class="m"></i>model call</span><span><i class="t"></i>tool</span>'
        f'<span><i class="f"></i>failed tool</span><span><i class="u"></i>user</span>{cut}</p>\n'
    )


def _model_bars(reading: Reading) -> Iterator[_Bar]:
    for call in reading.calls.values():
        start = call.at.timestamp()
        title = " · ".join([f"call #{call.number}", *call.facts])
        yield _Bar(start, start + (call.duration or 0.0), call.number, "model", title)


def _tool_bars(reading: Reading) -> Iterator[_Bar]:
    for view in reading.state.calls:
        if view.started is not None:
            start = view.started.timestamp()
            kind = "tool failed" if view.state in ("failed", "interrupted") else "tool"
            title = " · ".join([safe_line(view.name, 60), *tool_facts(view)])
            yield _Bar(start, start + (view.duration or 0.0), view.call, kind, title)


class _Axis:
    """From seconds to places, with the gaps between bars cut to a part of the time in which something ran."""

    def __init__(self, bars: Sequence[_Bar]) -> None:
        spans: list[list[float]] = []
        for bar in sorted(bars, key=lambda bar: bar.start):
            if spans and bar.start <= spans[-1][1]:
                spans[-1][1] = max(spans[-1][1], bar.end)
            else:
                spans.append([bar.start, bar.end])
        busy = sum(end - start for start, end in spans) or 1.0
        most = busy * _GAP
        self._points: list[tuple[float, float]] = []
        long: list[tuple[float, float]] = []
        now = 0.0
        for number, (start, end) in enumerate(spans):
            if number:
                gap = start - spans[number - 1][1]
                if gap > most:
                    long.append((now, now + most))
                now += min(gap, most)
            self._points.append((start, now))
            now += end - start
            self._points.append((end, now))
        self._scale = _WIDTH / (now or 1.0)
        self.gaps = [(start * self._scale, end * self._scale) for start, end in long]

    def place(self, seconds: float) -> float:
        """Where a moment is; between two bars where it would be in a gap that is drawn evenly."""
        before = self._points[0]
        if seconds <= before[0]:
            return 0.0
        for after in self._points:
            if seconds <= after[0]:
                share = (seconds - before[0]) / ((after[0] - before[0]) or 1.0)
                return (before[1] + share * (after[1] - before[1])) * self._scale
            before = after
        return _WIDTH - 2
