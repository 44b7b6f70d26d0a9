"""Interrupting and ending in the moments where it is hard: what was streamed, what ran, what is told."""

from __future__ import annotations

import asyncio
from typing import Any

from agentscope_tui.events import Interrupted, ToolResult, UsageReported
from agentscope_tui.models.chat import Delta
from fakes.engine import FakeModel, FakeTools, Gatekeeper, returns, says
from fakes.session_rig import Rig

BASH = ("bash", "{}")


async def test_the_report_says_what_finished_what_was_killed_and_what_never_ran() -> None:
    gate = Gatekeeper()
    model = FakeModel(says("", ("write", "{}"), BASH, ("write", "{}")))
    async with Rig(model, FakeTools(write=returns("ok"), bash=gate.body)) as rig:
        rig.session.send("go")
        await gate.entered.wait()
        rig.session.interrupt("enough")
        await rig.settled()
        states = [call.state for call in rig.state.calls]
    report = rig.of(Interrupted)[0]
    assert report.reason == "enough"
    assert (report.finished, report.killed, report.not_run) == (["c1"], ["c2"], ["c3"])
    assert report.side_effects == ["c1", "c2"]
    assert report.model_call is None
    assert states == ["done", "interrupted", "interrupted"]


async def test_the_next_request_after_an_interrupt_is_well_formed_and_no_news_of_the_batch() -> None:
    gate = Gatekeeper()
    model = FakeModel(says("", BASH, BASH), says("ok"))
    async with Rig(model, FakeTools(bash=gate.body)) as rig:
        rig.session.send("go")
        await gate.entered.wait()
        rig.session.interrupt()
        await rig.settled()
        await rig.run("next")
        assert [call.state for call in rig.state.calls] == ["interrupted", "interrupted"]
    assert [role for role, _ in rig.asked(2)] == ["user", "assistant", "tool", "tool", "user"]
    assert [event.status for event in rig.of(ToolResult)] == ["interrupted"]


async def test_an_interrupt_as_the_stream_ends_shows_one_reply_cut_or_whole() -> None:
    """The completion is there, its task has not yet gone on."""
    gate = Gatekeeper()
    async with Rig(FakeModel(gate.reply(says("all of it"), before="all of it"))) as rig:
        rig.session.send("go")
        await gate.entered.wait()
        gate.let_go.set()
        rig.session.interrupt()
        await rig.settled()
        texts = [entry.text for entry in rig.state.entries if entry.kind == "assistant"]
    assert texts == ["all of it"]
    assert rig.outcomes() == ["interrupted"]


async def test_an_interrupt_after_the_runners_idle_comes_too_late() -> None:
    async with Rig(FakeModel(), own_runner=True) as rig:
        await rig.greet()
        await rig.say()
        take = rig.session._on_frame
        late: list[bool] = []

        def take_and_interrupt(frame: Any) -> None:
            take(frame)
            if frame.status == "idle":
                late.append(rig.session.interrupt())

        rig.session._link._on_frame = take_and_interrupt
        await rig.runner.idle()
        await rig.settled()
    assert late == [False]
    assert rig.outcomes() == ["completed"]


async def test_an_interrupt_before_a_requests_task_has_begun_still_answers_it() -> None:
    async with Rig(FakeModel(), FakeTools(bash=returns("x")), own_runner=True) as rig:
        await rig.greet()
        await rig.say()
        answer = rig.session._link._answer

        def interrupt_at_once(frame: Any) -> None:
            answer(frame)
            rig.session.interrupt()

        rig.session._link._answer = interrupt_at_once  # type: ignore[method-assign]
        await rig.runner.ask_tool("r1", "bash")
        await rig.runner.receive("abort")
        response = await rig.runner.receive("tool_response")
        assert (response["req_id"], response["content"]) == ("r1", "interrupted")
        await rig.runner.idle("aborted")
        await rig.settled()
    assert rig.tools.called == []
    assert not rig.has("tool_call")


async def test_an_interrupted_call_is_metered_as_far_as_it_got() -> None:
    gate = Gatekeeper()

    async def stream(request: Any, on_delta: Any) -> Any:
        for word in ("one ", "two ", "three"):
            on_delta(Delta(text=word))
        await gate.wait()

    async with Rig(FakeModel(stream)) as rig:
        rig.session.send("a prompt that has forty characters in it")
        await gate.entered.wait()
        rig.session.interrupt()
        await rig.settled()
        assert rig.state.output_tokens == 3
    usage = rig.of(UsageReported)[0]
    assert (usage.input_tokens, usage.output_tokens, usage.partial) == (10, 3, True)
    assert rig.has("assistant_message", text="one two three", partial=True)


async def test_an_interrupt_while_a_completion_is_held_lets_nothing_run() -> None:
    tools = FakeTools(bash=returns("x"))
    async with Rig(FakeModel(says("look", BASH), says("ok")), tools, mode="step") as rig:
        rig.session.send("go")
        await rig.until(lambda: rig.state.holds)
        rig.session.interrupt()
        await rig.settled()
        assert rig.state.holds == []
        assert rig.state.calls[0].state == "interrupted"
    assert tools.called == []
    assert rig.has("resumed", decision=None)
    assert rig.of(Interrupted)[0].not_run == ["c1"]


async def test_an_interrupt_while_a_tool_result_is_held_keeps_the_result() -> None:
    tools = FakeTools(bash=returns("x"))
    async with Rig(FakeModel(says("", BASH)), tools, mode="step") as rig:
        rig.session.send("go")
        for step in ("completion", "tool_call"):
            await rig.until(lambda step=step: step in [hold.step for hold in rig.state.holds])
            rig.session.step(fine=True)
        await rig.until(lambda: "tool_result" in [hold.step for hold in rig.state.holds])
        rig.session.interrupt()
        await rig.settled()
    assert rig.of(Interrupted)[0].finished == ["c1"]
    assert rig.has("tool_result", status="done", content="x")


async def test_an_interrupt_while_a_failed_call_waits_ends_the_turn() -> None:
    async def fails(request: Any, on_delta: Any) -> Any:
        raise RuntimeError("gone")

    async with Rig(FakeModel(fails)) as rig:
        rig.session.send("go")
        await rig.until(lambda: rig.state.holds)
        rig.session.interrupt()
        await rig.settled()
    assert rig.outcomes() == ["interrupted"]


async def test_a_session_can_be_ended_while_a_tool_runs() -> None:
    gate = Gatekeeper()
    async with Rig(FakeModel(says("", BASH)), FakeTools(bash=gate.body)) as rig:
        rig.session.send("go")
        await gate.entered.wait()
        rig.session.send("a steer")
        await rig.end()
        assert gate.cancelled
        assert rig.state.calls[0].state == "interrupted"
    assert rig.steers()[-1] == ("a steer", "returned")
    assert rig.of(Interrupted)[0].killed == ["c1"]


async def test_a_session_can_be_ended_while_a_model_streams() -> None:
    gate = Gatekeeper()
    async with Rig(FakeModel(gate.reply(says("x"), before="par"))) as rig:
        rig.session.send("go")
        await gate.entered.wait()
        await rig.end()
    assert gate.cancelled
    assert rig.has("assistant_message", text="par", partial=True)


async def test_a_session_can_be_ended_while_a_step_is_held() -> None:
    async with Rig(FakeModel(says("x", BASH)), mode="step") as rig:
        rig.session.send("go")
        await rig.until(lambda: rig.state.holds)
        await rig.end()
        assert rig.state.holds == []
        assert rig.state.status == "ended"


async def test_a_session_can_be_ended_twice_at_once() -> None:
    async with Rig(FakeModel()) as rig:
        await asyncio.gather(rig.session.end(), rig.session.end())
    assert rig.kinds().count("session_ended") == 1


async def test_an_interrupted_turn_is_not_graded() -> None:
    gate = Gatekeeper()

    class Grader:
        name = "never"

        async def grade(self, answer: str, messages: Any) -> Any:
            raise AssertionError

    async with Rig(FakeModel(gate.reply(says("x"))), grader=Grader()) as rig:
        rig.session.send("go")
        await gate.entered.wait()
        rig.session.interrupt()
        await rig.settled()
    assert not rig.has("graded")


async def test_settled_waits_for_the_turn_that_follows_an_interrupt() -> None:
    gate = Gatekeeper()
    async with Rig(FakeModel(gate.reply(says("x")), says("two"))) as rig:
        rig.session.send("one")
        await gate.entered.wait()
        rig.session.interrupt()
        rig.session.send("two")
        await rig.settled()
        assert rig.outcomes() == ["interrupted", "completed"]


async def test_a_model_that_answers_its_cancellation_with_an_error_is_interrupted_not_failed() -> None:
    gate = Gatekeeper()

    async def stream(request: Any, on_delta: Any) -> Any:
        try:
            await gate.wait()
        except asyncio.CancelledError:
            raise RuntimeError("connection closed") from None

    async with Rig(FakeModel(stream)) as rig:
        rig.session.send("go")
        await gate.entered.wait()
        rig.session.interrupt()
        await rig.settled()
    assert not rig.has("error")
    assert not rig.has("paused")
    assert rig.outcomes() == ["interrupted"]
