"""Sums of heights, against a plain list."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentscope_widgets.heights import Heights

HEIGHTS = st.lists(st.integers(0, 5), max_size=1_300)


@given(HEIGHTS, HEIGHTS, st.data())
def test_it_is_a_list_with_sums(first: list[int], more: list[int], data: st.DataObject) -> None:
    heights = Heights(first)
    heights.extend(more)
    plain = first + more
    for _ in range(3 if plain else 0):
        position = data.draw(st.integers(0, len(plain) - 1))
        heights[position] = plain[position] = data.draw(st.integers(0, 9))
    kept = data.draw(st.integers(0, len(plain)))
    heights.truncate(kept)
    plain = plain[:kept]
    assert [heights[index] for index in range(len(heights))] == plain
    assert heights.total == sum(plain)
    for position in {0, len(plain) // 2, len(plain)}:
        assert heights.start(position) == sum(plain[:position])
    lines = [(index, line) for index, height in enumerate(plain) for line in range(height)]
    for line in {0, len(lines) // 2, len(lines) - 1} if lines else ():
        assert heights.find(line) == lines[line]


def test_past_the_end_is_the_end() -> None:
    assert Heights([2, 3]).find(99) == (1, 2)
    assert Heights([2, 3]).find(-1) == (0, 0)
    with pytest.raises(IndexError, match="no items"):
        Heights().find(0)
