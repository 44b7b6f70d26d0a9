"""The composer and the steer queue: a message is a turn or a steer, and is never lost."""

from __future__ import annotations

from agentscope_widgets.steer_queue import SteerQueue
from screens.stage import UNTIL_GO, Stage, bash, reply


async def test_a_message_to_an_idle_session_is_a_new_turn(stage: Stage):
    stage.says(reply("first answer"), reply("second answer"))
    async with stage.running() as view:
        await view.opened_and_paused()
        await view.press("c")
        await view.until(lambda: "DONE" in view.status)
        await view.until(lambda: view.focus() == "transcript")
        await view.press("enter")
        await view.until(lambda: view.focus() == "composer")
        await view.type("and now")
        await view.press("ctrl+j")
        await view.type("this")
        assert view.composer.text == "and now\nthis"
        await view.press("enter")
        await view.until(lambda: "second answer" in view.transcript)
        assert view.composer.text == ""
        assert view.state.turn == 2
        assert "and now" in view.transcript


async def test_sent_messages_come_back_with_the_arrows_and_are_remembered(stage: Stage):
    async with stage.running() as view:
        await view.opened_and_paused()
        await view.press("c")
        for text in ("first message", "second message"):
            await view.say(text)
            await view.until(lambda text=text: text in view.transcript)
        await view.type("draft")
        await view.press("up")
        assert view.composer.text == "second message"
        await view.press("up")
        assert view.composer.text == "first message"
        await view.press("down", "down")
        assert view.composer.text == "draft"
    async with stage.running() as view:
        await view.opened_and_paused()
        await view.press("s", "up")
        assert view.composer.text == "second message"


async def test_each_session_keeps_its_own_draft(stage: Stage):
    stage.rows = [{"user_prompt": "one"}, {"user_prompt": "two"}]
    async with stage.running() as view:
        assert view.composer.disabled
        await view.opened_and_paused(0)
        await view.press("s")
        await view.type("for the first")
        await view.opened_and_paused(1)
        assert view.composer.text == ""
        await view.press("s")
        await view.type("2nd")
        await view.open(0)
        await view.until(lambda: view.composer.text == "for the first")
        await view.open(1)
        await view.until(lambda: view.composer.text == "2nd")


async def test_a_steer_waits_for_the_tools_and_is_in_the_next_call(stage: Stage):
    stage.says(
        reply("", bash(UNTIL_GO), bash("echo second")),
        reply("as you say", bash("true"), when={"role": "user", "contains": "stop"}),
        reply("unsteered"),
    )
    async with stage.running() as view:
        await view.opened_and_paused()
        await view.press("c")
        await view.until(lambda: "RUNNING bash" in view.status)
        await view.press("p")
        await view.say("please stop")
        await view.until(lambda: "○ queued" in view.queue and "please stop" in view.queue)
        assert "please stop" not in view.transcript
        view.let_go()
        await view.paused(2)
        await view.until(lambda: "✓ answered by call #2" in view.queue)
        assert "in call #2" in view.transcript
        assert "as you say" in view.transcript
        roles = [message["role"] for message in view.state.request_messages(2)]
        assert roles == ["system", "user", "assistant", "tool", "tool", "user"]
        await view.press("f5")
        await view.until(lambda: "DONE" in view.status)
        assert not view.queue


async def test_queued_steers_are_edited_withdrawn_and_moved(stage: Stage):
    stage.says(reply("", bash(UNTIL_GO)), reply("end"))
    async with stage.running() as view:
        await view.opened_and_paused()
        await view.press("c")
        await view.until(lambda: "RUNNING bash" in view.status)
        for text in ("alpha", "beta", "gamma"):
            await view.say(text)
        await view.until(lambda: view.queue.count("queued") == 3)
        queue = view.pane(SteerQueue)
        await view.press("shift+tab")
        await view.until(lambda: view.focus() == "queue")
        queue.cursor = 0
        await view.press("e")
        await view.until(lambda: view.focus() == "composer" and view.composer.text == "alpha")
        assert "editing" in str(view.composer.border_title)
        await view.type("bet")
        await view.press("enter")
        await view.until(lambda: "alphabet" in view.queue)
        assert not view.composer.border_title
        await view.press("shift+tab")
        await view.until(lambda: view.focus() == "queue")
        queue.cursor = 1
        await view.press("x")
        await view.until(lambda: "beta" not in view.queue.replace("alphabet", ""))
        queue.cursor = 1
        await view.press("K")
        await view.until(lambda: view.queue.index("gamma") < view.queue.index("alphabet"))
        view.let_go()
        await view.until(lambda: "DONE" in view.status)
        sent = view.state.request_messages(2)
        texts = [message["content"] for message in sent if message["role"] == "user"]
        assert texts[1:] == ["gamma", "alphabet"]


async def test_an_edit_can_be_left_and_one_that_comes_too_late_is_sent_anew(stage: Stage):
    stage.says(reply("", bash(UNTIL_GO)), reply("two", bash("true")), reply("three"), reply("four"))
    async with stage.running() as view:
        await view.opened_and_paused()
        await view.press("n")
        await view.until(lambda: "RUNNING bash" in view.status)
        await view.say("early")
        await view.until(lambda: "queued" in view.queue)
        await view.type("a draft")
        await view.press("shift+tab")
        await view.until(lambda: view.focus() == "queue")
        await view.press("e")
        await view.until(lambda: view.composer.text == "early")
        await view.press("escape")
        await view.until(lambda: view.composer.text == "a draft")
        assert "early" in view.queue
        view.pane(SteerQueue).focus()
        await view.until(lambda: view.focus() == "queue")
        await view.press("e")
        await view.until(lambda: view.composer.text == "early")
        view.let_go()
        await view.paused(2)
        await view.type(" bird")
        await view.press("enter")
        await view.until(lambda: [steer.text for steer in view.state.steers] == ["early", "early bird"])
        await view.until(lambda: view.composer.text == "a draft")


async def test_steers_that_no_call_took_return_to_the_composer(stage: Stage):
    stage.says(reply("", bash("sleep 600")))
    async with stage.running() as view:
        await view.opened_and_paused()
        await view.press("n")
        await view.until(lambda: "RUNNING bash" in view.status)
        await view.say("one")
        await view.say("two")
        await view.until(lambda: view.queue.count("queued") == 2)
        await view.type("being written")
        await view.press("f9")
        await view.until(lambda: "INTERRUPTED" in view.status)
        await view.until(lambda: view.composer.text == "one\n\ntwo\n\nbeing written")
        assert not view.queue


async def test_a_message_can_be_sent_while_the_model_streams(stage: Stage):
    # The stream outlasts any deadline: on a slow machine too, the message comes while it goes on.
    stage.says(reply("word " * 10_000, tokens_per_second=100))
    async with stage.running(stage.app({"session.mode": "run"})) as view:
        await view.open()
        await view.until(lambda: "word word" in view.transcript, "streamed text")
        await view.say("more")
        await view.until(lambda: "queued" in view.queue)
        assert "MODEL answering call #1" in view.status
