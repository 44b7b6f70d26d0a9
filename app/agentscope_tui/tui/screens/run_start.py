"""What is asked before rows are run: how many of them, how often each, and how many at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Label, Static

from agentscope_tui.errors import UserError
from agentscope_tui.figures import dollars
from agentscope_widgets.key_bar import KeyBar
from agentscope_widgets.prompt_line import SafeInput
from agentscope_widgets.safe_text import safe_line

_MOST_AT_A_TIME = 10_000


@dataclass(frozen=True)
class RunPlan:
    """What is to be run: the indices of the rows, how often each, and how many sessions at a time."""

    rows: Sequence[int]
    rollouts: int
    concurrency: int


class RunStartScreen(ModalScreen[RunPlan | None]):
    """Gives the plan, or None when it was left. Enter starts from any field."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "start", "run", id="run_start.start", tooltip="Run these rows", priority=True),
        Binding(
            "tab,down",
            "app.focus_next",
            "next",
            id="run_start.next",
            tooltip="To the next field",
            # What is typed right after it is for the next field.
            priority=True,
        ),
        Binding(
            "shift+tab,up",
            "app.focus_previous",
            "before",
            id="run_start.previous",
            tooltip="To the field before",
            show=False,
            priority=True,
        ),
        Binding("escape", "leave", "cancel", id="run_start.leave", tooltip="Run nothing"),
    ]

    def __init__(self, rows: Sequence[int], which: str, *, concurrency: int, cost: float | None) -> None:
        """`which` says what rows these are; `cost` is what one cost so far, in dollars, if it is known."""
        super().__init__()
        self._rows = rows
        self._which = which
        self._concurrency = concurrency
        self._cost = cost

    def compose(self) -> ComposeResult:
        defaults = (
            ("rows", f"{len(self._rows)}", "of them, in the order of the list"),
            ("rollouts", "1", "times each: several tell how sure a reward is"),
            ("concurrency", f"{self._concurrency}", "at a time"),
        )
        with Vertical(id="dialog"):
            yield Static(Content(safe_line(self._which, 200)), id="question")
            for name, value, words in defaults:
                with Horizontal(classes="field"):
                    yield Label({"concurrency": "sessions"}.get(name, name))
                    yield SafeInput(value, id=name, compact=True, type="integer", max_length=9)
                    yield Label(words, classes="words")
            yield Static(id="run-cost")
            yield Static(id="run-error")
        yield KeyBar()

    def on_mount(self) -> None:
        self.query_one("#dialog").border_title = "Run rows in the background"
        self.query_one("#run-error").display = False
        self._tell_cost()
        self.query_one("#rows", Input).focus()

    def action_start(self) -> None:
        # What was typed before it is still on its way to the field.
        (self.focused or self).call_later(self._start)

    def _start(self) -> None:
        try:
            plan = self._plan()
        except UserError as error:
            told = self.query_one("#run-error", Static)
            told.update(Content(f"✗ {error}"))
            told.display = True
            return
        self.dismiss(plan)

    def action_leave(self) -> None:
        self.dismiss(None)

    @on(Input.Changed)
    def _tell_cost(self) -> None:
        """What it may cost, by what a row has cost so far."""
        try:
            plan = self._plan()
        except UserError:
            return
        sessions = len(plan.rows) * plan.rollouts
        text = f"{sessions:,} session{'s' * (sessions != 1)}"
        if self._cost is not None:
            text += f" · about {dollars(self._cost * sessions)}, as one cost {dollars(self._cost)} so far"
        self.query_one("#run-cost", Static).update(Content(text))

    def _plan(self) -> RunPlan:
        rows = self._number("rows", len(self._rows))
        rollouts = self._number("rollouts", 1_000)
        return RunPlan(self._rows[:rows], rollouts, self._number("concurrency", _MOST_AT_A_TIME))

    def _number(self, name: str, most: int) -> int:
        text = self.query_one(f"#{name}", Input).value.strip()
        if not text.isdecimal() or not 1 <= int(text) <= most:
            raise UserError(f"{name}: a number from 1 to {most:,}")
        return int(text)
