"""Which bytes of a text file cannot have a needle, told without parsing: a search reads past them.

A sieve never holds back what has the needle, however it is written: with escapes, as a number in another
notation, in letters that fold to those of the needle (`ß` to `ss`, the Kelvin sign to `k`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache

from agentscope_tui.datasets.needle import Needle

Sieve = Callable[[bytes], bool]
"""Whether rows in these bytes may have the needle. A row that has it has whole characters of it."""

_UNSAFE = re.compile('[\\x00-\\x1f"\\\\/\ud800-\udfff\ufffd]+')
"""What JSON or CSV may write otherwise, or what stands for bytes that are no text."""
_OF_NUMBERS = re.compile(r"[-+.e0-9]*|-?i?n?f?|n?a?n?")
"""What the text of a number can have in it."""
_OTHER = rb"[ \t\r\n]*-?[0-9](?:[0-9.]{16}|[0-9.]*[eE]|\.0000)"
_OTHER_NUMBERS = [re.compile(before + _OTHER) for before in (b":", b",", rb"\[")]
"""Numbers that Python may write otherwise than the file: all others are in the file as Python writes them.

Three patterns: one that begins with a single byte is searched for several times as fast.
"""
_CASED_PLANES = 0x20000
"""No character from here on has case."""


def csv_sieve(needle: Needle) -> Sieve:
    """The sieve for CSV: quotation marks may stand anywhere in a cell."""
    sieve = _Sieve(needle)
    return lambda data: sieve.lets_through(data.replace(b'"', b"") if b'"' in data else data)


def json_sieve(needle: Needle) -> Sieve:
    """The sieve for the text of JSON objects."""
    sieve = _Sieve(needle)
    escapes = re.compile(rb"\\u(?:%b)" % b"|".join(sorted({_hex(letter) for letter in sieve.letters})))
    numbers = _OTHER_NUMBERS if needle.fold and _OF_NUMBERS.fullmatch(needle.text) else ()

    def lets_through(data: bytes) -> bool:
        if sieve.lets_through(data):
            return True
        # The first look is for speed: most files have no backslash, or none before a `u`.
        if b"\\" in data and b"\\u" in data and escapes.search(data):
            return True
        return any(number.search(data) for number in numbers)

    return lets_through


class _Sieve:
    """Looks for the longest part of a needle that can only be written in one way, but for case and escapes.

    `letters` are all that may stand for a letter of it.
    """

    def __init__(self, needle: Needle) -> None:
        self._fold = needle.fold
        part = max(_UNSAFE.split(needle.text), key=len)
        self._part = part.encode()
        self._pattern: re.Pattern[bytes] | None = None
        self._leads: list[bytes] = []
        self.letters = set(part)
        if self._fold:
            self._add_case(part)

    def _add_case(self, part: str) -> None:
        folds = [(letter, folded) for letter, folded in _folds() if not self.letters.isdisjoint(folded)]
        # One that folds to several may begin or end a match; ASCII is looked for as such, for its speed.
        odd = {letter for letter, folded in folds if len(folded) > 1 or folded.isascii()}
        self._leads = sorted({letter.encode()[:2] for letter in odd})
        cases = {letter: [letter] for letter in part}
        for letter, folded in folds:
            if letter not in odd:
                cases[folded].append(letter)
        if any(len(letters) > 1 for letters in cases.values()):
            self._pattern = re.compile(b"".join(_any_of(cases[letter]) for letter in part))
        self.letters.update(letter.upper() for letter in part if letter.isascii())
        self.letters.update(letter for letter, _ in folds)

    def lets_through(self, data: bytes) -> bool:
        if self._fold:
            data = data.lower()
        if self._pattern is None:
            if self._part in data:
                return True
        elif self._pattern.search(data):
            return True
        return bool(self._leads) and not data.isascii() and any(lead in data for lead in self._leads)


@cache
def _folds() -> list[tuple[str, str]]:
    """The letters outside ASCII that fold to something else, and what that is."""
    pairs = ((letter, letter.casefold()) for letter in map(chr, range(0x80, _CASED_PLANES)))
    return [(letter, folded) for letter, folded in pairs if letter != folded]


def _any_of(letters: Iterable[str]) -> bytes:
    return b"(?:%b)" % b"|".join(re.escape(letter.encode()) for letter in letters)


def _hex(letter: str) -> bytes:
    """What follows the `\\u` that a letter's escape begins with, as a pattern."""
    digits = letter.encode("utf-16-be")[:2].hex()
    return "".join(f"[{digit}{digit.upper()}]" if digit.isalpha() else digit for digit in digits).encode()
