"""What keys of well-known kinds look like: a head that tells the kind, and a body that is the secret.

Hostile text is searched with these patterns: none may take more than linear time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from agentscope_tui.text_sieve import Sieve

_W = "A-Za-z0-9_"


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


class _Shape(NamedTuple):
    """Patterns of one head. `edge`, `guard` and `after` look around what stands before them; the others do
    not, so that two engines can search for those."""

    head: str
    body: str
    begun: str
    """The beginning of a body."""
    edge: str = ""
    guard: str = ""
    after: str = ""


_KINDS = (
    _Kind(("sk-",), f"[{_W}-]", 20, random=True),
    _Kind(("sk_live_", "sk_test_", "rk_live_", "rk_test_"), "[A-Za-z0-9]", 16),
    _Kind(("AIza",), f"[{_W}-]", 35),
    _Kind(("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "npm_"), "[A-Za-z0-9]", 36),
    _Kind(("github_pat_",), f"[{_W}]", 22),
    _Kind(("glpat-", "xai-", "gsk_", "nvapi-", "pypi-AgEI"), f"[{_W}-]", 20, random=True),
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

_JWT = _Shape("eyJ", f"[{_W}-]{{10,}}\\.eyJ[{_W}-]{{10,}}\\.[{_W}-]{{10,}}", f"[{_W}.-]*")
_TOKEN = f"[{_W}.~+/-]"
_BEARER_HAS_A_DIGIT = f"(?=[{_W}.~+/=-]{{0,200}}?\\d)"
_PEM_BREAKS = r"(?:\s|\\[nr]|(?:Proc-Type|DEK-Info):[^\n\\]*)"
_PEM_LINES = rf"(?:[A-Za-z0-9+/=]|{_PEM_BREAKS})"
_PEM_END = "-----END [A-Z ]{0,20}PRIVATE KEY-----"
_SCHEMES = ("Bearer", "bearer", "BEARER")
_AWS_NAMES = ("secret_access_key", "SECRET_ACCESS_KEY", "secretAccessKey", "SecretAccessKey")
_PEM_HEAD = "PRIVATE KEY-----"
_NAMED = (
    *(
        _Shape(rf"{word}[ \t]{{1,4}}", f"{_TOKEN}{{16,}}=*", f"{_TOKEN}*=*", guard=_BEARER_HAS_A_DIGIT)
        for word in _SCHEMES
    ),
    *(
        _Shape(
            rf"{word}[\"'\\]{{0,3}}\s{{0,3}}[:=]\s{{0,3}}[\"'\\]{{0,3}}",
            "[A-Za-z0-9/+]{40}",
            "[A-Za-z0-9/+]*",
            after="(?![A-Za-z0-9/+=])",
        )
        for word in _AWS_NAMES
    ),
    _Shape(
        f"-----BEGIN [A-Z ]{{0,20}}{_PEM_HEAD}",
        rf"{_PEM_BREAKS}*[A-Za-z0-9+/=]{{32}}{_PEM_LINES}*(?:{_PEM_END})?",
        rf"{_PEM_LINES}*(?:\\|-[A-Za-z -]{{0,40}})?",
    ),
)
"""What needs nothing before its head."""


def _shapes() -> Iterator[_Shape]:
    for heads, body, least, random, exact in _KINDS:
        guard = rf"(?={body}{{0,40}}?\d)(?={body}*?[A-Za-z0-9]{{16}})" if random else ""
        count, after = (f"{{{least}}}", r"(?!\w)") if exact else (f"{{{least},}}", "")
        for head in heads:
            yield _Shape(head, body + count, body + "*", _edge(head), guard, after)
    yield _JWT._replace(edge=_edge(_JWT.head))
    yield from _NAMED


def _edge(head: str) -> str:
    """It is looked for behind the head: a pattern that begins with plain characters is fast."""
    return "(?:" + "|".join(edge.format(head) for edge in _EDGES) + ")"


_SHORT = 2048
"""Characters of a text in which the keys themselves are found as fast."""


# In both, an empty group tells where the head ends and the secret begins. They take a moment to compile.


@cache
def whole_key() -> re.Pattern[str]:
    """Matches a whole key; its last group ends where the secret begins."""
    shapes = (f"{s.head}{s.edge}(){s.guard}{s.body}{s.after}" for s in _shapes())
    return re.compile("|".join(shapes), re.ASCII)


@cache
def begun_key() -> re.Pattern[str]:
    """Matches a head and what may be the beginning of its secret, at the end of a text; groups as above."""
    return re.compile("|".join(rf"{s.head}{s.edge}(){s.begun}\Z" for s in _shapes()), re.ASCII)


@cache
def _whole_sieve() -> Sieve:
    return Sieve(shape.head + shape.body for shape in _shapes())


@cache
def _begun_sieve() -> Sieve:
    return Sieve(rf"{shape.head}{shape.begun}\z" for shape in _shapes())


@cache
def _json_sieve() -> Sieve:
    """What a key has of characters that JSON writes as they are."""
    heads = (head + f"{kind.body}{{{kind.least}}}" for kind in _KINDS for head in kind.heads)
    return Sieve([*heads, _JWT.head, *_SCHEMES, *_AWS_NAMES, _PEM_HEAD])


def json_may_hold_key(text: str) -> bool:
    """Whether some string in this JSON text may hold a `whole_key`."""
    return _json_sieve().passes(text)


def may_hold_key(text: str) -> bool:
    """Whether looking for a `whole_key` is worth it."""
    return len(text) < _SHORT or _whole_sieve().passes(text)


def may_end_in_key(text: str) -> bool:
    """Whether looking for a `begun_key` is worth it."""
    return len(text) < _SHORT or _begun_sieve().passes(text)
