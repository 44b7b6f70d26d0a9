"""Strips as text: the first call that differs stands in the same column, however many came before it."""

from __future__ import annotations

from agentscope_tui.session.rollouts import statistics_of
from agentscope_tui.tui.present.rollouts import statistics_lines, strip_text


def test_strips_stand_with_the_call_at_which_they_part_below_each_other():
    assert strip_text(["tool", "error", "submit"], 0) == "▪✗◆"
    assert strip_text(["tool", "error", "submit"], 2) == "▪✗│◆"
    assert strip_text(["tool"] * 100 + ["text", "interrupted"], 100) == "═100═│○■"


def test_few_rewards_are_told_without_what_they_do_not_come_to():
    assert statistics_lines(statistics_of([None]), ["a"]) == ["1 session · 0 graded · 0 passed"]
    one = statistics_lines(statistics_of([1.0, None]), ["a", "b"])
    assert one == ["2 sessions · 1 graded · 1 passed · mean 1", "pass@1 1.00"]
