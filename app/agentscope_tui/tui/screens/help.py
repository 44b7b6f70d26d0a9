"""Help: the keys, made from the same tables that bind them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from textual.binding import Binding
from textual.dom import DOMNode

from agentscope_tui.tui.keys import KEYS
from agentscope_tui.tui.screens.detail import DetailScreen
from agentscope_widgets.blocks import Block
from agentscope_widgets.call_list import CallList
from agentscope_widgets.composer import Composer
from agentscope_widgets.output_view import OutputView
from agentscope_widgets.row_list import RowList
from agentscope_widgets.steer_queue import SteerQueue
from agentscope_widgets.transcript import Transcript

INTRODUCTION = (
    "Open a row: an agent sets to work on it and stops after each model call. Step it, let it run, interrupt "
    "it, or write to it at any time: what you write reaches it at its next step.\n"
    "tab and shift+tab go from pane to pane. Letters act where no text is typed."
)
PANES: Sequence[tuple[str, type[DOMNode]]] = (
    ("Rows", RowList),
    ("Transcript", Transcript),
    ("Message box", Composer),
    ("Queued messages", SteerQueue),
    ("Tool calls", CallList),
    ("Output", OutputView),
)


class HelpScreen(DetailScreen):
    """What it is, and a section of keys for the screen and each pane."""

    HEADING: ClassVar[str] = "Help"
    HAS_JSON: ClassVar[bool] = False

    def blocks(self, as_json: bool) -> Sequence[Block]:
        screen = [(_keys(key.letter, key.everywhere), key.help) for key in KEYS]
        screen.append(("esc", "Close what lies on top, leave the message box; else interrupt"))
        return [
            Block(key="about", title="agentscope", body=INTRODUCTION),
            Block(key="screen", title="Everywhere", body=_table(screen)),
            *(Block(key=name, title=name, body=_table(_bound(pane))) for name, pane in PANES),
        ]


def _bound(pane: type[DOMNode]) -> Iterable[tuple[str, str]]:
    for base in reversed(pane.__mro__):
        for binding in base.__dict__.get("BINDINGS", ()):
            if isinstance(binding, Binding) and binding.id is not None:
                yield _keys(*binding.key.split(",")), binding.tooltip or binding.description


def _keys(*keys: str) -> str:
    names = {"question_mark": "?", "left_square_bracket": "[", "right_square_bracket": "]", "escape": "esc"}
    return ", ".join(dict.fromkeys(names.get(key, key) for key in keys))


def _table(rows: Iterable[tuple[str, str]]) -> str:
    rows = list(rows)
    width = max((len(keys) for keys, _ in rows), default=0)
    return "\n".join(f"{keys:<{width}}  {text}" for keys, text in rows)
