"""A screen of long structured text over the debugger: the frame of messages, tools and help."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.content import Content
from textual.screen import ModalScreen

from agentscope_widgets.blocks import Block
from agentscope_widgets.detail_view import DetailView
from agentscope_widgets.key_bar import KeyBar
from agentscope_widgets.prompt_line import PromptLine


class DetailScreen(ModalScreen[None]):
    """Shows blocks; a subclass makes them. `j` changes to the other form where there is one."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", "back", id="detail.leave", tooltip="Back to the session"),
        Binding(
            "j", "other_form", "as JSON", id="detail.json", tooltip="Show the same as JSON, or as text again"
        ),
        Binding("n", "match(1)", "next match", id="detail.next", tooltip="To the next match of the search"),
        Binding("N", "match(-1)", "match before", id="detail.previous", tooltip="To the match before"),
    ]
    HEADING: ClassVar[str] = ""
    HAS_JSON: ClassVar[bool] = True

    def __init__(self) -> None:
        super().__init__()
        self._as_json = False
        self.heading = self.HEADING
        """The pane's title; may say what `blocks` found."""

    def compose(self) -> ComposeResult:
        with Container(id="detail-pane", classes="pane"):
            yield from self.content()
            yield PromptLine()
        yield KeyBar()

    def content(self) -> ComposeResult:
        """What the pane has above its prompt line; one of it is a `DetailView`."""
        yield DetailView(id="detail")

    def on_mount(self) -> None:
        self.redraw()
        self.query_one(DetailView).focus()

    def blocks(self, as_json: bool) -> Sequence[Block]:
        """What to show."""
        return ()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        match action:
            case "other_form":
                return self.HAS_JSON
            case "match":
                return self.query_one(DetailView).searching
            case _:
                return True

    def action_leave(self) -> None:
        self.dismiss(None)

    def action_other_form(self) -> None:
        self._as_json = not self._as_json
        self.redraw()

    def action_match(self, step: int) -> None:
        self.query_one(DetailView).go_match(step)

    def redraw(self) -> None:
        """Show the blocks as they are now."""
        self.query_one(DetailView).show(self.blocks(self._as_json))
        self.query_one("#detail-pane").border_title = Content(self.heading)
