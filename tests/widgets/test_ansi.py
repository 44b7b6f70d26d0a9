"""Escape sequences: colours become styles, whatever else comes is seen as symbols."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.segment import Segment

from agentscope_widgets.ansi import AnsiDecoder
from hostile import HOSTILE, raw_characters


def decode(*chunks: str) -> list[Segment]:
    decoder = AnsiDecoder()
    return list(
        Segment.simplify([*(piece for chunk in chunks for piece in decoder.feed(chunk)), *decoder.close()])
    )


def styled(text: str) -> list[tuple[str, str]]:
    return [(piece.text, str(piece.style) if piece.style else "") for piece in decode(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\x1b[31mb\x1b[0mc", [("a", ""), ("b", "color(1)"), ("c", "")]),
        ("\x1b[1;92;44mx", [("x", "bold color(10) on color(4)")]),
        ("\x1b[38;5;200mx\x1b[39my", [("x", "color(200)"), ("y", "")]),
        ("\x1b[38;2;1;2;3mx", [("x", "#010203")]),
        ("\x1b[38:2::1:2:3mx", [("x", "#010203")]),
        ("\x1b[4:3mx\x1b[24my", [("x", "underline"), ("y", "")]),
        ("\x1b[mx", [("x", "")]),
        ("\x1b[38;5mx", [("x", "")]),
        ("\x1b[38;5;999mx", [("x", "")]),
        ("\x1b[1mx\x1b[22my", [("x", "bold"), ("y", "")]),
    ],
)
def test_colours_become_styles(text: str, expected: list[tuple[str, str]]) -> None:
    assert styled(text) == expected


def test_concealed_text_and_text_in_the_colour_of_its_ground_is_seen() -> None:
    assert styled("\x1b[8mhidden") == [("hidden", "")]
    assert styled("\x1b[31;41mhidden") == [("hidden", "")]


@pytest.mark.parametrize("text", ["\x1b[2J", "\x1b]52;c;eA==\x07", "\x9b31m", "\x1b[?25l", "\x1b[31", "\x1b"])
def test_every_other_sequence_is_seen(text: str) -> None:
    shown = "".join(piece.text for piece in decode(text))
    assert raw_characters(shown) == []
    assert shown[0] in "␛⟨"


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_comes_out_safe(name: str) -> None:
    shown = "".join(piece.text for piece in decode(HOSTILE[name]))
    assert set(raw_characters(shown)) <= {"U+000A", "U+0009"}


@given(
    st.lists(st.sampled_from(["\x1b", "[", "3", "1", ";", "m", "x", "\n", "K", ":"]), max_size=30), st.data()
)
def test_chunks_may_be_cut_anywhere(characters: list[str], data: st.DataObject) -> None:
    text = "".join(characters)
    cut = data.draw(st.integers(0, len(text)))
    assert decode(text[:cut], text[cut:]) == decode(text)
