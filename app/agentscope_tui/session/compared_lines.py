"""A pair of calls as lines to read side by side; much that is the same may be left out."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from agentscope_tui.session.comparing import CallPair, PartPair
from agentscope_tui.session.parts import Call, Part
from agentscope_tui.session.text_diff import LinePair, line_pairs, marked
from agentscope_widgets.safe_text import safe_text

CONTEXT = 3
"""Lines that are the same and stay, before and after those that differ, where the others are left out."""
LONG = 400
"""Lines of a part from which on those far from a difference are left out in any case."""
MOST_LINES = 2_000
"""Lines of a part that are shown at most."""
LONGEST_LINE = 20_000
"""Characters of a line that are shown."""

LineKind = Literal["title", "text", "note"]


@dataclass(frozen=True, slots=True)
class Line:
    """A `title` says what follows, a `note` what is left out: there both sides are the same."""

    kind: LineKind
    pair: LinePair


def lines_of(
    pair: CallPair, *, only_differences: bool, clean: Callable[[str], str] = safe_text
) -> Iterator[Line]:
    """All parts of a pair of calls. `clean` makes a text fit to be shown, before it is compared."""
    for part in pair.parts:
        one, other = part.left, part.right
        if only_differences and part.difference == "same":
            yield Line("note", _both(f"{_title(one)} · the same"))
            continue
        yield Line("title", _pair(_title(one), _title(other)))
        yield from _shown([*line_pairs(*(clean(_body(side)) for side in (one, other)))], only_differences)
        yield from _result(part, only_differences, clean)


def whole_text(call: Call) -> str:
    """All that a call says and does, with nothing left out."""
    parts = []
    for part in call.parts:
        state = _state(part)
        result = f"{state}\n{part.result}" if state else part.result
        parts.append("\n".join(text for text in (_title(part), _body(part), result) if text))
    return "\n\n".join(parts) + "\n"


def _result(part: PartPair, only_differences: bool, clean: Callable[[str], str]) -> Iterator[Line]:
    """What came of a tool call, if there was one."""
    states = [None if side is None else _state(side) for side in (part.left, part.right)]
    if any(states):
        yield Line("title", _pair(*states))
        results = (clean(side.result) if side else "" for side in (part.left, part.right))
        yield from _shown([*line_pairs(*results)], only_differences)


def _shown(pairs: Sequence[LinePair], only_differences: bool) -> Iterator[Line]:
    """The lines, without those that are far from any difference if there are many."""
    near = [True] * len(pairs)
    if only_differences or len(pairs) > LONG:
        near = _near([not pair.same for pair in pairs])
    done = shown = 0
    for shows, places in groupby(near):
        count = len([*places])
        # To say that one line is left out takes a line as well.
        if not shows and count > 1:
            yield Line("note", _both(f"… {count:,} lines are the same"))
        else:
            fitting = min(count, MOST_LINES - shown)
            yield from (Line("text", _cut(pair)) for pair in pairs[done : done + fitting])
            shown += fitting
            if fitting < count:
                yield Line("note", _both(f"… {len(pairs) - done - fitting:,} more lines"))
                return
        done += count


def _near(differs: Sequence[bool]) -> list[bool]:
    """Which lines are near one that differs."""
    near = [False] * len(differs)
    for place, differing in enumerate(differs):
        if differing:
            start = max(0, place - CONTEXT)
            near[start : place + CONTEXT + 1] = [True] * len(near[start : place + CONTEXT + 1])
    return near


def _title(part: Part | None) -> str | None:
    match part:
        case None:
            return None
        case Part(kind="tool"):
            return f"→ {part.name}"
        case Part(kind="system"):
            return "system prompt"
        case Part(kind="reward" | "earlier" | "error"):
            return f"{part.kind} · {part.name}"
        case _:
            return " · ".join(word for word in (part.kind, part.state) if word)


def _state(part: Part) -> str | None:
    if part.kind != "tool":
        return None
    code = "" if part.exit_code is None else f" · exit {part.exit_code}"
    return f"── {part.state}{code}"


def _body(part: Part | None) -> str:
    if part is None:
        return ""
    return _told_arguments(part.text) if part.kind == "tool" else part.told


def _told_arguments(text: str) -> str:
    """Arguments of a tool call, each from a line of its own on, texts with their line breaks."""
    try:
        arguments = json.loads(text)
    except ValueError:
        return text
    if not isinstance(arguments, dict):
        return text
    return "\n".join(line for name, value in arguments.items() for line in _argument(name, value))


def _argument(name: str, value: object) -> Iterator[str]:
    if not isinstance(value, str):
        value = json.dumps(value, ensure_ascii=False)
    if "\n" not in value:
        yield f"{name}: {value}"
        return
    yield f"{name}:"
    yield from (f"  {line}" for line in value.removesuffix("\n").split("\n"))


def _pair(left: str | None, right: str | None) -> LinePair:
    return LinePair(left and safe_text(left), right and safe_text(right))


def _both(text: str | None) -> LinePair:
    return _pair(text, text)


def _cut(pair: LinePair) -> LinePair:
    """A pair of lines with its marks, not too long to show."""
    if max(len(pair.left or ""), len(pair.right or "")) <= LONGEST_LINE:
        return marked(pair)
    left, right = _cut_line(pair.left), _cut_line(pair.right)
    return LinePair(left, f"{right}, which differ" if left == right and not pair.same else right)


def _cut_line(line: str | None) -> str | None:
    if line is None or len(line) <= LONGEST_LINE:
        return line
    return f"{line[:LONGEST_LINE]}… {len(line) - LONGEST_LINE:,} more characters"
