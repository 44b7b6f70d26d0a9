"""The bar of keys: what works now, the focus first, as much as fits, and no letter while one types."""

from __future__ import annotations

import pytest
from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.widgets import Input, Static

from agentscope_widgets.key_bar import KeyBar, key_name
from waiting import wait_until
from widgets.pane_app import shown


class Pane(Static, can_focus=True):
    """Has a key of its own."""

    BINDINGS = [Binding("o", "app.did('open')", "open", id="pane.open", tooltip="Open it")]


class BarApp(App[None]):
    """Two keys of the app, one pinned, over a pane and an input."""

    BINDINGS = [
        Binding("n,f10", "did('step')", "step", id="a.step", tooltip="Make a step"),
        Binding("i,f9", "did('stop')", "stop", id="a.stop", tooltip="Stop it"),
        Binding("x", "did('hidden')", "hidden", show=False, id="a.hidden", tooltip="Not shown"),
        Binding("question_mark,f1", "did('help')", "help", id="a.help", tooltip="Help"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.done: list[str] = []
        self.stoppable = True

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Pane("pane", id="pane")
            yield Input(id="input")
        yield KeyBar(pinned="a.help")

    def action_did(self, what: str) -> None:
        self.done.append(what)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return parameters != ("stop",) or self.stoppable

    @property
    def bar(self) -> str:
        return shown(self.query_one(KeyBar))


async def test_it_shows_what_works_now_the_focus_first_and_the_pinned_key_at_the_right():
    app = BarApp()
    async with app.run_test(size=(50, 6)):
        app.query_one("#pane").focus()
        await wait_until(
            lambda: app.bar.startswith(" o open  n step  i stop  ") and app.bar.endswith("? help")
        )
        app.stoppable = False
        app.refresh_bindings()
        await wait_until(lambda: "stop" not in app.bar)


async def test_while_text_is_typed_it_shows_the_keys_that_act_then():
    app = BarApp()
    async with app.run_test(size=(60, 6)):
        app.query_one("#input").focus()
        await wait_until(lambda: "f10 step  f9 stop" in app.bar and app.bar.endswith("f1 help"))


async def test_it_leaves_out_what_does_not_fit_but_never_the_pinned_key():
    app = BarApp()
    async with app.run_test(size=(24, 6)) as pilot:
        app.query_one("#pane").focus()
        await wait_until(lambda: app.bar == " o open  n step  ? help")
        await pilot.resize_terminal(16, 6)
        await wait_until(lambda: app.bar == " o open  ? help")


async def test_a_click_is_the_key_and_a_pointer_gets_the_sentence():
    app = BarApp()
    async with app.run_test(size=(50, 6)) as pilot:
        app.query_one("#pane").focus()
        await wait_until(lambda: "o open  n step" in app.bar)
        await pilot.click(KeyBar, offset=(app.bar.index("step") + 1, 0))
        await wait_until(lambda: app.done == ["step"])
        await pilot.hover(KeyBar, offset=(2, 0))
        assert str(app.query_one(KeyBar).tooltip) == "Open it"
        await pilot.click(KeyBar, offset=(app.bar.index("help") - 4, 0))
        assert app.done == ["step"]


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("question_mark", "?"),
        ("left_square_bracket", "["),
        ("ctrl+right", "ctrl+→"),
        ("escape", "esc"),
        ("enter", "enter"),
        ("space", "space"),
        ("shift+f5", "shift+f5"),
        ("g g", "g g"),
        ("N", "N"),
        ("pagedown", "pgdn"),
    ],
)
def test_keys_are_written_as_people_write_them(key: str, name: str):
    assert key_name(key) == name
