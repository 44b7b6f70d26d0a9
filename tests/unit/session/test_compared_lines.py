"""A pair of calls as lines: all of both sides, the states of tools, and what is left out said."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentscope_tui.session import compared_lines
from agentscope_tui.session.compared_lines import Line, lines_of
from agentscope_tui.session.comparing import compare
from agentscope_widgets.safe_text import safe_text
from fakes.small_sessions import Did, past_session, state_of


def lines(left: Did, right: Did, *, only_differences: bool = False) -> list[Line]:
    """The lines of the one call that both sessions made."""
    comparison = compare(state_of(past_session(left)), state_of(past_session(right, session_id="two")))
    return [*lines_of(comparison.pairs[1], only_differences=only_differences)]


def told(found: list[Line]) -> list[str]:
    """As a unified difference."""
    return [
        text
        for line in found
        for text in (
            [f"  {line.pair.left}"]
            if line.pair.same
            else [
                *([] if line.pair.left is None else [f"- {line.pair.left}"]),
                *([] if line.pair.right is None else [f"+ {line.pair.right}"]),
            ]
        )
    ]


def test_a_tool_call_shows_arguments_result_and_state():
    left = Did("I look", "bash", '{"command": "ls\\ncat x", "seconds": 3}', "a\nb", exit_code=0)
    right = Did(
        "I look", "bash", '{"command": "ls\\ncat y", "seconds": 3}', "a", status="failed", exit_code=2
    )
    assert told(lines(left, right)) == [
        "  user",
        "  do the task",
        "  assistant",
        "  I look",
        "  → bash",
        "  command:",
        "    ls",
        "-   cat x",
        "+   cat y",
        "  seconds: 3",
        "- ── done · exit 0",
        "+ ── failed · exit 2",
        "  a",
        "- b",
    ]


def test_what_is_the_same_is_left_out_on_demand():
    left = Did("I look", "bash", "{}", "\n".join(map(str, range(40))))
    right = Did("I look", "bash", "{}", "\n".join(["new" if n == 20 else str(n) for n in range(40)]))
    assert told(lines(left, right, only_differences=True)) == [
        "  user · the same",
        "  assistant · the same",
        "  → bash",
        "  ── done",
        "  … 17 lines are the same",
        "  17",
        "  18",
        "  19",
        "- 20",
        "+ new",
        "  21",
        "  22",
        "  23",
        "  … 16 lines are the same",
    ]


def test_of_very_many_lines_some_are_left_out_in_any_case(monkeypatch: pytest.MonkeyPatch):
    left = Did("", "bash", "{}", "\n".join(map(str, range(35_000))))
    right = Did("", "bash", "{}", "\n".join(str(n) for n in range(35_000) if n != 20_000))
    found = told(lines(left, right))
    assert len(found) < 20
    assert "- 20000" in found
    monkeypatch.setattr(compared_lines, "MOST_LINES", 10)
    other = Did("", "bash", "{}", "\n".join(f"x{n}" for n in range(50)))
    assert told(lines(left, other))[-1] == "  … 34,990 more lines"


def test_a_very_long_line_is_cut_and_still_differs():
    left, right = Did("a" * 30_000), Did("a" * 29_999 + "b")
    line = lines(left, right)[-1]
    assert line.pair.left == "a" * 20_000 + "… 10,000 more characters"
    assert not line.pair.same


def test_what_a_terminal_would_obey_is_made_visible():
    line = lines(Did("\x1b[2J\u202e"), Did("plain"))[-1]
    assert line.pair.left == "␛[2J⟨U+202E⟩"


@given(st.text(), st.text())
def test_all_text_of_both_sides_is_there(left: str, right: str):
    found = lines(
        Did("", "bash", json.dumps({"x": left}), "r"), Did("", "bash", json.dumps({"x": right}), "r")
    )
    one, other = (
        "\n".join(text for line in found if (text := getattr(line.pair, side)) is not None)
        for side in ("left", "right")
    )
    for text, side in ((left, one), (right, other)):
        assert all(line in side for line in safe_text(text).split("\n"))
