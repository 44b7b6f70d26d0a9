"""Two sequences set side by side: what both have in the same order stands in the same place.

The longest common subsequence is found with one big integer for each element, so that it takes as long for
any sequences of a size: the usual way needs minutes where elements repeat much, as the lines of a log do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")

WINDOW = 8_192
"""Elements of each side that are looked at together: the memory is a bit for each pair of them."""


def common(left: Sequence[str], right: Sequence[str]) -> list[tuple[int, int]]:
    """Places in `left` and `right` that have the same element, rising in both, as many as there can be.

    Of sequences that differ over more than `WINDOW` elements there may be fewer. Of several that are as long,
    those that are furthest to the front; swapped sides have the same pairs.
    """
    start = 0
    while start < min(len(left), len(right)) and left[start] == right[start]:
        start += 1
    end = 0
    while end < min(len(left), len(right)) - start and left[-1 - end] == right[-1 - end]:
        end += 1
    before = [(place, place) for place in range(start)]
    after = [(len(left) - place, len(right) - place) for place in range(end, 0, -1)]
    return [*before, *_between(left, right, start, end), *after]


def align(
    left: Sequence[T], right: Sequence[T], *keys: Callable[[T], str], pairs: Callable[[T, T], bool]
) -> Iterator[tuple[T | None, T | None]]:
    """All elements of both in their order, each with the one that it belongs to, or None.

    Those with the same first key belong together; between them those with the same second key, and so on. Of
    what is left then those at the same place do, where `pairs` says so.
    """
    if not keys or not left or not right:
        yield from _in_place(left, right, pairs)
        return
    key, *others = keys
    done_left = done_right = 0
    for at_left, at_right in common([*map(key, left)], [*map(key, right)]):
        gap = left[done_left:at_left], right[done_right:at_right]
        yield from align(*gap, *others, pairs=pairs)
        yield left[at_left], right[at_right]
        done_left, done_right = at_left + 1, at_right + 1
    yield from align(left[done_left:], right[done_right:], *others, pairs=pairs)


def _in_place(
    left: Sequence[T], right: Sequence[T], pairs: Callable[[T, T], bool]
) -> Iterator[tuple[T | None, T | None]]:
    for one, other in zip(left, right, strict=False):
        if pairs(one, other):
            yield one, other
        else:
            yield from ((one, None), (None, other))
    both = min(len(left), len(right))
    yield from ((one, None) for one in left[both:])
    yield from ((None, other) for other in right[both:])


def _between(left: Sequence[str], right: Sequence[str], start: int, end: int) -> Iterator[tuple[int, int]]:
    """The pairs between a common start and a common end."""
    # What only one side has is in no pair.
    shared = set(left[start : len(left) - end]) & set(right[start : len(right) - end])
    ours = [place for place in range(start, len(left) - end) if left[place] in shared]
    theirs = [place for place in range(start, len(right) - end) if right[place] in shared]
    done_ours = done_theirs = 0
    while done_ours < len(ours) and done_theirs < len(theirs):
        part = ours[done_ours : done_ours + WINDOW], theirs[done_theirs : done_theirs + WINDOW]
        found = _longest([left[place] for place in part[0]], [right[place] for place in part[1]])
        yield from ((part[0][one], part[1][other]) for one, other in found)
        last = found[-1] if found else (len(part[0]) - 1, len(part[1]) - 1)
        done_ours, done_theirs = done_ours + last[0] + 1, done_theirs + last[1] + 1


def _longest(left: Sequence[str], right: Sequence[str]) -> list[tuple[int, int]]:
    """The longest common subsequence, as places (Hyyrö's bit vectors); the same for swapped sides."""
    if (len(right), right) < (len(left), left):
        return [(one, other) for other, one in _longest(right, left)]
    everywhere = (1 << len(right)) - 1
    where: dict[str, int] = {}
    for place, element in enumerate(right):
        where[element] = where.get(element, 0) | 1 << place
    # A bit of a row is off where the longest common subsequence up to there is one longer than before it.
    rows = [everywhere]
    for element in left:
        row = rows[-1]
        hits = row & where.get(element, 0)
        rows.append((row + hits | row - hits) & everywhere)
    pairs: list[tuple[int, int]] = []
    one, other = len(left), len(right)
    while one and other:
        if rows[one] >> other - 1 & 1:
            other -= 1
        elif not rows[one - 1] >> other - 1 & 1:
            one -= 1
        else:
            one, other = one - 1, other - 1
            pairs.append((one, other))
    return pairs[::-1]
