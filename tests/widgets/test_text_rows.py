"""Wrapping: rows fit their width, lose nothing but the blanks at a break, and keep their styles."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style

from agentscope_widgets.safe_text import safe_text
from agentscope_widgets.text_rows import (
    Row,
    break_offsets,
    expand_tabs,
    fit,
    split_lines,
    without_tabs,
    wrap_line,
    wrap_runs,
)

LINE = st.text(st.sampled_from("ab \t漢é"), max_size=60)


def texts(rows: list[Row]) -> list[str]:
    return ["".join(run.text for run in row) for row in rows]


@given(LINE, st.integers(2, 12), st.booleans())
def test_rows_fit_and_hold_the_whole_text(line: str, width: int, words: bool) -> None:
    rows = texts(wrap_line(line, width, Style.null(), words=words))
    assert all(cell_len(row) <= width for row in rows)
    if words:
        assert "".join(rows).replace(" ", "") == line.replace(" ", "").replace("\t", "")
    else:
        assert "".join(rows) == without_tabs(line)


@given(LINE, st.integers(2, 12), st.booleans(), st.integers(0, 60))
def test_styled_pieces_wrap_as_the_same_text_in_one_style(
    line: str, width: int, words: bool, cut: int
) -> None:
    bold = Style(bold=True)
    pieces = [Segment(line[:cut], bold), Segment(line[cut:], Style.null())]
    rows = wrap_runs(pieces, width, words=words)
    whole = "".join(run.text for run in expand_tabs(pieces))
    assert texts(rows) == texts(wrap_line(whole, width, bold, words=words))


def test_tabs_go_to_the_next_stop_in_cells() -> None:
    assert without_tabs("a\tb\t\tc") == "a   b       c"
    assert without_tabs("漢\tb", column=1) == "漢 b"


def test_words_stay_whole_and_long_ones_break() -> None:
    assert texts(wrap_line("one two three", 8, Style.null())) == ["one two", "three"]
    assert texts(wrap_line("abcdefghij", 4, Style.null())) == ["abcd", "efgh", "ij"]
    assert texts(wrap_line("  indented text", 8, Style.null())) == ["  indent", "ed text"]


def test_a_wide_character_never_straddles_the_edge() -> None:
    assert texts(wrap_line("a漢漢漢", 4, Style.null())) == ["a漢", "漢漢"]
    assert break_offsets("漢漢", 1) == [0, 1]


def test_a_style_goes_with_its_text_over_a_break() -> None:
    red, blue = Style(color="red"), Style(color="blue")
    rows = wrap_runs([Segment("aaa bb", red), Segment("b ccc", blue)], 4)
    assert rows == [[Segment("aaa", red)], [Segment("bb", red), Segment("b", blue)], [Segment("ccc", blue)]]


def test_lines_are_split_across_pieces() -> None:
    red = Style(color="red")
    assert split_lines([Segment("a\nb", red), Segment("c\n\nd")]) == [
        [Segment("a", red)],
        [Segment("b", red), Segment("c")],
        [],
        [Segment("d")],
    ]


@given(st.text(max_size=20), st.integers(0, 12))
def test_fit_is_exactly_as_wide_as_asked(text: str, width: int) -> None:
    line = safe_text(text).replace("\n", " ").replace("\t", " ")
    assert cell_len(fit(line, width)) == width
