"""Tells at gigabytes a second whether a text may hold one of many things.

That is what Rust's regular expressions do, which pydantic has.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic_core import SchemaValidator


class Sieve:
    """One pass for all patterns together; what they find in a text that passes, others have to say.

    They may use what Python's and Rust's patterns have in common, so nothing that looks around.
    """

    def __init__(self, patterns: Iterable[str]) -> None:
        self._pattern = "|".join(patterns)

    @classmethod
    def of_words(cls, words: Iterable[str]) -> Sieve:
        """For texts that hold one of these words."""
        return cls(_literally(word) for word in words)

    def passes(self, text: str) -> bool:
        """False: nothing of it is there. A text with lone surrogates, which Rust does not take, passes."""
        if self._search.isinstance_python(text):
            return True
        return not (text.isascii() or self._any_text.isinstance_python(text))

    # Made when first needed: pydantic is slow to import, and whoever only asks for help needs none of it.

    @cached_property
    def _search(self) -> SchemaValidator:
        return _validator(self._pattern)

    @cached_property
    def _any_text(self) -> SchemaValidator:
        return _validator("")


def _validator(pattern: str) -> SchemaValidator:
    from pydantic_core import SchemaValidator, core_schema

    return SchemaValidator(core_schema.str_schema(pattern=pattern, regex_engine="rust-regex", strict=True))


def _literally(word: str) -> str:
    """A pattern for this word. Its surrogates are left out: they are in no text that is searched."""
    return "".join(f"\\x{{{ord(letter):x}}}" for letter in word if not "\ud800" <= letter <= "\udfff")
