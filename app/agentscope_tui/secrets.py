"""Secrets masked in text that leaves the program: the values that this process knows, and well-known shapes.

What is masked goes to disk or to a screen; what models, tools and runners are sent stays as it is.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from agentscope_tui.key_shapes import (
    begun_key,
    json_may_hold_key,
    may_end_in_key,
    may_hold_key,
    whole_key,
)
from agentscope_tui.text_sieve import Sieve

MASK = "***"
SHORTEST = 8
"""Characters of the shortest value that is taken for a secret: a shorter one is an everyday word."""
LONGEST_HELD = 16 * 1024
"""Characters that a stream holds back at most: a private key of 8192 bits has 6,500."""
MAX_DEPTH = 100
"""Levels of nesting that are looked through, and recorded; what is deeper becomes `…`."""

_CONTEXT = 96
"""Characters before a piece that may be the head of a key in it."""
_EDGE = 8
"""Characters before a head that tell whether it begins there."""
_LONG = 4096
"""Characters of a text in which a sieve finds nothing faster than the known values are looked for."""
_SIEVED = 24
"""Characters of a known value that its sieve looks for."""
_CREDENTIAL = re.compile(
    r"(^|_)(APIKEY|KEYS?|TOKENS?|SECRETS?|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|AUTH|PAT)(_|$)",
    re.IGNORECASE,
)


def opens_something(name: str) -> bool:
    """Whether a variable is named like a credential."""
    return _CREDENTIAL.search(name) is not None


def secret_values(environ: Mapping[str, str]) -> list[str]:
    """The values of the variables that are named like credentials. A path to a key is no secret."""
    return [
        value for name, value in environ.items() if opens_something(name) and not value.startswith(("/", "~"))
    ]


class Masker:
    """Replaces secrets by `***`. What is readable of a key's kind (`sk-`, `Bearer `) stays before it."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        self.forget()
        self.learn(values)

    def forget(self) -> None:
        """Mask nothing but keys of well-known shapes."""
        self._values: frozenset[str] = frozenset()
        self._forms: list[str] = []
        self._by_first: dict[str, list[str]] = {}
        self._sieve: Sieve | None = None

    def learn(self, values: Iterable[str]) -> None:
        """Mask these texts too, from now on; what is shorter than `SHORTEST` is no secret."""
        new = {value.strip() for value in values}
        new = {value for value in new if len(value) >= SHORTEST} - self._values
        if not new:
            return
        self._values |= new
        self._forms = sorted(
            {form for value in self._values for form in _forms(value)}, key=len, reverse=True
        )
        self._by_first = {}
        for form in self._forms:
            self._by_first.setdefault(form[0], []).append(form)
        # Also as they stand in a text of JSON; the head of each is enough, and keeps the pattern small.
        told = {told for form in self._forms for told in (form, *_in_json(form))}
        self._sieve = Sieve.of_words({form[:_SIEVED] for form in told})

    def also(self, values: Iterable[str]) -> Masker:
        """One that masks these texts beside all that this one does now."""
        new = set(values) - self._values
        return Masker(self._values | new) if new else self

    def mask(self, text: str) -> str:
        """The text without its secrets."""
        if len(text) < SHORTEST:
            return text
        spans = self.spans(text)
        return _without(text, spans, 0, len(text)) if spans else text

    def masked(self, value: Any, depth: int = 0) -> Any:
        """JSON data with all its texts masked; the same object where nothing was."""
        match value:
            case str():
                return self.mask(value)
            case dict() | list() if depth > MAX_DEPTH:
                return "…"
            case dict():
                pairs = [(self.masked(key), self.masked(item, depth + 1)) for key, item in value.items()]
                same = all(key is old for (key, _), old in zip(pairs, value, strict=True))
                same = same and all(new is value[key] for key, new in pairs)
                return value if same else dict(pairs)
            case list():
                items = [self.masked(item, depth + 1) for item in value]
                return value if all(map(operator.is_, items, value)) else items
            case _:
                return value

    def may_change(self, json: str) -> bool:
        """Whether `masked` may change something of the data that this JSON text tells."""
        if json.count("{") + json.count("[") > MAX_DEPTH:
            return True
        return (self._sieve is not None and self._sieve.passes(json)) or json_may_hold_key(json)

    def restored(self, edited: Any, original: Any) -> Any:
        """JSON data that was edited while masked, with the secrets of the original in place of the masks, in
        order. As it is where their number has changed: nobody can tell then which stands where."""
        secrets = [text[start:end] for text in _texts(original) for start, end in self.spans(text)]
        masks = sum(text.count(MASK) for text in _texts(edited))
        return _filled(edited, iter(secrets)) if masks == len(secrets) else edited

    def stream(self) -> MaskedStream:
        """For text that comes in pieces."""
        return MaskedStream(self)

    def spans(self, text: str, start: int = 0) -> list[tuple[int, int]]:
        """The secrets that begin at `start` or later, as `(start, end)`, in order and apart."""
        return _merged([*self.known_in(text, start), *self.keys_in(text, start)])

    def known_in(self, text: str, start: int = 0) -> list[tuple[int, int]]:
        """Where the known values that begin at `start` or later are."""
        if self._sieve is None or (len(text) > _LONG and not self._sieve.passes(text)):
            return []
        found: list[tuple[int, int]] = []
        for form in self._forms:
            place = text.find(form, start)
            while place >= 0:
                found.append((place, place + len(form)))
                place = text.find(form, place + 1)
        return found

    def keys_in(self, text: str, start: int = 0) -> list[tuple[int, int]]:
        """Where the keys of well-known shapes are whose heads begin at `start` or later; in order."""
        if not may_hold_key(text):
            return []
        return [_secret_of(match) for match in whole_key().finditer(text, start)]

    def open_tail(self, text: str, start: int) -> int:
        """Where, from `start` on, the end of the text may be the beginning of a secret; else its length."""
        window = max(start - _CONTEXT, len(text) - LONGEST_HELD, 0)
        begun = begun_key().search(text, window) if may_end_in_key(text[window:]) else None
        places = [len(text)] if begun is None else [max(_secret_of(begun)[0], start)]
        return min((*places, *self._beginnings(text, start)))

    def _beginnings(self, text: str, start: int) -> Iterator[int]:
        """Where the end of the text is the start of a known value."""
        for first, forms in self._by_first.items():
            place = text.find(first, max(start, len(text) - len(forms[0]) + 1))
            while place >= 0:
                tail = text[place:]
                if any(form.startswith(tail) for form in forms):
                    yield place
                    break
                place = text.find(first, place + 1)


class MaskedStream:
    """Masks a text that comes in pieces: what may be the beginning of a secret is held back."""

    def __init__(self, masker: Masker) -> None:
        self._masker = masker
        self._before = ""
        self._held = ""
        self._keys_told = 0
        """Where in `_before` the last key ends: what stands in a key begins no other."""

    def take(self, piece: str) -> str:
        """What can be told of the text up to the end of this piece."""
        return self._told(piece, last=False)

    def rest(self) -> str:
        """What was held back; the text has ended."""
        return self._told("", last=True) if self._held else ""

    def _told(self, piece: str, *, last: bool) -> str:
        start = len(self._before)
        text = self._before + self._held + piece
        context = max(0, start - _CONTEXT)
        keys = self._masker.keys_in(text, max(context, self._keys_told))
        spans = _merged([*self._masker.known_in(text, context), *keys])
        end = len(text) if last else self._masker.open_tail(text, start)
        for span in () if last else reversed(spans):
            if span[1] < end:
                break
            # It may go on, or overlaps with what begins there.
            end = min(end, max(span[0], start))
        if len(text) - end > LONGEST_HELD:
            end = len(text)
        self._held = text[end:]
        dropped = max(0, end - _CONTEXT - _EDGE)
        self._before = text[dropped:end]
        told = [last for _, last in keys if last <= end]
        self._keys_told = max(0, (told[-1] if told else self._keys_told) - dropped)
        return _without(text, spans, start, end)


def _without(text: str, spans: Iterable[tuple[int, int]], start: int, end: int) -> str:
    """`text[start:end]` with each span replaced by the mask."""
    parts: list[str] = []
    for first, last in spans:
        if last > start and first < end:
            parts += (text[start : max(first, start)], MASK)
            start = last
    return "".join((*parts, text[start:end]))


def _texts(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            yield from (text for pair in value.items() for item in pair for text in _texts(item))
        case list():
            yield from (text for item in value for text in _texts(item))
        case _:
            pass


def _filled(value: Any, secrets: Iterator[str]) -> Any:
    match value:
        case str():
            first, *others = value.split(MASK)
            return first + "".join(next(secrets) + other for other in others)
        case dict():
            return {_filled(key, secrets): _filled(item, secrets) for key, item in value.items()}
        case list():
            return [_filled(item, secrets) for item in value]
        case _:
            return value


def _secret_of(match: re.Match[str]) -> tuple[int, int]:
    """Where the secret of a key is: behind its head."""
    assert match.lastindex is not None
    return match.end(match.lastindex), match.end()


def _merged(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    if len(spans) < 2:
        return spans
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged


def _forms(value: str) -> set[str]:
    """How a value stands in text: as it is, in JSON, in a URL, and as bytes that are read as Latin-1."""
    # Not for whoever only asks for help.
    from urllib.parse import quote

    as_bytes = value.encode("utf-8", "surrogatepass").decode("latin-1")
    return {value, *_in_json(value), quote(value, safe="", errors="replace"), as_bytes}


def _in_json(value: str) -> set[str]:
    """How a value stands in a text of JSON, with other letters than ASCII as they are and escaped."""
    import json

    return {json.dumps(value, ensure_ascii=ascii_only)[1:-1] for ascii_only in (True, False)}


MASKER = Masker()
"""The one of this process: whatever reads a key makes it learn the key."""
