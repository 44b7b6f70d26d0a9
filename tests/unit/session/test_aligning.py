"""Two sequences side by side: as much as there can be stands in the same place."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentscope_tui.session import aligning
from agentscope_tui.session.aligning import align, common

texts = st.lists(st.sampled_from("abcd"), max_size=14)


def longest(left: list[str], right: list[str]) -> int:
    """How long a common subsequence there is, by the definition."""

    @cache
    def upto(one: int, other: int) -> int:
        if not one or not other:
            return 0
        if left[one - 1] == right[other - 1]:
            return upto(one - 1, other - 1) + 1
        return max(upto(one - 1, other), upto(one, other - 1))

    return upto(len(left), len(right))


@given(texts, texts)
def test_as_many_as_there_can_be_are_common_and_in_order(left: list[str], right: list[str]):
    pairs = common(left, right)
    assert len(pairs) == longest(left, right)
    assert all(left[one] == right[other] for one, other in pairs)
    for places in zip(*pairs, strict=True):
        assert list(places) == sorted(set(places))


@given(texts, texts)
def test_swapped_sides_have_the_same_pairs(left: list[str], right: list[str]):
    assert common(right, left) == [(other, one) for one, other in common(left, right)]


@given(texts, texts, st.integers(1, 4))
def test_sequences_larger_than_the_window_still_align(left: list[str], right: list[str], window: int):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(aligning, "WINDOW", window)
        pairs = common(left, right)
    assert all(left[one] == right[other] for one, other in pairs)
    for places in zip(*pairs, strict=True):
        assert list(places) == sorted(set(places))


@given(texts, texts)
def test_all_elements_are_there_once_and_in_order(left: list[str], right: list[str]):
    rows = [*align(left, right, str, pairs=lambda one, other: one < other)]
    assert [one for one, _ in rows if one is not None] == left
    assert [other for _, other in rows if other is not None] == right
    assert all(one <= other for one, other in rows if one is not None and other is not None)


def test_later_keys_join_what_the_first_leaves():
    left, right = ["a1", "b1", "c1", "z9"], ["a1", "x5", "b2", "c1", "y8"]
    rows = align(left, right, str, lambda text: text[0], pairs=lambda one, other: True)
    assert [*rows] == [("a1", "a1"), (None, "x5"), ("b1", "b2"), ("c1", "c1"), ("z9", "y8")]


def test_of_several_as_good_the_first_are_taken():
    assert common(["a", "b"], ["a", "a", "b", "b", "c"]) == [(0, 0), (1, 2)]


def test_many_repeated_elements_take_no_longer_than_others():
    """`SequenceMatcher` needs minutes for these: the test would not end."""
    left = ["even" if place % 2 else "odd" for place in range(4_000)]
    right = ["odd" if place % 3 else "even" for place in range(4_000)]
    assert len(common(left, right)) > 2_000
