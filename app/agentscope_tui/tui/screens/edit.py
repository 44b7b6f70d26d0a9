"""A text to edit over the debugger: the waiting step, or the reason why it is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from agentscope_tui.errors import UserError
from agentscope_widgets.key_bar import KeyBar, key_name
from agentscope_widgets.safe_area import SafeTextArea
from agentscope_widgets.safe_text import safe_text


class EditScreen(ModalScreen[str | None]):
    """Gives the text, or None when it was left. `check` refuses a text by raising UserError.

    The title ends with the key that accepts, and `accepting`: what it does with the text.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s,f10", "accept", "accept", id="edit.accept", tooltip="Go on with this text"),
        Binding("escape", "leave", "cancel", id="edit.leave", tooltip="Leave everything as it was"),
    ]

    def __init__(self, title: str, accepting: str, text: str, check: Callable[[str], object]) -> None:
        super().__init__()
        self._heading = title
        self._accepting = accepting
        self._text = self._shown = text
        self._check = check

    def compose(self) -> ComposeResult:
        with Vertical(id="edit-pane", classes="pane"):
            yield SafeTextArea(id="edited", soft_wrap=True, show_line_numbers=False)
            yield Static(id="edit-error")
        yield KeyBar()

    def on_mount(self) -> None:
        active = (each.binding for each in self.active_bindings.values())
        key = next(key_name(binding.key) for binding in active if binding.id == "edit.accept")
        self.query_one("#edit-pane").border_title = Content(f"{self._heading} · {key} {self._accepting}")
        area = self.query_one(SafeTextArea)
        area.load_text(self._text)
        self._shown = area.text
        area.move_cursor(area.document.end)
        area.focus()

    def action_accept(self) -> None:
        text = self.query_one(SafeTextArea).text
        if text == self._shown:
            text = self._text
        try:
            self._check(text)
        except UserError as error:
            self.query_one("#edit-error", Static).update(Content(safe_text(f"✗ {error}")))
            return
        self.dismiss(text)

    def action_leave(self) -> None:
        self.dismiss(None)
