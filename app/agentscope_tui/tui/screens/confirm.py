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
from textual.reactive import var
from textual.screen import ModalScreen
from textual.widgets import Button, Static

GRACE = 0.4
"""Seconds without a key before a key answers: who types on does not answer a question not yet read."""


@dataclass(frozen=True)
class Choice:
    """One answer: its key, its value, and what it says."""

    key: str
    value: str
    text: str


class ConfirmScreen(ModalScreen[str | None]):
    """Gives the chosen value, or None when it was left with esc.

    Keys answer only once it has been in sight for a moment in which none came; until then the answers are
    dimmed, and nothing says that a key answers. The mouse and esc act at once.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "cancel", id="confirm.leave", tooltip="Leave everything as it was")
    ]

    # A button with the focus would take Enter, from somebody who types on.
    AUTO_FOCUS = ""

    listening: var[bool] = var(False, toggle_class="-listening")
    """Whether a key answers now."""

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
        self._grace = self.set_timer(GRACE, self._listen)

    def on_key(self, event: Key) -> None:
        if event.key == "escape":
            return
        if not self.listening:
            event.stop()
            self._grace.reset()
            return
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

    def _listen(self) -> None:
        self.listening = True
        self.query_one("#dialog").border_subtitle = "a key answers"
        self.query_one("#cancel", Button).focus()
