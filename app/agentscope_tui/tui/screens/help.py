"""Help: the keys, made from the bindings themselves and the keymap in force."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from textual.binding import Binding
from textual.dom import DOMNode

from agentscope_tui.tui.keymap import Keymap
from agentscope_tui.tui.keys import KEYS
from agentscope_tui.tui.panes.row_panel import RowPanel
from agentscope_tui.tui.panes.rows_pane import RowsPane
from agentscope_tui.tui.screens.detail import DetailScreen
from agentscope_widgets.blocks import Block
from agentscope_widgets.call_list import CallList
from agentscope_widgets.composer import Composer
from agentscope_widgets.key_bar import key_name
from agentscope_widgets.output_view import OutputView
from agentscope_widgets.prompt_line import PromptLine
from agentscope_widgets.row_list import RowList
from agentscope_widgets.searching_view import SearchingView
from agentscope_widgets.selecting_view import SelectingView
from agentscope_widgets.steer_queue import SteerQueue
from agentscope_widgets.transcript import Transcript

INTRODUCTION = (
    "Open a row: an agent sets to work on it and stops after each model call. Step it, let it run, interrupt "
    "it, or write to it at any time: what you write reaches it at its next step.\n"
    "tab and shift+tab go from pane to pane. Letters act where no text is typed; a click on a key at the "
    "bottom of the screen is that key. The mouse drags the borders between panes."
)
PANES: Sequence[tuple[str, Sequence[type[DOMNode]]]] = (
    ("In the rows", (RowList, RowsPane)),
    ("In the whole row", (RowPanel,)),
    ("In the transcript", (Transcript,)),
    ("In the message box", (Composer,)),
    ("In the queued messages", (SteerQueue,)),
    ("In the tool calls", (CallList,)),
    ("In the output", (OutputView,)),
    ("Selecting and copying, in transcript, output and on pages as this one", (SelectingView,)),
    ("Searching in them", (SearchingView,)),
    ("In a line that asks for a number or a search", (PromptLine,)),
)


class HelpScreen(DetailScreen):
    """What it is, and a section of keys for each purpose and each pane."""

    HEADING: ClassVar[str] = "Help"
    HAS_JSON: ClassVar[bool] = False

    def __init__(self, keymap: Keymap) -> None:
        super().__init__()
        self._keymap = keymap

    def blocks(self, as_json: bool) -> Sequence[Block]:
        groups = [(group, [(key.id, key.help) for key in keys]) for group, keys in KEYS.items()]
        panes = [(title, [act for pane in those for act in acts_of(pane)]) for title, those in PANES]
        width = max(len(self._keys(name)) for _, acts in groups + panes for name, _ in acts)
        return [
            Block(key="about", title="agentscope", body=INTRODUCTION),
            *(Block(key=title, title=title, body=self._table(acts, width)) for title, acts in groups + panes),
        ]

    def _table(self, acts: Sequence[tuple[str, str]], width: int) -> str:
        return "\n".join(f"{self._keys(name):<{width}}  {text}" for name, text in acts)

    def _keys(self, name: str) -> str:
        return ", ".join(map(key_name, self._keymap.keys[name]))


def acts_of(pane: type[DOMNode]) -> Iterable[tuple[str, str]]:
    """The acts of a pane: id and what each does; those of any text are told once, on their own."""
    apart = (SelectingView, SearchingView)
    for base in (pane,) if pane in apart else reversed(pane.__mro__):
        if base in apart and base is not pane:
            continue
        for binding in base.__dict__.get("BINDINGS", ()):
            if isinstance(binding, Binding) and binding.id is not None:
                yield binding.id, binding.tooltip or binding.description
