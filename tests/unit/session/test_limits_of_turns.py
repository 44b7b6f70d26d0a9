"""The limits of a turn and of a session: reaching one is an event with a reason, never silence."""

from __future__ import annotations

from typing import Any

import pytest

from agentscope_tui.clock import Clock
from agentscope_tui.events import LimitReached, ToolResult
from agentscope_tui.session.limits import Limits, Meter, wall_clock
from agentscope_tui.session.settings import ModelSettings, Price
from fakes.engine import FakeModel, FakeTools, Gatekeeper, returns, says
from fakes.session_rig import Rig

BASH = ("bash", "{}")


def bash_again_and_again(times: int) -> FakeModel:
    return FakeModel(*(says("", BASH, ids=f"i{number}-") for number in range(times)), says("done"))


async def test_the_limit_of_calls_ends_the_turn() -> None:
    model = bash_again_and_again(5)
    async with Rig(model, FakeTools(bash=returns("x")), limits=Limits(calls=2)) as rig:
        await rig.run()
        assert "(setting limits.calls)" in rig.state.outcome_reason
        await rig.run("go on")
    assert rig.outcomes()[0] == "limit"
    first = rig.of(LimitReached)[0]
    assert (first.limit, first.value) == ("calls", 2)
    assert len(model.requests) == 4


async def test_the_host_holds_the_limit_of_calls_whatever_the_runner_does() -> None:
    async with Rig(FakeModel(), own_runner=True, limits=Limits(calls=2)) as rig:
        await rig.greet()
        await rig.say()
        for number in range(2):
            await rig.runner.ask_model(f"r{number}")
            assert "completion" in await rig.runner.receive("llm_response")
        await rig.runner.ask_model("r3")
        reason = "limit reached: 2 model calls since the last user message (setting limits.calls)"
        assert (await rig.runner.receive("llm_response"))["error"] == reason
        await rig.runner.idle("completed")
        await rig.settled()
        assert rig.state.outcome_reason == reason
    assert rig.outcomes() == ["limit"]
    assert len(rig.model.requests) == 2


async def test_an_action_over_the_budget_is_not_run_and_the_model_reads_so() -> None:
    model = FakeModel(says("", BASH, BASH, BASH), says("", ("submit", '{"answer": "x"}'), ids="s"))
    async with Rig(model, FakeTools(bash=returns("x")), limits=Limits(tool_actions=2)) as rig:
        await rig.run()
        assert rig.state.actions_used == 2
    assert len(rig.tools.called) == 2
    result = rig.of(ToolResult)[2]
    assert (result.status, result.content) == ("refused", "environment action budget exhausted")
    assert result.is_error
    assert result.reason == (
        "limit reached: 2 tool actions since the last user message (setting limits.tool_actions)"
    )
    assert [event.limit for event in rig.of(LimitReached)] == ["tool_actions"]
    assert rig.outcomes() == ["completed"]


async def test_submit_read_skill_and_unknown_tools_cost_no_action() -> None:
    calls = [("read_skill", "{}"), ("fly", "{}"), ("submit", '{"answer": "x"}'), BASH]
    tools = FakeTools(bash=returns("x"), read_skill=returns("how to"))
    async with Rig(FakeModel(says("", *calls)), tools, limits=Limits(tool_actions=1)) as rig:
        await rig.run()
    assert [name for name, _ in tools.called] == ["read_skill", "bash"]
    assert rig.of(LimitReached) == []


@pytest.mark.parametrize(("count_by", "ran"), [("message", 2), ("turn", 1)])
async def test_a_steer_starts_the_counting_again_unless_it_goes_by_turn(count_by: Any, ran: int) -> None:
    gate = Gatekeeper()
    model = FakeModel(says("", BASH), says("", BASH, ids="d"), says("done"))
    limits = Limits(tool_actions=1, count_by=count_by)
    async with Rig(model, FakeTools(bash=gate.body), limits=limits) as rig:
        rig.session.send("go")
        await gate.entered.wait()
        rig.session.send("once more")
        gate.let_go.set()
        await rig.settled()
    assert len(rig.tools.called) == ran
    assert "once more" in str(model.requests[1].messages)


async def test_each_turn_starts_the_counting_again() -> None:
    model = FakeModel(says("", BASH), says("done"), says("", BASH, ids="d"), says("done"))
    async with Rig(model, FakeTools(bash=returns("x")), limits=Limits(tool_actions=1, calls=2)) as rig:
        await rig.run()
        await rig.run()
    assert rig.outcomes() == ["completed", "completed"]
    assert len(rig.tools.called) == 2


async def test_the_limit_of_tokens_counts_the_whole_session() -> None:
    async with Rig(FakeModel(says("one"), says("two")), limits=Limits(tokens=15)) as rig:
        await rig.run()
        await rig.run()
    assert rig.outcomes() == ["completed", "limit"]
    assert rig.of(LimitReached)[0].reason == (
        "limit reached: 15 tokens used in this session (setting limits.tokens)"
    )


async def test_the_limit_of_cost_counts_the_whole_session() -> None:
    model = ModelSettings(prices={"fake": Price(input=100_000, output=200_000)})
    async with Rig(FakeModel(says("one"), says("two")), model=model, limits=Limits(cost=2.0)) as rig:
        await rig.run()
        assert rig.state.cost == pytest.approx(2.0)
        await rig.run()
    assert rig.outcomes() == ["completed", "limit"]
    assert "$2.00 spent" in rig.of(LimitReached)[0].reason


async def test_the_wall_clock_stops_a_turn() -> None:
    gate = Gatekeeper()
    async with Rig(FakeModel(gate.reply(says("x"))), limits=Limits(wall_clock=0.05)) as rig:
        await rig.run()
    assert gate.cancelled
    assert rig.outcomes() == ["limit"]
    assert rig.has("limit", limit="wall_clock", value=0.05)
    assert rig.has("interrupted", model_call=1)


async def test_the_wall_clock_does_not_count_time_at_the_gate_nor_outlive_its_turn() -> None:
    ticks = iter(range(1000))
    clock = Clock(monotonic=lambda: float(next(ticks)))
    looks = iter([True, True, False])
    held = await wall_clock(0.002, runs=lambda: True, held=lambda: next(looks), monotonic=clock.monotonic)
    assert held is not None
    assert next(looks, None) is None
    ended = await wall_clock(0.002, runs=lambda: False, held=lambda: True, monotonic=clock.monotonic)
    assert ended is None


def test_a_meter_without_limits_allows_everything() -> None:
    meter = Meter(Limits(calls=10**9, tool_actions=10**9))
    meter.spent(10**9, 10.0**6)
    assert meter.take_call() is None
    assert meter.take_action("bash") is None
