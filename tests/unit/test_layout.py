"""How the code is laid out: sizes of files, finished work, named bindings, styles of theme variables."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from textual.binding import Binding
from textual.color import Color, ColorParseError

from our_nodes import nodes

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted([*ROOT.glob("app/**/*.py"), *ROOT.glob("widgets/**/*.py")])
STYLES = sorted(ROOT.glob("styles/*.tcss"))


def lines(file: Path) -> int:
    return len(file.read_text(encoding="utf-8").splitlines())


def is_colour(word: str) -> bool:
    """Whether a word of a style sheet is a literal colour; the terminal's own (`ansi_blue`) are a theme."""
    if word.startswith(("$", "ansi_")) or word in ("auto", "transparent"):
        return False
    try:
        Color.parse(word)
    except ColorParseError:
        return False
    return True


def test_the_app_and_its_screens_stay_thin():
    assert lines(ROOT / "app/agentscope_tui/tui/app.py") <= 200
    screens = sorted(ROOT.glob("app/agentscope_tui/tui/screens/*.py"))
    assert [file.name for file in screens if lines(file) > 400] == []


def test_every_file_says_in_its_first_line_what_it_is():
    unsaid = [file for file in SOURCES if not file.read_text(encoding="utf-8").startswith('"""')]
    assert [str(file.relative_to(ROOT)) for file in unsaid] == []


def test_nothing_is_left_for_later():
    marks = re.compile(r"NotImplementedError|\bTODO\b|\bFIXME\b|\bXXX\b")
    assert [str(file) for file in SOURCES if marks.search(file.read_text(encoding="utf-8"))] == []


def test_every_binding_has_an_id_and_a_tooltip():
    classes = nodes()
    assert len(classes) > 15
    bare = [
        f"{cls.__name__}: {binding}"
        for cls in classes
        for binding in cls.__dict__.get("BINDINGS", ())
        if not (isinstance(binding, Binding) and binding.id and binding.tooltip)
    ]
    assert bare == []


def test_no_two_acts_share_an_id():
    owners: dict[str, set[str]] = {}
    for cls in nodes():
        for binding in cls.__dict__.get("BINDINGS", ()):
            owners.setdefault(binding.id, set()).add(f"{binding.action} {binding.description}")
    assert {name: acts for name, acts in owners.items() if len(acts) > 1} == {}


@pytest.mark.parametrize("file", STYLES, ids=lambda file: file.name)
def test_a_style_sheet_uses_theme_variables_only(file: Path):
    sheet = re.sub(r"/\*.*?\*/", "", file.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert "!important" not in sheet
    assert re.findall(r"(?m)^\s*\*|[,>]\s*\*", sheet) == []
    values = re.findall(r"([\w-]+)\s*:\s+([^;{}]+);", sheet)
    assert values
    words = [(name, word) for name, value in values for word in value.replace(",", " ").split()]
    assert [f"{name}: {word}" for name, word in words if is_colour(word)] == []
