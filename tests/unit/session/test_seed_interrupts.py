"""Interrupts and the races around them, as the live-session protocol has them."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import pytest

from agentscope_tui.events import AssistantMessage, Event, Interrupted, StateChanged, Submitted, ToolResult
from fakes.engine import FakeModel, FakeTools, Gatekeeper, returns, says
from fakes.session_rig import Rig


async def test_an_interrupt_sends_one_abort_with_its_reason() -> None:
    async with Rig(FakeModel(), own_runner=True) as rig:
        await rig.greet()
        await rig.say()
        assert rig.session.interrupt()
        assert await rig.runner.receive() == {"type": "abort", "reason": "user_interrupt"}
        await rig.runner.idle("aborted")
        await rig.settled()
    assert rig.outcomes() == ["interrupted"]


async def test_two_interrupts_are_one() -> None:
    async with Rig(FakeModel(), own_runner=True) as rig:
        await rig.greet()
        await rig.say()
        assert rig.session.interrupt()
        assert not rig.session.interrupt()
        await rig.runner.idle("aborted")
        await rig.settled()
        await rig.session.end()
        assert [frame["type"] for frame in await rig.runner.rest()] == ["abort", "shutdown"]
    assert len(rig.of(Interrupted)) == 1


async def test_interrupting_an_idle_session_does_nothing_and_the_next_turn_is_normal() -> None:
    tools = FakeTools(bash=returns("fine"))
    async with Rig(FakeModel(says("", ("bash", "{}")), says("done")), tools, own_runner=True) as rig:
        await rig.greet()
        assert not rig.session.interrupt()
        await rig.say()
        await rig.runner.ask_model("r1")
        await rig.runner.receive("llm_response")
        await rig.runner.ask_tool("r2", "bash")
        assert (await rig.runner.receive("tool_response"))["content"] == "fine"
        await rig.runner.idle()
        await rig.settled()
        await rig.session.end()
        assert [frame["type"] for frame in await rig.runner.rest()] == ["shutdown"]
    assert rig.outcomes() == ["completed"]


async def test_end_sends_abort_then_shutdown_and_closes_everything() -> None:
    model, tools = FakeModel(), FakeTools()
    async with Rig(model, tools, own_runner=True) as rig:
        await rig.greet()
        await rig.say()
        await rig.session.end("enough")
        assert [frame["type"] for frame in await rig.runner.rest()] == ["abort", "shutdown"]
        assert rig.session.status == "ended"
        assert model.closed
        assert tools.closed
    assert rig.has("session_ended", status="ended", reason="enough")


async def test_an_interrupt_frees_a_blocked_model_call_and_its_late_text_shows_nowhere() -> None:
    gate = Gatekeeper()
    async with Rig(FakeModel(gate.reply(says("late"), before="early")), own_runner=True) as rig:
        await rig.greet()
        await rig.say()
        await rig.runner.ask_model("r1")
        await gate.entered.wait()
        rig.session.interrupt()
        await rig.runner.receive("abort")
        assert await rig.runner.receive() == {"type": "llm_response", "req_id": "r1", "error": "interrupted"}
        assert gate.cancelled
        gate.let_go.set()
        await rig.runner.idle("aborted")
        await rig.settled()
    assert [(event.text, event.partial) for event in rig.of(AssistantMessage)] == [("early", True)]
    assert rig.of(Interrupted)[0].model_call == 1


@pytest.mark.parametrize("after", ["nothing", "message", "running"])
async def test_a_submit_that_races_an_interrupt_is_answered_but_does_not_count(after: str) -> None:
    async with Rig(FakeModel(), own_runner=True) as rig:
        await rig.greet()
        await rig.say()
        rig.session.interrupt()
        if after == "message":
            rig.session.send("quick, something else")
        if after == "running":
            await rig.runner.send("state", status="running", turns=1)
        await rig.runner.ask_tool("r1", "submit", answer="late")
        response = await rig.runner.receive("tool_response")
        assert response == {
            "type": "tool_response",
            "req_id": "r1",
            "content": "interrupted",
            "is_error": True,
        }
        assert rig.of(Submitted) == []
        await rig.runner.idle("aborted")
        if after != "message":
            await rig.settled()
            rig.session.send("again")
        await rig.runner.receive("user_message")
        await rig.runner.ask_tool("r2", "submit", answer="in time")
        assert (await rig.runner.receive("tool_response"))["content"] == "submitted"
    assert [event.answer for event in rig.of(Submitted)] == ["in time"]


async def test_a_tool_that_races_an_interrupt_does_not_run() -> None:
    tools = FakeTools(bash=returns("ran"))
    async with Rig(FakeModel(), tools, own_runner=True) as rig:
        await rig.greet()
        await rig.say()
        rig.session.interrupt()
        await rig.runner.ask_tool("r1", "bash")
        response = await rig.runner.receive("tool_response")
        assert (response["content"], response["is_error"]) == ("interrupted", True)
        await rig.runner.ask_model("r2")
        assert (await rig.runner.receive("llm_response"))["error"] == "interrupted"
    assert tools.called == []
    assert rig.model.requests == []


async def test_a_message_after_an_interrupt_waits_for_the_idle() -> None:
    async with Rig(FakeModel(), own_runner=True) as rig:
        await rig.greet()
        first = await rig.say("one")
        rig.session.interrupt()
        rig.session.send("two")
        rig.session.send("three")
        await rig.runner.was_read()
        assert rig.state.status == "interrupting"
        assert [steer.text for steer in rig.state.steers] == ["two", "three"]
        await rig.runner.idle("aborted", msg_id=first)
        message = await rig.runner.receive()
        assert (message["type"], message["text"]) == ("user_message", "two")
        assert rig.state.status == "running"
        assert [(steer.text, steer.status) for steer in rig.state.steers] == [("three", "queued")]


async def test_an_interrupt_from_the_idle_callback_hits_the_turn_that_waits() -> None:
    async with Rig(FakeModel(), own_runner=True) as rig:
        await rig.greet()
        await rig.say("one")
        rig.session.interrupt()
        rig.session.send("two")
        hits: list[bool] = []

        def on_event(event: Event) -> None:
            if isinstance(event, StateChanged) and event.status == "idle" and not hits:
                hits.append(rig.session.interrupt("not that either"))

        rig.bus.subscribe(on_event)
        await rig.runner.idle("aborted")
        await rig.until(lambda: hits)
        types = [(await rig.runner.receive())["type"] for _ in range(3)]
        assert types == ["abort", "user_message", "abort"]
        await rig.runner.idle("aborted")
        await rig.settled()
    assert hits == [True]
    assert rig.outcomes() == ["interrupted", "interrupted"]


async def test_an_idle_for_an_older_message_ends_nothing() -> None:
    gate = Gatekeeper()
    async with Rig(FakeModel(gate.reply(says("x"))), own_runner=True) as rig:
        await rig.greet()
        first = await rig.say("one")
        await rig.runner.idle(msg_id=first)
        await rig.settled()
        second = await rig.say("two")
        rig.session.interrupt()
        await rig.runner.idle("aborted", msg_id=first)
        await rig.runner.was_read()
        assert rig.state.status == "interrupting"
        await rig.runner.idle("aborted", msg_id=second)
        await rig.settled()
        third = await rig.say("three")
        await rig.runner.idle(msg_id=second)
        await rig.runner.ask_model("r1")
        await gate.entered.wait()
        assert rig.session.interrupt()
        await rig.runner.idle("aborted", msg_id=third)
        await rig.settled()
    assert rig.outcomes() == ["completed", "interrupted", "interrupted"]


async def test_an_idle_that_names_a_steered_message_ends_the_turn() -> None:
    async with Rig(FakeModel(says("done")), own_runner=True) as rig:
        await rig.greet()
        await rig.say("one")
        rig.session.send("and this")
        await rig.runner.ask_model("r1")
        steer = await rig.runner.receive("user_message")
        await rig.runner.idle(msg_id=steer["msg_id"])
        await rig.settled()
    assert rig.outcomes() == ["completed"]


async def test_a_second_idle_of_a_turn_does_not_end_the_next_one() -> None:
    async with Rig(FakeModel(), own_runner=True) as rig:
        await rig.greet()
        await rig.say("one")
        rig.session.interrupt()
        rig.session.send("two")
        await rig.runner.idle("aborted")
        await rig.runner.idle("aborted")
        await rig.runner.receive("user_message")
        await rig.runner.ask_tool("r1", "submit", answer="2")
        assert (await rig.runner.receive("tool_response"))["content"] == "submitted"
        assert rig.outcomes() == ["interrupted"]


async def test_the_next_message_reaches_the_runner_after_the_answers_to_its_open_requests() -> None:
    gate = Gatekeeper()
    async with Rig(FakeModel(), FakeTools(bash=gate.body), own_runner=True) as rig:
        await rig.greet()
        await rig.say("one")
        await rig.runner.ask_tool("r1", "bash")
        await gate.entered.wait()
        rig.session.interrupt()
        rig.session.send("two")
        await rig.runner.idle("aborted")
        types = [(await rig.runner.receive())["type"] for _ in range(3)]
    assert types == ["abort", "tool_response", "user_message"]


async def test_an_executor_that_ends_after_its_cancellation_shows_no_late_result() -> None:
    gate = Gatekeeper()

    async def stubborn(arguments: dict[str, Any], on_output: Any) -> Any:
        with contextlib.suppress(asyncio.CancelledError):
            await gate.body(arguments, on_output)
        return await returns("late")(arguments, on_output)

    tools = FakeTools(bash=stubborn)
    async with Rig(FakeModel(says("", ("bash", "{}"))), tools) as rig:
        rig.session.send("go")
        await gate.entered.wait()
        rig.session.interrupt()
        await rig.settled()
    assert [(event.status, event.content) for event in rig.of(ToolResult)] == [("interrupted", "interrupted")]
