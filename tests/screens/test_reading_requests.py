"""The messages and tools views: what each call sends, what changed, and which calls used a tool."""

from __future__ import annotations

from agentscope_tui.tui.screens.detail import DetailScreen
from agentscope_widgets.detail_view import DetailView
from screens.stage import Stage, View, bash, reply
from widgets.pane_app import shown


async def detail(view: View, key: str) -> None:
    await view.press(key)
    await view.until(lambda: isinstance(view.app.screen, DetailScreen), "the detail screen")


def heading(view: View) -> str:
    return str(view.app.screen.query_one("#detail-pane").border_title)


def body(view: View) -> str:
    return shown(view.app.screen.query_one(DetailView))


async def test_the_messages_view_walks_through_the_calls_and_shows_what_changed(stage: Stage):
    stage.says(reply("I look", bash("echo hello")), reply("done"))
    async with stage.running(size=(120, 40)) as view:
        await view.opened_and_paused()
        await view.press("n")
        await view.paused(2)
        await detail(view, "m")
        assert heading(view).startswith("Messages · next call · 5 messages")
        assert heading(view).endswith("+1")
        assert "+ [4] assistant" in body(view)
        await view.press("left")
        await view.until(lambda: "call #2 · 4 messages" in heading(view), "call 2")
        assert heading(view).endswith("+2")
        assert "comes in" not in body(view)
        await view.press("d")
        await view.until(lambda: heading(view).endswith("only changes"), "only what changed")
        assert "system" not in body(view)
        assert "hello" in body(view)
        await view.press("left")
        await view.until(lambda: "call #1 · 2 messages" in heading(view), "call 1")
        await view.press("left")
        assert "call #1" in heading(view)


async def test_the_messages_view_shows_the_request_that_is_being_answered(stage: Stage):
    stage.says(reply("a long answer " * 40, tokens_per_second=20))
    async with stage.running() as view:
        await view.open()
        await view.until(lambda: view.state.streaming_call == 1, "the call")
        await detail(view, "m")
        assert heading(view).startswith("Messages · call #1 · 2 messages")


async def test_a_queued_message_is_part_of_the_next_call(stage: Stage):
    stage.says(reply("first", bash("true")), reply("second"))
    async with stage.running() as view:
        await view.opened_and_paused()
        await view.say("also look there")
        await view.press("escape")
        await detail(view, "m")
        assert "waits in the queue" in body(view)
        assert "also look there" in body(view)


async def test_the_tools_view_tells_which_calls_used_a_tool(stage: Stage):
    stage.says(reply("", bash("echo hello")), reply("done"))
    async with stage.running(size=(120, 60)) as view:
        await view.opened_and_paused()
        await view.press("n")
        await view.paused(2)
        await detail(view, "t")
        assert 'call #1 · done · {"command": "echo hello"}' in body(view)
        assert "used 1 ×" in body(view)
        assert "not used yet" in body(view)
