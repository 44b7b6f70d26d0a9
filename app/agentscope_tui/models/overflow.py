"""How long a conversation was and how long it may be, read from the words of an error."""

from __future__ import annotations

import re

_N = r"(\d[\d,_]*)"
_MOST_THEN_USED = (
    rf"maximum context length (?:is|of) {_N} tokens.*?(?:resulted in|requested(?: about)?|has|contains) {_N}"
    rf"(?: input)? tokens",
)
_USED_THEN_MOST = (
    rf"too long: {_N} tokens > {_N}",
    rf"token count \(?{_N}\)? exceeds the maximum number of tokens(?: allowed)? \(?{_N}",
    rf"\({_N} tokens\) exceeds .{{0,60}}context .{{0,20}}\({_N} tokens\)",
)
_SUM_THEN_MOST = (rf"exceed context limit: {_N} \+ {_N} > {_N}",)
_MOST = (rf"maximum context length (?:is|of) {_N}", rf"context (?:window|length|size|limit) of {_N}")


def token_counts(words: str) -> tuple[int | None, int | None]:
    """The tokens of the request and the most that the model takes; None for what is not said."""
    if found := _first(_MOST_THEN_USED, words):
        return found[1], found[0]
    if found := _first(_USED_THEN_MOST, words):
        return found[0], found[1]
    if found := _first(_SUM_THEN_MOST, words):
        return found[0] + found[1], found[2]
    found = _first(_MOST, words)
    return None, found[0] if found else None


def _first(patterns: tuple[str, ...], words: str) -> list[int] | None:
    for pattern in patterns:
        if match := re.search(pattern, words, re.IGNORECASE | re.DOTALL):
            return [int(re.sub(r"[,_]", "", number)) for number in match.groups()]
    return None
