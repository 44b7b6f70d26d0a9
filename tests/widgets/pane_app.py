"""An app around panes under test, which keeps their messages; and what a pane shows, as text."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

from textual.app import App, ComposeResult
from textual.geometry import Region
from textual.message import Message
from textual.widget import Widget

M = TypeVar("M", bound=Message)

STYLES = sorted((Path(__file__).parents[2] / "styles").glob("*.tcss"))


class PaneApp(App[None]):
    """Shows the given widgets one below the other, the first focused."""

    CSS_PATH = STYLES

    def __init__(self, *panes: Widget) -> None:
        super().__init__()
        self.panes = panes
        self.messages: list[Message] = []

    def compose(self) -> ComposeResult:
        yield from self.panes

    def on_mount(self) -> None:
        if self.panes[0].focusable:
            self.panes[0].focus()

    def record(self, message: Message) -> None:
        """A hook for `run_test`: keeps what panes post."""
        # A message that bubbles passes the hook at every stop.
        known = any(message is earlier for earlier in self.messages)
        if not known and type(message).__module__.startswith("agentscope_widgets"):
            self.messages.append(message)

    def posted(self, kind: type[M]) -> Sequence[M]:
        """The messages of one kind so far."""
        return [message for message in self.messages if isinstance(message, kind)]


def lines(pane: Widget) -> list[str]:
    """The lines inside a pane's border and padding, without the blanks at their ends."""
    gutter, (width, height) = pane.gutter, pane.scrollable_content_region.size
    strips = pane.render_lines(Region(0, gutter.top, pane.outer_size.width, height))
    return [strip.crop(gutter.left, gutter.left + width).text.rstrip() for strip in strips]


def shown(pane: Widget) -> str:
    """What a pane shows, as one text."""
    return "\n".join(lines(pane))
