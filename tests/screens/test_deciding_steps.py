"""Editing and refusing the step that waits: what the user decides is what the runner gets."""

from __future__ import annotations

import json

import pytest
from textual.widgets import Static, TextArea

from agentscope_tui.tui.screens.edit import EditScreen
from screens.stage import Stage, View, bash, reply
from widgets.pane_app import shown


async def edit(view: View, key: str = "e") -> TextArea:
    """Press the key and wait for the editor."""
    await view.press(key)
    await view.until(lambda: isinstance(view.app.screen, EditScreen) and view.app.screen.query(TextArea))
    return view.app.screen.query_one(TextArea)


async def accept(view: View, text: str) -> None:
    area = view.app.screen.query_one(TextArea)
    area.text = text
    await view.press("ctrl+s")


async def test_an_edited_reply_is_what_the_agent_goes_on_with(stage: Stage):
    stage.says(reply("I delete it.", bash("echo wrong > result")), reply("end"))
    async with stage.running() as view:
        await view.opened_and_paused()
        area = await edit(view)
        draft = json.loads(area.text)
        assert draft["text"] == "I delete it."
        assert draft["tool_calls"][0]["arguments"] == {"command": "echo wrong > result"}
        await accept(view, area.text[:-1])
        await view.until(lambda: "not valid JSON" in shown(view.app.screen.query_one("#edit-error", Static)))
        draft["tool_calls"][0]["arguments"]["command"] = "echo right > result"
        await accept(view, json.dumps(draft))
        await view.paused(2)
        assert (view.files / "result").read_text() == "right\n"
        assert "assistant · edited" in view.transcript
        sent = view.state.request_messages(2)[2]
        assert "right" in sent["tool_calls"][0]["function"]["arguments"]


async def test_an_edit_that_is_left_changes_nothing(stage: Stage):
    stage.says(reply("just text"), reply("more"))
    async with stage.running() as view:
        await view.opened_and_paused()
        area = await edit(view)
        assert area.text == "just text"
        area.text = "something else"
        await view.press("escape")
        await view.until(lambda: view.app.screen is view.debugger)
        await view.paused(1)
        await view.press("n")
        await view.until(lambda: "DONE" in view.status)
        assert "something else" not in view.transcript


async def test_edited_arguments_and_results_reach_the_tool_and_the_model(stage: Stage):
    stage.says(reply("", bash("echo one")), reply("end"))
    async with stage.running() as view:
        await view.opened_and_paused()
        await view.press("N")
        await view.until(lambda: "PAUSED before bash" in view.status)
        await edit(view)
        await accept(view, '{"command": "echo two"}')
        await view.until(lambda: "PAUSED after bash" in view.status)
        await view.until(lambda: "two" in view.output)
        area = await edit(view)
        assert area.text.strip() == "two"
        await accept(view, "three")
        await view.paused(2)
        assert view.state.request_messages(2)[-1]["content"] == "three"


@pytest.mark.parametrize("fine", [False, True])
async def test_a_refused_step_does_not_run_and_says_why(stage: Stage, fine: bool):
    stage.says(reply("", bash("touch ran")), reply("as you wish"))
    async with stage.running() as view:
        await view.opened_and_paused()
        if fine:
            await view.press("N")
            await view.until(lambda: "PAUSED before bash" in view.status)
        await edit(view, "x")
        await accept(view, "too dangerous")
        await view.until(lambda: "⊘ refused" in view.calls)
        assert not (view.files / "ran").exists()
        if fine:
            await view.until(lambda: "PAUSED" in view.status)
            await view.press("c")
            await view.until(lambda: "DONE" in view.status)
            assert "too dangerous" in view.state.request_messages(2)[-1]["content"]
        else:
            await view.until(lambda: "FAILED: too dangerous" in view.status)
