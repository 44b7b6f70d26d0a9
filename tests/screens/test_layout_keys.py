"""Keys on the screen: the bar tells the truth, keymaps change it, typed text approves nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentscope_tui.tui.screens.confirm import ConfirmScreen
from agentscope_tui.tui.screens.edit import EditScreen
from agentscope_tui.tui.screens.help import PANES, HelpScreen, acts_of
from agentscope_widgets.detail_view import DetailView
from agentscope_widgets.key_bar import KeyBar
from agentscope_widgets.row_list import RowList
from our_nodes import bound
from screens.stage import Stage, View, bash, reply
from widgets.pane_app import shown

OURS = {name.partition(".")[0] for name in bound()}


def bar(view: View) -> dict[str, str]:
    """What the bar of keys tells: the key of each word."""
    return {hint.word: hint.key for hint in view.pane(KeyBar).hints}


async def test_the_bar_shows_letters_in_the_panes_and_other_keys_in_the_message_box(stage: Stage):
    stage.says(reply("one", bash("true")), reply("two"))
    async with stage.running() as view:
        await view.until(lambda: "step" not in bar(view) and bar(view).get("help") == "question_mark")
        await view.opened_and_paused()
        await view.until(lambda: bar(view).get("step") == "n" and bar(view).get("interrupt") == "escape")
        await view.press("s")
        await view.until(lambda: bar(view).get("step") == "f10")
        assert {word: bar(view)[word] for word in ("send", "leave", "interrupt", "help")} == {
            "send": "enter",
            "leave": "escape",
            "interrupt": "f9",
            "help": "f1",
        }
        assert "message" not in bar(view)
        await view.press("escape")
        await view.until(lambda: view.focus() == "transcript")
        assert view.state.outcome is None
        await view.press("escape")
        await view.until(lambda: "INTERRUPTED" in view.status)
        await view.until(lambda: "interrupt" not in bar(view) and "step" not in bar(view))


async def test_the_message_box_says_what_a_failed_call_waits_for(stage: Stage):
    stage.says({"error": {"kind": "rate_limit", "message": "later"}})
    async with stage.running(stage.app({"model.retries": 0})) as view:
        await view.open()
        await view.until(lambda: "CALL #1 FAILED" in view.status)
        await view.until(lambda: "retry it or give it up" in str(view.composer.placeholder))
        assert "Enter steps" not in str(view.composer.placeholder)


async def test_keys_typed_on_into_a_question_do_not_answer_it(stage: Stage, monkeypatch: pytest.MonkeyPatch):
    # So long that a slow machine cannot take as long over the keys.
    monkeypatch.setattr("agentscope_tui.tui.screens.confirm.GRACE", 1.5)
    stage.says(reply("", bash("sleep 600")))
    async with stage.running() as view:
        await view.opened_and_paused()
        await view.press("s", "ctrl+q")
        await view.until(lambda: isinstance(view.app.screen, ConfirmScreen))
        question = view.app.screen
        assert isinstance(question, ConfirmScreen)
        for key in ("y", "e", "s", "enter", "space"):
            view.app.simulate_key(key)
        await view.until(lambda: question.listening)
        assert view.app.screen is question
        assert view.row.active
        assert "a key answers" in view.picture()
        await view.press("x")
        assert view.app.screen is question
        await view.press("y")
        await view.until(lambda: not view.app.is_running)


async def test_the_vim_keymap_moves_with_letters_and_sequences(stage: Stage):
    stage.rows = [{"user_prompt": f"task {number}"} for number in range(30)]
    async with stage.running(stage.app({"ui.keymap": "vim"})) as view:
        rows = view.pane(RowList)
        await view.until(lambda: rows.row_count == 30)
        await view.press("j", "j", "k")
        await view.until(lambda: rows.cursor == 1)
        await view.press("G")
        await view.until(lambda: rows.cursor == 29)
        await view.press("g", "g")
        await view.until(lambda: rows.cursor == 0)
        await view.press("g", "j")
        await view.until(lambda: rows.cursor == 1)
        await view.press("enter")
        await view.paused()
        await view.press("s")
        await view.type("gg jj")
        assert view.composer.text == "gg jj"


async def test_the_ide_keymap_has_the_keys_of_ides_in_bar_and_help(stage: Stage):
    stage.says(reply("one", bash("true")), reply("two"))
    async with stage.running(stage.app({"ui.keymap": "ide"})) as view:
        await view.opened_and_paused()
        await view.until(lambda: bar(view).get("step") == "f10" and bar(view).get("continue") == "f5")
        await view.press("f1")
        await view.until(lambda: isinstance(view.app.screen, HelpScreen))
        help = shown(view.app.screen.query_one(DetailView))
        assert "shift+f5, i" in help
        assert "f10, n" in help
        await view.press("escape")
        await view.until(lambda: view.app.screen is view.debugger)
        await view.press("shift+f5")
        await view.until(lambda: "INTERRUPTED" in view.status)


async def test_what_the_screen_says_of_a_key_is_as_the_keymap_has_it(stage: Stage):
    file = stage.folder / "mine.yaml"
    file.write_text("debugger:\n  rerun: ctrl+shift+f5\nedit:\n  accept: alt+s, f10\n")
    stage.says(reply("one"), {"error": {"kind": "rate_limit", "message": "later"}})
    settings = {"ui.keymap": str(file), "model.retries": 0}
    async with stage.running(stage.app(settings)) as view:
        await view.opened_and_paused()
        await view.press("e")
        await view.until(lambda: isinstance(view.app.screen, EditScreen) and view.app.screen.query("#edited"))
        title = "Edit the waiting completion · alt+s goes on with it"
        await view.until(lambda: view.app.screen.query_one("#edit-pane").border_title == title)
        await view.press("alt+s")
        await view.until(lambda: view.state.outcome == "completed")
        await view.say("again")
        await view.until(lambda: "FAILED" in view.status)
        await view.press("escape", "x")
        await view.until(lambda: view.state.outcome == "failed")
        hint = "ctrl+shift+f5 runs the row again · a message starts a new turn"
        await view.until(lambda: str(view.composer.placeholder) == hint)


async def test_a_keymap_of_the_users_own(stage: Stage, tmp_path: Path):
    folder = tmp_path / "config" / "agentscope" / "keymaps"
    folder.mkdir(parents=True)
    (folder / "mine.yaml").write_text("debugger:\n  step: ctrl+n, Z\n")
    stage.says(reply("one", bash("true")), reply("two"))
    async with stage.running(stage.app({"ui.keymap": "mine"})) as view:
        await view.opened_and_paused()
        await view.press("n")
        await view.press("Z")
        await view.paused(2)
        assert "next step" in view.transcript or view.state.call == 2


@pytest.mark.parametrize("key", ["question_mark", "f1"])
async def test_help_has_every_pane_that_takes_keys(stage: Stage, key: str):
    async with stage.running(size=(112, 60)) as view:
        there = {name for widget in view.debugger.query("*") for name, _ in acts_of(type(widget))}
        listed = {name for _, panes in PANES for pane in panes for name, _ in acts_of(pane)}
        assert {name for name in there if name.partition(".")[0] in OURS} <= listed
        await view.press(key)
        await view.until(lambda: isinstance(view.app.screen, HelpScreen))
        help = shown(view.app.screen.query_one(DetailView))
        assert "n, f10" in help
        assert "ctrl+←, alt+←" in help
