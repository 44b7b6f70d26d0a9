"""Restarting a dead runner: a new one is brought to where the recording ends, then the session is live."""

from __future__ import annotations

import asyncio
from typing import Any

from agentscope_tui.bus import EventBus
from agentscope_tui.events import ErrorOccurred, Paused, ToolCallStarted, ToolResult
from agentscope_tui.models.chat import ModelError
from agentscope_tui.session.gate import Decision
from agentscope_tui.session.recorded_turns import recorded_turns
from agentscope_tui.session.replaying import Replay
from fakes.engine import DEADLINE, FakeModel, FakeTools, Gatekeeper, returns, says
from fakes.session_rig import Rig


class Restarted:
    """A session on a new runner that replays another's events; `model` and `tools` are the live ones."""

    def __init__(self, before: Rig, model: FakeModel, tools: FakeTools, **settings: Any) -> None:
        self.replay = Replay(recorded_turns(before.events))
        self.model = model
        self.tools = tools
        self.rig = Rig(self.replay.model(model), self.replay.tools(tools), bus=EventBus("again"), **settings)

    async def __aenter__(self) -> Restarted:
        await self.rig.__aenter__()
        await asyncio.wait_for(self.replay.run(self.rig.session), DEADLINE)
        return self

    async def __aexit__(self, kind: Any, *exc: object) -> None:
        await self.rig.__aexit__(kind, *exc)


async def dies(rig: Rig) -> None:
    """The runner goes away, wherever it is."""
    await rig.runner.channel.aclose()
    await rig.until(lambda: rig.has("session_ended", status="failed"))


async def test_finished_turns_are_replayed_without_model_and_tools() -> None:
    before = Rig(
        FakeModel(says("look", ("look", "{}")), says("", ("submit", '{"answer": "42"}')), says("bye")),
        FakeTools(look=returns("seen")),
    )
    async with before:
        await before.run("one")
        await before.run("two")
        await dies(before)
    async with Restarted(before, FakeModel(says("hello")), FakeTools(look=returns("not again"))) as again:
        assert again.model.requests == []
        assert again.tools.called == []
        assert again.rig.outcomes() == ["completed", "completed"]
        assert again.rig.has("submit", answer="42")
        again.rig.session.run_on()
        await again.rig.run("three")
        asked = [(message["role"], message.get("content")) for message in again.model.requests[0].messages]
        assert asked[0] == ("user", "one")
        assert ("tool", "seen") in asked
        assert asked[-2:] == [("assistant", "bye"), ("user", "three")]


async def test_what_a_dead_runner_left_half_done_is_held_and_done_anew() -> None:
    tool = Gatekeeper()
    before = Rig(
        FakeModel(says("", ("first", "{}"), ("second", "{}"))),
        FakeTools(first=returns("1"), second=tool.body),
    )
    async with before:
        before.session.send("go")
        await tool.entered.wait()
        await dies(before)
    live = FakeTools(first=returns("never"), second=returns("2"))
    async with Restarted(before, FakeModel(says("done")), live) as again:
        rig = again.rig
        await rig.until(lambda: rig.state.holds)
        assert live.called == []
        assert [(hold.step, hold.call_id) for hold in rig.of(Paused)] == [("tool_result", "c1")]
        rig.session.step(fine=True)
        await rig.until(lambda: rig.state.holds and rig.state.holds[0].step == "tool_call")
        assert live.called == []
        rig.session.run_on()
        await rig.settled()
        assert live.called == [("second", {})]
        assert [result.content for result in rig.of(ToolResult)] == ["1", "2"]
        assert rig.outcomes() == ["completed"]


async def test_a_runner_that_died_before_its_first_answer_is_asked_again() -> None:
    thinking = Gatekeeper()
    before = Rig(FakeModel(thinking.reply(says("never"), "part")), FakeTools())
    async with before:
        before.session.send("go")
        await thinking.entered.wait()
        await dies(before)
    async with Restarted(before, FakeModel(says("hello")), FakeTools()) as again:
        await again.rig.until(lambda: again.rig.of(Paused))
        assert [paused.step for paused in again.rig.of(Paused)] == ["completion"]
        assert len(again.model.requests) == 1
        again.rig.session.run_on()
        await again.rig.settled()


async def test_steers_interrupts_and_failures_are_replayed_as_they_were() -> None:
    tool, thinking = Gatekeeper(), Gatekeeper()
    before = Rig(
        FakeModel(
            says("", ("look", "{}"), ids="a"),
            says("steered"),
            thinking.reply(says("never"), "half a tho"),
            ModelError("no credit"),
            says("", ("slow", "{}"), ids="b"),
            says("fine"),
        ),
        FakeTools(look=tool.body, slow=Gatekeeper().body),
    )
    async with before:
        before.session.send("one")
        await tool.entered.wait()
        before.session.send("a steer")
        tool.let_go.set()
        await before.settled()
        before.session.send("two")
        await thinking.entered.wait()
        before.session.interrupt()
        await before.settled()
        before.session.send("three")
        await before.until(lambda: before.state.holds)
        before.session.give_up()
        await before.settled()
        before.session.send("four")
        await before.until(lambda: before.has("tool_call", name="slow"))
        before.session.interrupt()
        await before.settled()
        await before.run("five")
        await dies(before)
    async with Restarted(
        before, FakeModel(says("hello")), FakeTools(look=returns("x"), slow=returns("x"))
    ) as again:
        rig = again.rig
        assert rig.outcomes() == before.outcomes()
        assert rig.outcomes() == ["completed", "interrupted", "failed", "interrupted", "completed"]
        assert ("a steer", "answered") in rig.steers()
        assert again.tools.called == []
        assert rig.of(ErrorOccurred)[0].message == "no credit"
        rig.session.run_on()
        await rig.run("six")
        conversation = before.model.requests[-1].messages
        assert again.model.requests[0].messages[: len(conversation)] == conversation


async def test_what_the_user_refused_and_edited_stays_so() -> None:
    before = Rig(
        FakeModel(says("", ("look", "{}"), ("look", '{"at": "b"}'), ids="a"), says("done")),
        FakeTools(look=returns("seen")),
        mode="step",
    )
    async with before:
        session = before.session
        session.step(fine=True)
        session.send("go")
        await before.until(lambda: before.state.holds)
        session.step(fine=True)
        await before.until(lambda: before.state.holds and before.state.holds[0].step == "tool_call")
        session.decide(Decision("refuse", "not this one"))
        await before.until(lambda: before.state.holds and before.state.holds[0].step == "tool_result")
        session.step(fine=True)
        await before.until(lambda: before.state.holds and before.state.holds[0].step == "tool_call")
        session.step(fine=True)
        await before.until(lambda: before.state.holds and before.state.holds[0].step == "tool_result")
        session.decide(Decision("edit", content="edited"))
        await before.until(lambda: before.of(Paused)[-1].call == 2)
        session.run_on()
        await before.settled()
        await dies(before)
    async with Restarted(before, FakeModel(), FakeTools(look=returns("never"))) as again:
        assert again.tools.called == []
        assert [result.content for result in again.rig.of(ToolResult)] == ["not this one", "edited"]
        assert len(again.rig.of(ToolCallStarted)) == 2


async def test_a_runner_that_goes_another_way_is_told_and_live() -> None:
    before = Rig(FakeModel(says("one"), says("two")), FakeTools(), own_runner=True)
    async with before:
        await before.greet()
        await before.say("go")
        await before.runner.ask_model("r1", "go")
        await before.runner.receive("llm_response")
        await before.runner.idle()
        await before.settled()
        await dies(before)
    replay = Replay(recorded_turns(before.events))
    live = FakeModel(says("live"))
    rig = Rig(replay.model(live), replay.tools(FakeTools()), own_runner=True, bus=EventBus("again"))
    async with rig:
        await rig.greet()
        running = asyncio.create_task(replay.run(rig.session))
        await rig.runner.receive("user_message")
        for number in (1, 2):
            await rig.runner.ask_model(f"r{number}", "go")
            if number == 1:
                await rig.runner.receive("llm_response")
        await rig.until(lambda: rig.state.holds)
        await asyncio.wait_for(running, DEADLINE)
        assert "another way than recorded" in rig.of(ErrorOccurred)[0].message
        assert len(live.requests) == 1
