"""Forks from the screen: at what the cursor is on, of sessions live, over and recorded; and going on."""

from __future__ import annotations

import json
from pathlib import Path

from textual.widgets import Input, OptionList, Static, TextArea

from agentscope_tui.tui.screens.edit import EditScreen
from agentscope_tui.tui.screens.fork import ForkScreen
from agentscope_widgets.call_list import CallList
from agentscope_widgets.transcript import Transcript
from screens.stage import Stage, View, bash, reply
from widgets.pane_app import shown

SUBMIT = ("submit", {"answer": "no"})


def says_no(stage: Stage) -> None:
    """An agent that says `no`, unless its tool says that it is cold."""
    stage.rows = [{"user_prompt": "is it cold?", "ground_truth": "yes", "grader": "exact"}]
    stage.says(
        reply("I look.", bash("echo warm > seen; cat seen")),
        reply("It is cold.", ("submit", {"answer": "yes"}), when={"contains": "cold"}),
        reply("It is warm.", SUBMIT),
    )


async def go_to(view: View, kind: str) -> None:
    """Put the transcript's cursor on the last entry of this kind."""
    view.debugger.action_pane("session")
    places = [place for place, entry in enumerate(view.state.entries) if entry.kind == kind]
    view.pane(Transcript).cursor = places[-1]


async def asked(view: View, key: str = "f") -> ForkScreen:
    """Press the key, and wait for the list of what can be edited."""
    await view.press(key)
    await view.until(lambda: isinstance(view.app.screen, ForkScreen), "the fork screen")
    screen = view.app.screen
    assert isinstance(screen, ForkScreen)
    await view.until(lambda: screen.query(OptionList) and screen.query_one(OptionList).has_focus)
    return screen


def options(screen: ForkScreen) -> list[str]:
    choices = screen.query_one(OptionList)
    return [" ".join(str(option.prompt).split()) for option in choices.options]


def chosen(screen: ForkScreen) -> str:
    number = screen.query_one(OptionList).highlighted
    assert number is not None
    return options(screen)[number]


async def edit(view: View, text: str) -> str:
    """Take the highlighted choice, and give this text in place of its own, which is returned."""
    await view.press("enter")
    await view.until(lambda: isinstance(view.app.screen, EditScreen) and view.app.screen.query(TextArea))
    area = view.app.screen.query_one(TextArea)
    before = area.text
    area.text = text
    await view.press("ctrl+s")
    return before


async def forked(view: View, parent: str) -> None:
    """Wait until the fork is on screen and held."""

    def stands() -> bool:
        current = view.debugger.current
        return current is not None and current.session_id != parent and bool(current.state.holds)

    await view.until(stands, "the fork")


async def test_a_tool_result_is_edited_and_the_fork_earns_the_reward(stage: Stage):
    says_no(stage)
    async with stage.running(size=(120, 50)) as view:
        await view.opened_and_paused()
        await view.press("c")
        await view.until(lambda: "reward 0" in view.status)
        parent = view.row.session_id
        await go_to(view, "tool")
        view.pane(Transcript).cursor = next(
            place for place, entry in enumerate(view.state.entries) if entry.kind == "tool"
        )
        screen = await asked(view)
        assert options(screen) == [
            "result of bash warm",
            'arguments of bash { "command": "echo warm > seen; cat seen" }',
            options(screen)[2],
            "user message is it cold?",
            options(screen)[4],
            "nothing: only make call #1 again",
        ]
        assert options(screen)[2].startswith("reply {")
        assert options(screen)[4].startswith("system prompt You are")
        assert chosen(screen) == "result of bash warm"
        assert await edit(view, "cold") == "warm\n"
        await forked(view, parent)
        await view.until(lambda: "PAUSED after bash" in view.status)
        assert "forked at call #2" in view.transcript
        assert f"from {parent}" in view.transcript
        assert "result of bash in call #1: cold" in view.transcript
        await view.press("c")
        await view.until(lambda: "reward 1" in view.status)
        assert view.state.answer == "yes"
        assert (view.files / "seen").read_text() == "warm\n"
        meta = json.loads((view.row.opened.folder.path / "meta.json").read_text())
        assert (meta["parent"], meta["parent_call"]) == (parent, 2)


async def test_each_entry_is_forked_at_what_it_shows(stage: Stage):
    says_no(stage)
    async with stage.running() as view:
        await view.opened_and_paused()
        await view.press("c")
        await view.until(lambda: "reward 0" in view.status)
        for kind, expected in (
            ("assistant", "reply {"),
            ("user", "user message is"),
            ("tool", "arguments of submit {"),
            ("reward", "nothing:"),
        ):
            await go_to(view, kind)
            screen = await asked(view)
            assert chosen(screen).startswith(expected)
            await view.press("escape")
            await view.until(lambda: view.app.screen is view.debugger)
        view.debugger.action_pane("calls")
        view.pane(CallList).cursor = 0
        assert chosen(await asked(view)) == "result of bash warm"


async def test_the_parent_that_still_runs_waits_in_the_background_and_keeps_its_draft(stage: Stage):
    says_no(stage)
    async with stage.running() as view:
        await view.opened_and_paused()
        parent = view.row
        view.composer.text = "a thought"
        await go_to(view, "assistant")
        screen = await asked(view, "alt+f")
        assert chosen(screen).startswith("reply")
        await edit(view, '{"text": "I know.", "tool_calls": []}')
        await forked(view, parent.session_id)
        assert view.composer.text == "a thought"
        assert parent.state.holds
        assert parent.active
        assert parent in list(view.app.workspace.shown())
        await view.press("c")
        await view.until(lambda: "DONE" in view.status)
        assert "I know." in view.transcript
        assert [hold.call for hold in parent.state.holds] == [1]
        assert view.debugger._workspace.bring_back(parent.session_id) is parent
        assert view.app.workspace.sessions[0] is parent


async def test_model_and_temperature_of_the_fork_are_checked_first(stage: Stage):
    says_no(stage)
    async with stage.running() as view:
        await view.opened_and_paused()
        parent = view.row.session_id
        await go_to(view, "user")
        screen = await asked(view)
        model, temperature = screen.query_one("#model", Input), screen.query_one("#temperature", Input)
        screen.query_one(OptionList).highlighted = len(options(screen)) - 1
        model.value = "nobody:knows"
        await view.press("enter")
        error = screen.query_one("#fork-error", Static)
        await view.until(lambda: "nobody" in shown(error))
        model.value, temperature.value = "", "hot"
        await view.press("enter")
        await view.until(lambda: "from 0 to 2" in shown(error))
        temperature.value = "0.5"
        await view.press("enter")
        await forked(view, parent)
        assert view.state.request_parameters(1)["temperature"] == 0.5
        assert view.state.started is not None
        assert view.state.started.change == "temperature 0.5"


async def test_a_fork_that_cannot_be_opened_leaves_the_session_on_screen(stage: Stage):
    says_no(stage)
    async with stage.running() as view:
        await view.opened_and_paused()
        parent = view.row
        (parent.opened.folder.snapshots / "calls.jsonl").write_text(
            '{"call": 1, "folder": "../..", "files": 1, "size": 1}\n'
        )
        await go_to(view, "user")
        await asked(view)
        await edit(view, "is it hot?")
        await view.until(lambda: [note for note in view.app._notifications if "SHA-256" in note.message])
        await view.until(lambda: view.debugger.current is parent)
        assert parent.state.holds


async def test_a_recording_is_forked_and_gone_on_with(stage: Stage):
    says_no(stage)
    async with stage.running(size=(120, 50)) as view:
        await view.opened_and_paused()
        await view.press("c")
        await view.until(lambda: "reward 0" in view.status)
        recording = view.row
        await view.press("ctrl+r")
        await view.until(lambda: view.debugger.current not in (None, recording), "the row runs again")
        await shows_recording(view, recording.opened.folder.path)
        await view.press("R")
        await view.until(lambda: view.debugger.current and view.debugger.current.session, "a live session")
        await view.until(lambda: "goes on at call #3" in view.transcript)
        await view.until(lambda: view.state.status == "idle")
        assert view.state.call == 2
        await shows_recording(view, recording.opened.folder.path)
        await go_to(view, "tool")
        view.pane(Transcript).cursor = next(
            place for place, entry in enumerate(recording.state.entries) if entry.kind == "tool"
        )
        await asked(view)
        await edit(view, "cold")
        await view.until(lambda: "PAUSED after bash" in view.status)
        await view.press("c")
        await view.until(lambda: "reward 1" in view.status)


async def shows_recording(view: View, folder: Path) -> None:
    view.debugger.show_recording(folder)
    await view.until(
        lambda: view.debugger.current is not None and view.debugger.current.session is None, "the recording"
    )


async def test_a_recording_of_other_rows_says_where_it_can_be_forked(stage: Stage):
    says_no(stage)
    async with stage.running() as view:
        await view.opened_and_paused()
        folder = view.row.opened.folder.path
    stage.rows.append({"user_prompt": "another"})
    async with stage.running() as view:
        await shows_recording(view, folder)
        await view.press("f")
        await view.until(
            lambda: [note for note in view.app._notifications if "agentscope open" in note.message]
        )
