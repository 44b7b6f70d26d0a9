"""What keys of well-known kinds look like: a head that tells the kind, and a body that is the secret.

Hostile text is searched with these patterns: none may take more than linear time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple


class _Kind(NamedTuple):
    """Keys that begin with one of `heads` and go on with at least `least` of `body`.

    `random`: they have a digit near the start and 16 letters and digits in a row, unlike words with hyphens.
    `exact`: they have no more than that.
    """

    heads: tuple[str, ...]
    body: str
    least: int
    random: bool = False
    exact: bool = False


_KINDS = (
    _Kind(("sk-",), r"[\w-]", 20, random=True),
    _Kind(("sk_live_", "sk_test_", "rk_live_", "rk_test_"), "[A-Za-z0-9]", 16),
    _Kind(("AIza",), r"[\w-]", 35),
    _Kind(("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "npm_"), "[A-Za-z0-9]", 36),
    _Kind(("github_pat_",), r"\w", 22),
    _Kind(("glpat-", "xai-", "gsk_", "nvapi-", "pypi-AgEI"), r"[\w-]", 20, random=True),
    _Kind(("hf_",), "[A-Za-z0-9]", 30),
    _Kind(("xoxa-", "xoxb-", "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-", "xapp-"), "[A-Za-z0-9-]", 20, True),
    _Kind(("AKIA", "ASIA"), "[A-Z0-9]", 16, exact=True),
)
_EDGES = (
    r"(?<![\w-]{})",
    r"(?<=\\[nrtbf]{})",
    r"(?<=\\u[\da-f][\da-f][\da-f][\da-f]{})",
    r"(?<=%[\dA-Fa-f][\dA-Fa-f]{})",
    r"(?<=[\[;\d][mK]{})",
)
"""What may stand before a head: no part of a word, or the end of an escape of JSON, URLs or terminals."""

_JWT = (r"[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}", r"[\w.-]*")
_TOKEN = r"[\w.~+/-]"
_BEARER = (rf"(?=[\w.~+/=-]{{0,200}}?\d){_TOKEN}{{16,}}=*", rf"{_TOKEN}*=*")
_AWS = (r"[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])", "[A-Za-z0-9/+]*")
_PEM_BREAKS = r"(?:\s|\\[nr]|(?:Proc-Type|DEK-Info):[^\n\\]*)"
_PEM_LINES = rf"(?:[A-Za-z0-9+/=]|{_PEM_BREAKS})"
_PEM_END = "-----END [A-Z ]{0,20}PRIVATE KEY-----"
_PEM = (
    rf"{_PEM_BREAKS}*[A-Za-z0-9+/=]{{32}}{_PEM_LINES}*(?:{_PEM_END})?",
    rf"{_PEM_LINES}*(?:\\|-[A-Za-z -]{{0,40}})?",
)
_SCHEMES = ("Bearer", "bearer", "BEARER")
_AWS_NAMES = ("secret_access_key", "SECRET_ACCESS_KEY", "secretAccessKey", "SecretAccessKey")
_NAMED = (
    *((rf"{word}[ \t]{{1,4}}", *_BEARER) for word in _SCHEMES),
    *((rf"{word}[\"'\\]{{0,3}}\s{{0,3}}[:=]\s{{0,3}}[\"'\\]{{0,3}}", *_AWS) for word in _AWS_NAMES),
    ("-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----", *_PEM),
)
"""Head, body, and the beginning of a body, of what needs nothing before its head."""


def _kinds() -> Iterator[tuple[str, str, str]]:
    """Head, body, and the beginning of a body."""
    for heads, body, least, random, exact in _KINDS:
        guard = rf"(?={body}{{0,40}}?\d)(?={body}*?[A-Za-z0-9]{{16}})" if random else ""
        for head in heads:
            count = rf"{{{least}}}(?!\w)" if exact else f"{{{least},}}"
            yield _at_an_edge(head), f"{guard}{body}{count}", f"{body}*"
    yield _at_an_edge("eyJ"), *_JWT
    yield from _NAMED


def _at_an_edge(head: str) -> str:
    """The edge is looked for behind the head: a pattern that begins with plain characters is fast."""
    return head + "(?:" + "|".join(edge.format(head) for edge in _EDGES) + ")"


_WORDS = (
    *(head for kind in _KINDS for head in kind.heads),
    "eyJ",
    *_SCHEMES,
    *_AWS_NAMES,
    "PRIVATE KEY-----",
)
_SHORT = 2048


def may_hold_key(text: str) -> bool:
    """Whether looking for keys is worth it: in a long text, words are found faster than patterns."""
    return len(text) < _SHORT or any(word in text for word in _WORDS)


# In both, an empty group tells where the head ends and the secret begins. They take a moment to compile.


@cache
def whole_key() -> re.Pattern[str]:
    """Matches a whole key; its last group ends where the secret begins."""
    return re.compile("|".join(f"{head}(){body}" for head, body, _ in _kinds()), re.ASCII)


@cache
def begun_key() -> re.Pattern[str]:
    """Matches a head and what may be the beginning of its secret, at the end of a text; groups as above."""
    return re.compile("|".join(rf"{head}(){begun}\Z" for head, _, begun in _kinds()), re.ASCII)
