"""A question with a few answers, each a key. Typed text never answers it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.events import Key
from textual.screen import ModalScreen
from textual.widgets import Button, Static


@dataclass(frozen=True)
class Choice:
    """One answer: its key, its value, and what it says."""

    key: str
    value: str
    text: str


class ConfirmScreen(ModalScreen[str | None]):
    """Gives the chosen value, or None when it was left with esc."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "cancel", id="confirm.leave", tooltip="Leave everything as it was")
    ]

    def __init__(self, question: str, choices: Sequence[Choice]) -> None:
        super().__init__()
        self._question = question
        self._choices = {choice.key: choice for choice in choices}

    def compose(self) -> ComposeResult:
        with Vertical(id="dialog"):
            yield Static(Content(self._question), id="question")
            with Horizontal(id="choices"):
                for choice in self._choices.values():
                    yield Button(Content(f"{choice.key}  {choice.text}"), id=f"choice-{choice.key}")
                yield Button(Content("esc  cancel"), id="cancel")

    def on_mount(self) -> None:
        self.query_one("#cancel", Button).focus()

    def on_key(self, event: Key) -> None:
        choice = self._choices.get(event.key)
        if choice is not None:
            event.stop()
            self.dismiss(choice.value)

    def on_button_pressed(self, event: Button.Pressed) -> None:
        key = str(event.button.id).removeprefix("choice-")
        choice = self._choices.get(key)
        self.dismiss(choice.value if choice else None)

    def action_leave(self) -> None:
        self.dismiss(None)
