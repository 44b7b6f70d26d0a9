"""Source code and JSON as styled lines, in colours of the theme."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Protocol

from rich.segment import Segment
from rich.style import Style

from .look import Look
from .text_rows import Row, split_lines

_LONGEST = 50_000
"""Code longer than this (characters) stays plain: a lexer may be slow."""

_JSON = re.compile(
    r"""(?P<key>"(?:[^"\\]|\\.)*"(?=\s*:))|(?P<string>"(?:[^"\\]|\\.)*"?)"""
    r"""|(?P<number>-?\b\d[\d.eE+-]*)|(?P<word>\b(?:true|false|null)\b)"""
)


class _Lexer(Protocol):
    def get_tokens(self, text: str) -> Iterable[tuple[tuple[str, ...], str]]: ...


def knows_language(language: str) -> bool:
    """Whether code in this language gets colours."""
    return _lexer(language) is not None


def highlight_code(code: str, language: str, look: Look) -> list[Row]:
    """Safe source code as lines; an unknown language is plain."""
    lexer = _lexer(language) if len(code) <= _LONGEST else None
    if lexer is None:
        return split_lines([Segment(code, look.normal)])
    styles = _token_styles(look)
    runs: list[Segment] = []
    for token, text in lexer.get_tokens(code):
        style = look.normal
        # A token type is a tuple, from the general to the special: the most special one known wins.
        for length in range(len(token), 0, -1):
            if known := styles.get(".".join(token[:length])):
                style = known
                break
        runs.append(Segment(text, style))
    return split_lines(runs)


def highlight_json(text: str, look: Look) -> list[Row]:
    """JSON text, whole or not, as lines: keys, strings, numbers and words told apart."""
    return [
        _json_line(line, look) if len(line) <= _LONGEST else [Segment(line, look.normal)]
        for line in text.split("\n")
    ]


def _json_line(line: str, look: Look) -> Row:
    styles = {
        "key": look.code_name,
        "string": look.code_string,
        "number": look.code_number,
        "word": look.code_keyword,
    }
    row: Row = []
    position = 0
    for match in _JSON.finditer(line):
        if match.start() > position:
            row.append(Segment(line[position : match.start()], look.muted))
        row.append(Segment(match[0], styles[match.lastgroup or "string"]))
        position = match.end()
    if position < len(line):
        row.append(Segment(line[position:], look.muted))
    return row


@lru_cache(maxsize=64)
def _lexer(language: str) -> _Lexer | None:
    from pygments.lexers import get_lexer_by_name  # type: ignore[import-untyped]
    from pygments.util import ClassNotFound  # type: ignore[import-untyped]

    if not language:
        return None
    try:
        lexer: _Lexer = get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None
    return lexer


@lru_cache(maxsize=8)
def _token_styles(look: Look) -> dict[str, Style]:
    return {
        "Keyword": look.code_keyword,
        "Operator.Word": look.code_keyword,
        "Name.Function": look.code_name,
        "Name.Class": look.code_name,
        "Name.Decorator": look.code_name,
        "Name.Builtin": look.code_name,
        "Name.Tag": look.code_name,
        "Name.Attribute": look.code_name,
        "Literal.String": look.code_string,
        "Literal.Number": look.code_number,
        "Comment": look.code_comment,
        "Generic.Heading": look.heading,
        "Generic.Subheading": look.heading,
        "Generic.Deleted": look.error,
        "Generic.Inserted": look.success,
        "Generic.Error": look.error,
    }
