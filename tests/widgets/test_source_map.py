"""Which character of a text is in which cell, against what the cells show."""

from __future__ import annotations

import re
from dataclasses import fields
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.style import Style

from agentscope_widgets.blocks import Format, source_text, text_rows
from agentscope_widgets.look import Look
from agentscope_widgets.source_map import NOWHERE, SourceMap
from agentscope_widgets.text_rows import Row
from hostile import HOSTILE

LOOK = Look(**{field.name: Style.null() for field in fields(Look)})
PLAIN = st.text(st.sampled_from("ab1 .\t\n_-é\x1b\u202e"), max_size=80)


def shown(rows: list[Row], source: str) -> list[str]:
    """For each row what the source has at the offsets of its cells, `·` where a cell is not from there."""
    shown = []
    for row, offsets in zip(rows, SourceMap().offsets(rows, source), strict=True):
        cells = "".join(run.text for run in row)
        found = (source[at] if at != NOWHERE else "·" for at in offsets)
        text = "".join(
            " " if cell == " " else character for cell, character in zip(cells, found, strict=True)
        )
        shown.append(re.sub(" +", " ", text).strip())
    return shown


@pytest.mark.parametrize("format", ["plain", "json", "ansi"])
@given(PLAIN, st.integers(4, 30))
def test_text_that_is_shown_as_it_is_written_is_mapped_exactly(format: Format, body: str, width: int) -> None:
    source = source_text(body, format)
    rows = text_rows(body, format, width, LOOK)
    found = SourceMap().offsets(rows, source)
    for row, offsets in zip(rows, found, strict=True):
        for cell, offset in zip("".join(run.text for run in row), offsets, strict=True):
            # A tab is shown as blanks, and blanks that only fill are nowhere.
            assert cell == " " if offset == NOWHERE else source[offset] == cell or source[offset] == "\t"
    order = [offset for row in found for offset in row if offset != NOWHERE]
    assert all(first <= second for first, second in pairwise(order))
    assert {index for index, character in enumerate(source) if not character.isspace()} <= set(order)


def test_a_wide_character_is_in_two_cells() -> None:
    rows = text_rows("a漢字 b", "plain", 5, LOOK)
    assert SourceMap().offsets(rows, "a漢字 b") == [[0, 1, 1, 2, 2], [4]]


@pytest.mark.parametrize(
    ("markdown", "width", "expected"),
    [
        ("# Title\n\nSome **bold** `code`", 40, ["Title", "", "Some bold code"]),
        ("foo**bar**baz", 40, ["foobarbaz"]),
        ("see [the page](http://a.b/c) now", 40, ["see the page (http://a.b/c) now"]),
        ("1. one\n1. two 2 twos", 40, ["1. one", "·· two 2 twos"]),
        ("- a\n  - b • c", 40, ["· a", "· b • c"]),
        ("> quoted text", 40, ["· quoted text"]),
        ("```python\npython = 1\n```\nafter", 14, ["python = 1", "", "after"]),
        ("~~~nolang more\nx\n~~~", 18, ["nolang more", "x"]),
        ("a &amp; b &gt;", 40, ["a & b &"]),
        ("\\*not em\\* and *em*", 40, ["*not em* and em"]),
        ("| a | b |\n|---|--:|\n| one | 1 |", 40, ["a b", "········", "one 1"]),
        (
            "| k | text |\n|---|---|\n| first cell | a long text |\n| second | more of it |",
            17,
            ["k text", "·" * 16, "first · long", "cell text", "second more of", "it"],
        ),
    ],
)
def test_markdown_is_mapped_to_what_was_written(markdown: str, width: int, expected: list[str]) -> None:
    assert shown(text_rows(markdown, "markdown", width, LOOK), markdown) == expected


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("format", ["markdown", "call"])
def test_offsets_of_hostile_text_are_in_it(format: Format, text: str) -> None:
    body = text[:20_000]
    source = source_text(body, format)
    for row in SourceMap().offsets(text_rows(body, format, 20, LOOK), source):
        assert all(offset == NOWHERE or 0 <= offset < len(source) for offset in row)


@given(st.lists(PLAIN, min_size=1, max_size=6))
def test_a_text_that_grows_is_mapped_as_if_it_were_new(pieces: list[str]) -> None:
    grown, rows = SourceMap(), list[Row]()
    source = ""
    for piece in pieces:
        source += source_text(piece, "plain") + "\n"
        # Rows that stay are the same objects, as with a live block.
        rows = [*rows, *text_rows(piece + "\n", "plain", 20, LOOK)]
        assert grown.offsets(rows, source) == SourceMap().offsets(rows, source)
