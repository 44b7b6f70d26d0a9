"""Two texts as lines side by side, and which words of two lines differ."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import starmap

from agentscope_tui.session.aligning import align, common

Marks = Sequence[tuple[int, int]]
"""Stretches of a line, as offsets from and up to: those that the other side does not have."""

LONGEST = 20_000
"""Characters of the longest line whose words are compared."""
_ALIKE = 0.4
"""Two lines are compared word by word if they have at least this share of their characters in common."""

_WORDS = re.compile(r"\w+|\s+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class LinePair:
    """A line of each text, without its end; None where one text has none."""

    left: str | None
    right: str | None
    left_marks: Marks = ()
    right_marks: Marks = ()

    @property
    def same(self) -> bool:
        return self.left == self.right


def line_pairs(left: str, right: str) -> Iterator[LinePair]:
    """The lines of both texts in order, without marks; between lines that both have, those at the same place
    are a pair."""
    return starmap(LinePair, align(_lines(left), _lines(right), str, pairs=lambda one, other: True))


def marked(pair: LinePair) -> LinePair:
    """The pair with the words marked that differ."""
    if pair.left is None or pair.right is None or pair.same:
        return pair
    return LinePair(pair.left, pair.right, *word_marks(pair.left, pair.right))


def word_marks(left: str, right: str) -> tuple[Marks, Marks]:
    """The words of each line that the other does not have at that place; none where hardly any are alike."""
    if max(len(left), len(right)) > LONGEST:
        return (), ()
    ours, theirs = _WORDS.findall(left), _WORDS.findall(right)
    pairs = common(ours, theirs)
    alike = sum(len(ours[place]) for place, _ in pairs if not ours[place].isspace())
    if alike < _ALIKE * (len(left) + len(right)) / 2:
        return (), ()
    return _unpaired(ours, {place for place, _ in pairs}), _unpaired(theirs, {place for _, place in pairs})


def _unpaired(words: Sequence[str], paired: set[int]) -> Marks:
    marks: list[tuple[int, int]] = []
    offset = 0
    for place, word in enumerate(words):
        end = offset + len(word)
        if place not in paired:
            start = marks.pop()[0] if marks and marks[-1][1] == offset else offset
            marks.append((start, end))
        offset = end
    return marks


def _lines(text: str) -> list[str]:
    """No text is no line; the end of the last line begins no other."""
    return text.removesuffix("\n").split("\n") if text else []
