"""Forking a session: what is edited where, and the model and temperature from there on."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Label, OptionList, Static
from textual.widgets.option_list import Option

from agentscope_tui.errors import UserError
from agentscope_tui.session.forking import Edit, Fork
from agentscope_tui.store.past import PastSession
from agentscope_tui.tui.fork_choices import ForkChoice, ForkPlace
from agentscope_tui.tui.screens.edit import EditScreen
from agentscope_widgets.key_bar import KeyBar
from agentscope_widgets.prompt_line import SafeInput
from agentscope_widgets.safe_text import safe_line

_SHOWN = 200
"""Characters of a text that a line of the list may show."""


class ForkScreen(ModalScreen[Fork | None]):
    """Gives the fork, or None when it was left."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "enter",
            "choose",
            "edit and fork",
            id="fork.choose",
            tooltip="Edit this, then fork",
            priority=True,
        ),
        Binding(
            "tab",
            "app.focus_next",
            "model, temperature",
            id="fork.next",
            tooltip="To the next field",
            # What is typed right after it is for the next field.
            priority=True,
        ),
        Binding("escape", "leave", "cancel", id="fork.leave", tooltip="Leave everything as it was"),
    ]

    def __init__(
        self, past: PastSession, place: ForkPlace, *, model: str, check_model: Callable[[str], object]
    ) -> None:
        """`model` answers unless another is named; empty: one has to be. `check_model` raises UserError for
        one that cannot be had."""
        super().__init__()
        self._past = past
        self._place = place
        self._model = model
        self._check_model = check_model

    def compose(self) -> ComposeResult:
        with Vertical(id="dialog"):
            yield Static("What is to be different? All before it is replayed, without tokens.", id="question")
            yield OptionList(*map(_option, self._place.choices), id="choices")
            with Horizontal(classes="field"):
                yield Label("model")
                yield SafeInput(id="model", compact=True)
            with Horizontal(classes="field"):
                yield Label("temperature")
                yield SafeInput(id="temperature", compact=True)
            yield Static(id="fork-error")
        yield KeyBar()

    def on_mount(self) -> None:
        self.query_one("#dialog").border_title = f"Fork at call #{self._place.call}"
        same = f"as before: {safe_line(self._model, 34)}" if self._model else "PROVIDER:NAME"
        self.query_one("#model", Input).placeholder = same
        self.query_one("#temperature", Input).placeholder = "as before"
        self.query_one("#fork-error").display = False
        self._list.highlighted = self._place.likely
        self._list.focus()

    @property
    def _list(self) -> OptionList:
        return self.query_one(OptionList)

    @on(OptionList.OptionSelected)
    @on(Input.Submitted)
    def action_choose(self) -> None:
        if self._list.highlighted is not None:
            self._edit(self._place.choices[self._list.highlighted])

    def action_leave(self) -> None:
        self.dismiss(None)

    @work(group="edit", exclusive=True)
    async def _edit(self, choice: ForkChoice) -> None:
        """Edit what was chosen, and fork with it."""
        try:
            model, temperature = self._chosen_model(), self._chosen_temperature()
        except UserError as error:
            told = self.query_one("#fork-error", Static)
            told.update(Content(safe_line(f"✗ {error}", 400)))
            told.display = True
            return
        edit: Edit | None = None
        if choice.edit is not None:
            title = f"{choice.title.capitalize()} · call #{self._place.call}"
            text = await self.app.push_screen_wait(
                EditScreen(safe_line(title, 80), "forks with it", choice.text, choice.edit)
            )
            if text is None:
                return
            edit = choice.edit(text)
        self.dismiss(Fork(self._past, self._place.call, edit, model, temperature))

    def _chosen_model(self) -> str | None:
        name = self.query_one("#model", Input).value.strip()
        if not name and not self._model:
            raise UserError("which model goes on? Name one, as openai:gpt-5-mini")
        if name:
            self._check_model(name)
        return name or None

    def _chosen_temperature(self) -> float | None:
        text = self.query_one("#temperature", Input).value.strip()
        try:
            temperature = float(text) if text else None
        except ValueError:
            temperature = -1.0
        if temperature is not None and not 0 <= temperature <= 2:
            raise UserError("the temperature is a number from 0 to 2")
        return temperature


def _option(choice: ForkChoice) -> Option:
    text = safe_line(" ".join(choice.text[:_SHOWN].split()), _SHOWN)
    title = safe_line(choice.title, 40)
    return Option(Content.assemble((f"{title:<28}", "bold"), "  ", (text, "dim")) if text else Content(title))
