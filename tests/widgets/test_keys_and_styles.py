"""What holds for every pane: its keys can be changed and explained, its colours come from the theme."""

from __future__ import annotations

import re

import pytest
from pane_app import STYLES
from textual.binding import Binding
from textual.widget import Widget

from agentscope_widgets.block_view import BlockView
from agentscope_widgets.call_list import CallList
from agentscope_widgets.composer import Composer
from agentscope_widgets.line_view import LineView, ScrollingView
from agentscope_widgets.output_view import OutputView
from agentscope_widgets.prompt_line import PromptLine
from agentscope_widgets.row_list import RowList
from agentscope_widgets.searching_view import SearchingView
from agentscope_widgets.selecting_view import SelectingView
from agentscope_widgets.steer_queue import SteerQueue
from agentscope_widgets.transcript import Transcript

PANES: list[type[Widget]] = [
    BlockView,
    CallList,
    Composer,
    OutputView,
    PromptLine,
    RowList,
    ScrollingView,
    SearchingView,
    SelectingView,
    SteerQueue,
    Transcript,
]


@pytest.mark.parametrize("pane", PANES)
def test_every_key_has_an_id_and_a_tooltip_and_gives_way(pane: type[Widget]) -> None:
    bindings = vars(pane)["BINDINGS"]
    assert bindings
    for binding in bindings:
        assert isinstance(binding, Binding)
        assert binding.id, binding
        assert binding.tooltip, binding
        assert not binding.priority, binding


def test_ids_are_used_once() -> None:
    ids = [binding.id for pane in PANES for binding in vars(pane)["BINDINGS"]]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize(
    ("name", "css"),
    [
        *((path.name, path.read_text()) for path in STYLES),
        *((pane.__name__, pane.DEFAULT_CSS) for pane in (LineView, Composer, PromptLine, SteerQueue)),
    ],
)
def test_styles_use_theme_colours_and_plain_selectors(name: str, css: str) -> None:
    rules = re.sub(r"/\*.*?\*/", "", css, flags=re.S)
    assert "!important" not in rules
    assert "*" not in rules
    assert not re.search(r":\s*[^;{]*#[0-9a-fA-F]{3,8}\b", rules)
    assert not re.search(r"\brgba?\(|\bhsl\(", rules)
