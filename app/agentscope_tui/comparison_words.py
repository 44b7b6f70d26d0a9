"""The numbers of two sessions as a small table, and what the comparison came to in a sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from agentscope_tui.figures import dollars, seconds, thousands
from agentscope_tui.session.comparing import CallPair, Comparison, Difference
from agentscope_tui.session.parts import Call
from agentscope_tui.session.totals import Totals
from agentscope_widgets.safe_text import safe_line

GLYPHS: dict[Difference, str] = {"same": "=", "changed": "≠", "left": "-", "right": "+"}
"""How a pair differs, in one character."""

_NAME = 36
"""Cells of a session's id, and of a model's name."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One column of the table: its name, what each side has, and the difference in words (empty: none)."""

    name: str
    left: str
    right: str
    difference: str = ""


def facts_of(comparison: Comparison) -> Iterator[Fact]:
    """What there is to compare in numbers, the most important first."""
    left, right = comparison.left, comparison.right
    yield Fact("session", left.session_id or "-", right.session_id or "-")
    yield _number("reward", left.reward, right.reward, "{:g}".format)
    yield Fact("outcome", left.outcome, right.outcome, "other" * (left.outcome != right.outcome))
    for name, attribute, written in _NUMBERS:
        values = getattr(left, attribute), getattr(right, attribute)
        yield _number(name, *values, written)
    yield Fact("model", left.model, right.model, "other" * (left.model != right.model))
    if left.runner != right.runner:
        yield Fact("runner", left.runner, right.runner, "other")


def table(facts: Sequence[Fact], width: int) -> list[str]:
    """The facts as four lines no wider than `width`: names, left, right, difference. What does not fit
    is left out, the last first."""
    rows = ["  ", "- ", "+ ", "  "]
    for number, fact in enumerate(facts):
        cells = [safe_line(cell, _NAME) for cell in (fact.name, fact.left, fact.right, fact.difference)]
        size = max(map(len, cells))
        if len(rows[0]) + size + 2 * bool(number) > width:
            break
        gap = "  " if number else ""
        rows = [f"{row}{gap}{cell:<{size}}" for row, cell in zip(rows, cells, strict=True)]
    return [row.rstrip() for row in rows]


def verdict(comparison: Comparison) -> str:
    """What differs, in a sentence."""
    place = comparison.first_divergence
    if place is None:
        return "no difference"
    calls = len(comparison.pairs) - 1
    differing = sum(1 for one in comparison.differences if one)
    many = f"{differing} of {calls} calls differ" if differing else "no call differs"
    words = [f"first difference: {name_of(comparison.pairs[place])}", many]
    if (parting := comparison.parting) is None:
        words.append("both agents do the same")
    elif parting != place:
        words.append(f"the agents part at {name_of(comparison.pairs[parting])}")
    return " · ".join(words)


def name_of(pair: CallPair) -> str:
    """Which calls a pair is of: `call #3`, `call #3 | #4`, `call #4 (right only)`."""
    numbers = [call.number for call in (pair.left, pair.right) if call is not None]
    if not any(numbers):
        return "before the first call"
    if len(numbers) == 1:
        return f"call #{numbers[0]} ({'left' if pair.left else 'right'} only)"
    return f"call #{numbers[0]}" if numbers[0] == numbers[1] else f"call #{numbers[0]} | #{numbers[1]}"


def gist_of(pair: CallPair) -> str:
    """What the calls do, on one line: the tools, else what was said."""
    gists = [_gist(call) for call in (pair.left, pair.right) if call is not None]
    return " | ".join(dict.fromkeys(gists))


def _gist(call: Call) -> str:
    tools = [f"{part.name} {part.state}" for part in call.parts if part.kind == "tool"]
    said = [part.text for part in call.parts if part.kind == "assistant"]
    return ", ".join(tools) or next((text.strip().partition("\n")[0] for text in said), "")


def _whole(value: int) -> str:
    return str(value)


_NUMBERS: Sequence[tuple[str, str, Callable[..., str]]] = (
    ("calls", "calls", _whole),
    ("tools", "tool_calls", _whole),
    ("tokens in", "input_tokens", thousands),
    ("out", "output_tokens", thousands),
    ("cost", "cost", dollars),
    ("time", "seconds", seconds),
    ("working", "worked", seconds),
)


def _number(name: str, left: float | None, right: float | None, written: Callable[..., str]) -> Fact:
    one, other = ("-" if value is None else written(value) for value in (left, right))
    difference = ""
    if left is not None and right is not None and left != right:
        difference = f"{'+' if right > left else '-'}{written(abs(right - left))}"
    return Fact(name, one, other, difference)


def changed_totals(left: Totals, right: Totals) -> dict[str, float]:
    """Right less left, of every number that both have."""
    names = ("calls", "tool_calls", "input_tokens", "output_tokens", "cost", "seconds", "worked", "reward")
    pairs = {name: (getattr(left, name), getattr(right, name)) for name in names}
    return {
        name: other - one for name, (one, other) in pairs.items() if one is not None and other is not None
    }
