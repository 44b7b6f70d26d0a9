"""One line at the bottom of a pane in which the user answers a pane's question: a number, a search."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget
from textual.widgets import Input, Static

from .safe_text import safe_line

LONGEST = 1_000
"""Characters of an answer."""


class PromptLine(Horizontal):
    """Hidden until a pane opens it with a question: title at the left, the answer, a note at the right.

    A pane composes one after its view; the view finds it with `beside`. What the user does is posted to
    the widget that opened it, as if it had come from a child. Enter leaves it open: the owner closes it.
    """

    DEFAULT_CSS = """
    PromptLine {
        display: none;
        height: 1;
        background: $panel;
        & > .prompt-line--title { width: auto; max-width: 50%; padding: 0 1; color: $text-primary; }
        & > .prompt-line--switches { width: auto; padding: 0 0 0 1; color: $text-muted; }
        & > .prompt-line--note { width: auto; max-width: 50%; padding: 0 1; color: $text-muted; }
        & > SafeInput { width: 1fr; background: $panel; }
        &:ansi { background: ansi_default; }
        &:ansi > SafeInput { background: ansi_default; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "cancel", "Close", show=False, id="prompt.cancel", tooltip="Close this line"),
        Binding("down", "next", "Next", show=False, id="prompt.next", tooltip="Go to the next match"),
        Binding(
            "up", "previous", "Previous", show=False, id="prompt.previous", tooltip="Go to the match before"
        ),
        Binding("alt+c", "switch('case')", "case", id="prompt.case", tooltip="Search: tell capitals, or not"),
        Binding(
            "alt+r",
            "switch('regex')",
            "regex",
            id="prompt.regex",
            tooltip="Search: regular expression, or text",
        ),
    ]

    note: reactive[str] = reactive("")
    """What is said at the right: `3/17`, or what is wrong with the answer."""
    switches: reactive[Mapping[str, bool]] = reactive[Mapping[str, bool]](dict)
    """What can be switched, by name, and whether it is on; the owner is asked to."""

    class PromptMessage(Message):
        """What the user did: `question` as it was given to `open`, `value` the answer so far."""

        def __init__(self, prompt: PromptLine) -> None:
            super().__init__()
            self.prompt = prompt
            self.question = prompt.question
            self.value = prompt.value

        @property
        def control(self) -> PromptLine:
            """The line."""
            return self.prompt

    class Changed(PromptMessage):
        """The answer is another than a moment ago."""

    class Submitted(PromptMessage):
        """Enter."""

    class Cancelled(PromptMessage):
        """Escape; the line is closed."""

    class NextRequested(PromptMessage):
        """Down: the next match of what was asked."""

    class PreviousRequested(PromptMessage):
        """Up: the match before."""

    class SwitchRequested(PromptMessage):
        """The user wants `switch` to be the other way round."""

        def __init__(self, prompt: PromptLine, switch: str) -> None:
            super().__init__(prompt)
            self.switch = switch

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.question = ""
        """Which question is open, in a word of its owner's; empty while the line is closed."""
        self._owner: Widget | None = None
        self._title = Static(classes="prompt-line--title", markup=False)
        self._input = SafeInput(compact=True, select_on_focus=False)
        self._switches = Static(classes="prompt-line--switches", markup=False)
        self._note = Static(classes="prompt-line--note", markup=False)

    @classmethod
    def beside(cls, widget: Widget) -> PromptLine:
        """The prompt line in the same pane as `widget`.

        Raises:
            NoMatches: the pane has none.
        """
        assert widget.parent is not None
        return widget.parent.query_one(cls)

    def compose(self) -> ComposeResult:
        yield self._title
        yield self._input
        yield self._switches
        yield self._note

    @property
    def value(self) -> str:
        """The answer so far."""
        return self._input.value

    def open(
        self,
        owner: Widget,
        question: str,
        title: str,
        value: str = "",
        *,
        note: str = "",
        switches: Mapping[str, bool] | None = None,
    ) -> None:
        """Ask: `title` is shown, `value` is the answer to begin with; `owner` is told what comes of it."""
        self._owner = owner
        self.question = question
        self._title.update(Content(safe_line(title)))
        self.note = note
        self.switches = switches or {}
        # Set in silence: an answer to begin with is no change by the user.
        with self._input.prevent(Input.Changed):
            self._input.value = value
        self._input.cursor_position = len(self._input.value)
        self.display = True
        # `focus()` waits its turn: what is typed meanwhile would be keys of the pane.
        self.screen.set_focus(self._input)

    def close(self) -> None:
        """Hide the line; the keys go to its owner again."""
        had_focus, owner = self._input.has_focus, self._owner
        self.display = False
        self.question = ""
        self._owner = None
        if had_focus and owner is not None:
            self.screen.set_focus(owner)

    def watch_note(self, note: str) -> None:
        self._note.update(Content(safe_line(note)))

    def watch_switches(self, switches: Mapping[str, bool]) -> None:
        self._switches.display = bool(switches)
        self._switches.update(
            Content(" ".join(f"{'☑' if on else '☐'} {name}" for name, on in switches.items()))
        )

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return action != "switch" or parameters[0] in self.switches

    def action_switch(self, name: str) -> None:
        self._tell(self.SwitchRequested(self, name))

    def action_cancel(self) -> None:
        owner, message = self._owner, self.Cancelled(self)
        self.close()
        if owner is not None:
            owner.post_message(message)

    def action_next(self) -> None:
        self._tell(self.NextRequested(self))

    def action_previous(self) -> None:
        self._tell(self.PreviousRequested(self))

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        event.stop()
        self._tell(self.Changed(self))

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self._tell(self.Submitted(self))

    def _tell(self, message: PromptMessage) -> None:
        if self._owner is not None:
            self._owner.post_message(message)


class SafeInput(Input):
    """An `Input` in which controls, typed, pasted or set, are visible symbols: what it shows is its text."""

    def replace(self, text: str, start: int, end: int) -> None:
        super().replace(safe_line(text, LONGEST), start, end)

    def validate_value(self, value: str) -> str:
        return safe_line(value, LONGEST)
