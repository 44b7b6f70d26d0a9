"""Text made safe: what a terminal obeys or hides is seen, everything else is left alone."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len, get_character_cell_size

from agentscope_widgets.safe_text import safe_line, safe_text
from hostile import HOSTILE, raw_characters


@pytest.mark.parametrize("name", HOSTILE)
def test_only_newlines_and_tabs_are_left_of_the_controls(name: str) -> None:
    assert set(raw_characters(safe_text(HOSTILE[name]))) <= {"U+000A", "U+0009"}
    assert raw_characters(safe_line(HOSTILE[name])) == []


@given(st.text())
def test_any_text_becomes_safe_and_stays_so(text: str) -> None:
    safe = safe_text(text)
    assert safe_text(safe) == safe
    safe.encode()
    assert cell_len(safe.replace("\n", "").replace("\t", "")) == sum(
        get_character_cell_size(character) for character in safe if character not in "\n\t"
    )


@given(st.text(), st.integers(1, 50))
def test_a_safe_line_is_one_line_within_its_limit(text: str, limit: int) -> None:
    line = safe_line(text, limit)
    assert len(line) <= limit
    assert "\n" not in line
    assert "\t" not in line


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\x1b[31mb", "a␛[31mb"),
        ("\x00\x7f\x85", "␀␡⟨U+0085⟩"),
        ("a\u202eb\u200dc", "a⟨U+202E⟩b⟨U+200D⟩c"),
        ("line\r\n", "line␍\n"),
        ("👩\u200d👧 ❤\ufe0f 1\ufe0f\u20e3", "👩👧 ❤ 1\u20e3"),
        ("e" + "\u0301" * 7, "e" + "\u0301" * 4 + "⟨+3 marks⟩"),
        ("Ünï¢ödé 漢字", "Ünï¢ödé 漢字"),
    ],
)
def test_each_kind_has_its_symbol(text: str, expected: str) -> None:
    assert safe_text(text) == expected


def test_a_line_shows_breaks_and_says_that_it_is_cut() -> None:
    assert safe_line("a\r\nb\tc", 10) == "a⏎b c"
    assert safe_line("abcdef", 4) == "abc…"
    assert safe_line("abcd", 4) == "abcd"


def test_a_line_of_a_huge_text_reads_only_its_beginning() -> None:
    class Counted(str):
        taken = 0

        def __getitem__(self, key: object) -> str:
            part = str.__getitem__(self, key)  # type: ignore[index]
            Counted.taken += len(part)
            return part

    assert safe_line(Counted("y" * 1_000_000), 40).endswith("…")
    assert Counted.taken < 1_000


def test_it_needs_neither_textual_nor_rich() -> None:
    code = (
        "import sys, agentscope_widgets.safe_text;"
        "assert not {'textual', 'rich'} & set(sys.modules), sorted(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
