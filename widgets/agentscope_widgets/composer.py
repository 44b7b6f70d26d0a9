"""Where the user writes to the agent: Enter sends, the box grows with the text, older messages come back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.events import Key
from textual.message import Message

from .safe_area import SafeTextArea


class Composer(SafeTextArea):
    """A text box for messages. What it shows is what is sent: controls in pasted text become symbols."""

    DEFAULT_CSS = """
    Composer {
        height: auto;
        max-height: 10;
        scrollbar-size-vertical: 1;
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "send", "send", id="composer.send", tooltip="Send the message"),
        Binding(
            "ctrl+j,shift+enter",
            "new_line",
            "new line",
            show=False,
            id="composer.newline",
            tooltip="Break the line",
        ),
        Binding("escape", "leave", "leave", id="composer.leave", tooltip="Leave the composer"),
    ]

    class ComposerMessage(Message):
        """What happened in a composer."""

        def __init__(self, composer: Composer) -> None:
            super().__init__()
            self.composer = composer

        @property
        def control(self) -> Composer:
            """The composer."""
            return self.composer

    class Submitted(ComposerMessage):
        """The user sends `text`; the composer is empty again."""

        def __init__(self, composer: Composer, text: str) -> None:
            super().__init__(composer)
            self.text = text

    class EmptySubmitted(ComposerMessage):
        """Enter, with nothing written."""

    class Left(ComposerMessage):
        """The user wants out; the text stays."""

    def __init__(self, *, placeholder: str = "", id: str | None = None, classes: str | None = None) -> None:
        super().__init__(
            placeholder=placeholder,
            id=id,
            classes=classes,
            highlight_cursor_line=False,
            soft_wrap=True,
            tab_behavior="focus",
        )
        self.past_messages: Sequence[str] = ()
        """What was sent before, the newest last. The owner keeps it."""
        self._back = 0
        self._draft = ""

    def check_consume_key(self, key: str, character: str | None = None) -> bool:
        return not key.startswith("alt+") and super().check_consume_key(key, character)

    async def _on_key(self, event: Key) -> None:
        # Enter is a binding here, and alt with a letter is a shortcut of somebody else's.
        if event.key == "enter" or event.key.startswith("alt+"):
            event.prevent_default()

    def action_send(self) -> None:
        text = self.text
        if not text.strip():
            self.post_message(self.EmptySubmitted(self))
            return
        self._back, self._draft = 0, ""
        self.clear()
        self.post_message(self.Submitted(self, text))

    def action_new_line(self) -> None:
        self.insert("\n")

    def action_leave(self) -> None:
        self.post_message(self.Left(self))

    def action_cursor_up(self, select: bool = False) -> None:
        if not select and self.navigator.is_first_wrapped_line(self.cursor_location):
            self._recall(self._back + 1)
        else:
            super().action_cursor_up(select)

    def action_cursor_down(self, select: bool = False) -> None:
        if not select and self._back and self.navigator.is_last_wrapped_line(self.cursor_location):
            self._recall(self._back - 1)
        else:
            super().action_cursor_down(select)

    def _recall(self, back: int) -> None:
        """Show the message `back` places before now; 0 is what was being written."""
        if back > len(self.past_messages):
            return
        if self._back == 0:
            self._draft = self.text
        self._back = back
        self.load_text(self.past_messages[-back] if back else self._draft)
        self.move_cursor(self.document.end)
