"""Markdown as rows: what each element looks like, and that nothing of the text is hidden."""

from __future__ import annotations

from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style

from agentscope_widgets.code_highlight import highlight_json
from agentscope_widgets.look import Look
from agentscope_widgets.markdown_rows import LONGEST, ending, markdown_rows
from agentscope_widgets.safe_text import safe_text
from agentscope_widgets.text_rows import Row
from hostile import HOSTILE, raw_characters

LOOK = Look(**{field.name: Style(color=f"color({number})") for number, field in enumerate(fields(Look))})


def texts(markdown: str, width: int = 40) -> list[str]:
    return [
        "".join(run.text for run in row).rstrip() for row in markdown_rows(safe_text(markdown), width, LOOK)
    ]


def style_of(rows: list[Row], text: str) -> Style:
    styles = [run.style for row in rows for run in row if run.text == text]
    assert styles, f"no run {text!r}"
    return styles[0] or Style.null()


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("# Title\ntext", ["Title", "", "text"]),
        ("first\nsecond", ["first", "second"]),
        ("- a\n- b\n  - c", ["• a", "• b", "  • c"]),
        ("9. a\n10. b", [" 9. a", "10. b"]),
        ("- a\n\n- b", ["• a", "", "• b"]),
        ("> quoted\n> more", ["▌ quoted", "▌ more"]),
        ("---", ["─" * 40]),
        ("```\nx = 1\n```", [" x = 1"]),
        ("[text](http://a.b)", ["text (http://a.b)"]),
        ("<http://a.b>", ["http://a.b"]),
        ('[t](http://a.b "title")', ['t (http://a.b "title")']),
        ("![alt](http://a.b/i.png)", ["![alt](http://a.b/i.png)"]),
        ("a <b>html</b> <!-- hidden -->", ["a <b>html</b> <!-- hidden -->"]),
        ("<div>\nx\n</div>", ["<div>", "x", "</div>"]),
        ("[x]: http://hidden 'title'", ["[x]: http://hidden 'title'"]),
        ("&#8238; &#27;", ["⟨U+202E⟩ �"]),
        ("```sh rm -rf\nx\n```", [" sh rm -rf", " x"]),
        ("```nolanguage\nx\n```", [" nolanguage", " x"]),
    ],
)
def test_elements(markdown: str, expected: list[str]) -> None:
    assert texts(markdown) == expected


def test_a_table_is_aligned_and_wraps_its_widest_column() -> None:
    table = "| name | n |\n|:--|--:|\n| a | 1 |\n| a long name that does not fit | 22 |"
    assert texts(table, 21) == [
        "name                n",
        "─────────────────────",
        "a                   1",
        "a long name that   22",
        "does not fit",
    ]


def test_a_table_with_cells_that_have_no_column_is_shown_as_written() -> None:
    table = "| a |\n|---|\n| 1 | hidden |"
    assert texts(table) == table.split("\n")


def test_emphasis_code_and_links_have_their_styles() -> None:
    rows = markdown_rows("**bold** *italic* ~~gone~~ `code` [link](u)\n# Head", 60, LOOK)
    assert style_of(rows, "bold").bold
    assert style_of(rows, "italic").italic
    assert style_of(rows, "gone").strike
    assert style_of(rows, "code") == LOOK.normal + LOOK.code
    assert style_of(rows, "link") == LOOK.normal + LOOK.link
    assert style_of(rows, "Head").underline


def test_code_is_coloured_and_stands_on_its_own_ground() -> None:
    rows = markdown_rows('```python\ndef f(): return "x"  # why\n```', 40, LOOK)
    assert style_of(rows, "def") == LOOK.code_block + LOOK.code_keyword
    assert style_of(rows, "# why") == LOOK.code_block + LOOK.code_comment
    assert sum(cell_len(run.text) for run in rows[0]) == 40


def test_json_tells_keys_strings_numbers_and_words_apart() -> None:
    (row,) = highlight_json('{"k": ["s", -1.5e3, true]}', LOOK)
    for text, style in (('"k"', LOOK.code_name), ('"s"', LOOK.code_string), ("-1.5e3", LOOK.code_number)):
        assert Segment(text, style) in row
    assert Segment("true", LOOK.code_keyword) in row


def test_a_text_too_long_to_parse_is_shown_as_written() -> None:
    assert texts("**x** " * (LONGEST // 6 + 1), 12)[0] == "**x** **x**"
    assert texts("[" * 3_000, 40)[0] == "[" * 40


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("width", [1, 7, 60])
def test_hostile_markdown_is_drawn_safely(name: str, width: int) -> None:
    for row in texts(HOSTILE[name][:20_000], width):
        assert raw_characters(row) == []


@given(st.text(st.sampled_from("ab |-*_`#>[]()!\n1.<&~\\ "), max_size=120), st.integers(3, 40))
def test_rows_never_exceed_the_width(markdown: str, width: int) -> None:
    for row in markdown_rows(markdown, width, LOOK):
        assert sum(cell_len(run.text) for run in row) <= width


@pytest.mark.parametrize(
    ("text", "stable", "fence"),
    [
        ("", 0, ""),
        ("one", 0, ""),
        ("one\n\ntwo", 2, ""),
        ("one\n\n```\ncode\n\nmore", 2, "```"),
        ("```py\nx\n```", 0, ""),
        ("~~~~\n```", 0, "~~~~"),
        ("- a\n\n- b\n\n- c", 0, ""),
        ("- a\n\ntext\n\n", 2, ""),
    ],
)
def test_what_of_a_growing_text_is_final(text: str, stable: int, fence: str) -> None:
    assert ending(text) == (stable, fence)
