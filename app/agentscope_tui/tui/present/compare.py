"""Two sessions side by side as blocks: one for each pair of calls, or for each message they were sent."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from agentscope_tui.comparison_words import GLYPHS, gist_of, name_of
from agentscope_tui.session.compared_lines import Line, lines_of
from agentscope_tui.session.comparing import CallPair, Difference
from agentscope_tui.session.earlier import told
from agentscope_tui.session.request_diff import ChangeKind, MessageChange
from agentscope_tui.session.text_diff import LinePair, line_pairs, marked
from agentscope_widgets.blocks import source_text
from agentscope_widgets.diff_block import DiffBlock, DiffLine, unified
from agentscope_widgets.look import Tone

_TONES: Mapping[Difference, Tone] = {
    "same": "muted",
    "changed": "warning",
    "left": "error",
    "right": "success",
}
_CHANGES: Mapping[ChangeKind, Difference] = {
    "kept": "same",
    "altered": "changed",
    "removed": "left",
    "added": "right",
}


def call_block(pair: CallPair, *, only_differences: bool) -> DiffBlock:
    """The block of a pair of calls; one in which nothing differs is folded. May take long: for a thread."""
    lines = (_line(line) for line in lines_of(pair, only_differences=only_differences, clean=_clean))
    numbers = [None if call is None else call.number for call in (pair.left, pair.right)]
    return _block(f"calls {numbers}", pair.difference, name_of(pair), gist_of(pair), [*lines])


def request_blocks(
    changes: Sequence[MessageChange], sent: Sequence[Mapping[str, Any]]
) -> Iterator[DiffBlock]:
    """What two calls were sent: the messages of both, and what was `sent` beside them, left and right."""
    left, right = (json.dumps(one, indent=2, ensure_ascii=False, default=str) for one in sent)
    difference: Difference = "same" if left == right else "changed"
    yield _block("parameters", difference, "parameters", "", [*_lines(left, right)])
    for number, change in enumerate(changes):
        difference = _CHANGES[change.kind]
        now = told(change.message)
        was = now if change.kind == "kept" else "" if change.before is None else told(change.before)
        lines = _lines(now, "") if difference == "left" else _lines(was, now)
        title = f"[{change.position}] {change.message.get('role')}"
        yield _block(f"message {number}", difference, title, now.partition("\n")[0], [*lines])


def _block(
    key: str, difference: Difference, title: str, summary: str, lines: Sequence[DiffLine]
) -> DiffBlock:
    return DiffBlock(
        key=key,
        kind=difference,
        title=f"{GLYPHS[difference]} {title}",
        body=unified(lines),
        tone=_TONES[difference],
        foldable=True,
        folded=difference == "same",
        summary=summary,
        lines=tuple(lines),
    )


def _lines(left: str, right: str) -> Iterator[DiffLine]:
    return (_line(Line("text", marked(pair))) for pair in line_pairs(_clean(left), _clean(right)))


def _line(line: Line) -> DiffLine:
    pair: LinePair = line.pair
    return DiffLine(pair.left, pair.right, pair.left_marks, pair.right_marks, line.kind)


def _clean(text: str) -> str:
    """Safe, and without the colours of a terminal."""
    return source_text(text, "ansi")
