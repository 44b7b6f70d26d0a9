"""Stepping: where a session stops, what lets it go on, and what a decision does to the step."""

from __future__ import annotations

from typing import Any

import pytest

from agentscope_tui.events import AssistantMessage, Paused, Resumed, ToolCallStarted, ToolResult
from agentscope_tui.models.chat import ModelError
from agentscope_tui.session.gate import Decision
from fakes.engine import FakeModel, FakeTools, Gatekeeper, returns, says
from fakes.session_rig import Rig

BASH = ("bash", '{"command": "ls"}')


def rig_of(*replies: Any, **tools: Any) -> Rig:
    return Rig(FakeModel(*replies), FakeTools(**{"bash": returns("files"), **tools}), mode="step")


async def held(rig: Rig, step: str) -> Any:
    await rig.until(lambda: rig.state.holds and rig.state.holds[-1].step == step)
    return rig.state.holds[-1]


async def test_step_mode_stops_at_each_completion() -> None:
    async with rig_of(says("look", BASH), says("done")) as rig:
        rig.session.send("go")
        hold = await held(rig, "completion")
        assert (hold.call, hold.allows) == (1, ["pass", "edit", "refuse"])
        assert rig.tools.called == []
        rig.session.step()
        await rig.until(lambda: len(rig.of(Paused)) == 2)
        assert len(rig.tools.called) == 1
        assert rig.state.status == "running"
        rig.session.step()
        await rig.settled()
    assert [event.step for event in rig.of(Paused)] == ["completion", "completion"]
    assert [event.decision for event in rig.of(Resumed)] == ["pass", "pass"]


async def test_a_fine_step_stops_at_tool_calls_and_results_too() -> None:
    async with rig_of(says("look", BASH), says("done")) as rig:
        rig.session.send("go")
        steps = []
        for expected in ("completion", "tool_call", "tool_result", "completion"):
            await rig.until(lambda: len(rig.of(Paused)) > len(steps))
            steps.append(rig.of(Paused)[-1].step)
            assert steps[-1] == expected
            rig.session.step(fine=True)
        await rig.settled()
    assert [event.call_id for event in rig.of(Paused)] == [None, "c1", "c1", None]


async def test_continue_lets_go_and_stops_no_more() -> None:
    async with rig_of(says("look", BASH), says("done"), says("again")) as rig:
        rig.session.send("go")
        await held(rig, "completion")
        rig.session.run_on()
        await rig.settled()
        await rig.run("next turn")
    assert len(rig.of(Paused)) == 1
    assert rig.has("gate_mode", mode="run")


async def test_pause_stops_again_at_the_next_completion() -> None:
    gate = Gatekeeper()
    async with rig_of(says("", BASH), says("done"), bash=gate.body) as rig:
        rig.session.run_on()
        rig.session.send("go")
        await gate.entered.wait()
        rig.session.pause()
        gate.let_go.set()
        hold = await held(rig, "completion")
        assert hold.call == 2
        rig.session.step()
        await rig.settled()


async def test_a_step_that_finds_nothing_waiting_stops_at_the_next_completion() -> None:
    async with Rig(FakeModel(says("done"))) as rig:
        rig.session.step()
        rig.session.send("go")
        await held(rig, "completion")
        rig.session.step()
        await rig.settled()


async def test_while_a_step_is_held_the_runner_is_still_heard() -> None:
    async with Rig(FakeModel(says("x")), own_runner=True, mode="step") as rig:
        await rig.greet()
        await rig.say()
        await rig.runner.ask_model("r1")
        await held(rig, "completion")
        await rig.runner.ask_tool("r2", "fly")
        assert (await rig.runner.receive("tool_response"))["req_id"] == "r2"


async def test_a_refused_completion_fails_the_turn_with_its_reason_and_nothing_runs() -> None:
    async with rig_of(says("rm", BASH)) as rig:
        rig.session.send("go")
        await held(rig, "completion")
        assert rig.session.decide(Decision("refuse", "too dangerous"))
        await rig.settled()
        assert rig.state.outcome_reason == "too dangerous"
        assert [(call.state, call.reason) for call in rig.state.calls] == [("refused", "too dangerous")]
    assert rig.outcomes() == ["failed"]
    assert rig.tools.called == []


async def test_an_edited_completion_is_what_the_runner_gets() -> None:
    async with rig_of(says("rm", ("bash", '{"command": "rm"}')), says("done")) as rig:
        rig.session.send("go")
        await held(rig, "completion")
        edited = says("ls instead", BASH, ("look", "{}"))
        assert rig.session.decide(Decision("edit", completion=edited))
        rig.session.run_on()
        await rig.settled()
        first = rig.state.calls[0]
        assert (first.call_id, first.edited) == ("c1", True)
    assert rig.tools.called == [("bash", {"command": "ls"})]
    assert rig.asked(2)[1] == ("assistant", "ls instead<bash><look>")
    assert [event.edited for event in rig.of(AssistantMessage)] == [False, True, False]


async def test_a_call_that_an_edit_takes_out_is_shown_as_never_run() -> None:
    async with rig_of(says("", BASH, ("look", "{}"))) as rig:
        rig.session.send("go")
        await held(rig, "completion")
        rig.session.decide(Decision("edit", completion=says("no need")))
        await rig.settled()
        assert [call.state for call in rig.state.calls] == ["refused", "refused"]
    assert rig.tools.called == []
    assert rig.outcomes() == ["completed"]


async def test_a_refused_tool_call_does_not_run_and_the_model_reads_why() -> None:
    async with rig_of(says("", BASH), says("fine")) as rig:
        rig.session.send("go")
        await held(rig, "completion")
        rig.session.step(fine=True)
        await held(rig, "tool_call")
        rig.session.decide(Decision("refuse", "not on my machine"))
        rig.session.run_on()
        await rig.settled()
    assert rig.tools.called == []
    assert rig.has("tool_result", status="refused", content="not on my machine")
    assert ("tool", "not on my machine") in rig.asked(2)


async def test_edited_arguments_are_what_the_tool_gets() -> None:
    async with rig_of(says("", BASH), says("fine")) as rig:
        rig.session.send("go")
        await held(rig, "completion")
        rig.session.step(fine=True)
        await held(rig, "tool_call")
        rig.session.decide(Decision("edit", arguments={"command": "pwd"}))
        rig.session.run_on()
        await rig.settled()
        assert (rig.state.calls[0].arguments, rig.state.calls[0].edited) == ('{"command": "pwd"}', True)
    assert rig.tools.called == [("bash", {"command": "pwd"})]
    assert [event.edited for event in rig.of(ToolCallStarted)] == [True]


async def test_an_edited_submit_submits_the_edited_answer() -> None:
    async with rig_of(says("", ("submit", '{"answer": "41"}'))) as rig:
        rig.session.send("go")
        await held(rig, "completion")
        rig.session.step(fine=True)
        await held(rig, "tool_call")
        rig.session.decide(Decision("edit", arguments={"answer": "42"}))
        rig.session.run_on()
        await rig.settled()
        assert rig.state.answer == "42"


async def test_an_edited_result_is_what_the_model_reads() -> None:
    async with rig_of(says("", BASH), says("fine")) as rig:
        rig.session.send("go")
        await held(rig, "completion")
        rig.session.step(fine=True)
        await held(rig, "tool_call")
        rig.session.step(fine=True)
        hold = await held(rig, "tool_result")
        assert hold.allows == ["pass", "edit"]
        assert not rig.session.decide(Decision("refuse", "cannot"))
        assert rig.session.decide(Decision("edit", content="no files"))
        rig.session.run_on()
        await rig.settled()
        assert rig.state.calls[0].content == "no files"
    assert ("tool", "no files") in rig.asked(2)
    assert [(event.content, event.edited) for event in rig.of(ToolResult)] == [
        ("files", False),
        ("no files", True),
    ]


async def test_nothing_waits_means_no_decision() -> None:
    async with rig_of() as rig:
        assert not rig.session.decide(Decision())
        assert not rig.session.retry()
        assert not rig.session.give_up()


# Failed calls


async def test_a_failed_call_waits_and_a_retry_sends_the_same_request_again() -> None:
    model = FakeModel(ModelError("rate limit"), says("done"))
    async with Rig(model) as rig:
        rig.session.send("go")
        hold = await held(rig, "failed_call")
        assert hold.allows == ["pass", "refuse"]
        assert rig.state.last_error == "rate limit"
        assert rig.session.retry()
        await rig.settled()
    assert model.requests[0] == model.requests[1]
    attempts = [(event.call, event.attempt) for event in rig.events if event.kind == "llm_request"]
    assert attempts == [(1, 1), (1, 2)]
    assert rig.outcomes() == ["completed"]


async def test_giving_a_failed_call_up_fails_the_turn() -> None:
    async with Rig(FakeModel(ModelError("rate limit"), says("ok"))) as rig:
        rig.session.send("go")
        await held(rig, "failed_call")
        assert rig.session.give_up()
        await rig.settled()
        assert rig.state.outcome_reason == "rate limit"
        await rig.run("next")
    assert rig.outcomes() == ["failed", "completed"]


@pytest.mark.parametrize("intent", ["step", "run_on"])
async def test_neither_step_nor_continue_releases_a_failed_call(intent: str) -> None:
    async with Rig(FakeModel(ModelError("rate limit"))) as rig:
        rig.session.send("go")
        await held(rig, "failed_call")
        getattr(rig.session, intent)()
        assert [hold.step for hold in rig.state.holds] == ["failed_call"]
        assert rig.session.give_up()
        await rig.settled()


async def test_without_a_screen_nothing_waits_and_a_failed_call_is_given_up_at_once() -> None:
    model = FakeModel(says("", BASH), ModelError("gone"))
    async with Rig(model, FakeTools(bash=returns("x")), mode="step", patient=False) as rig:
        await rig.run()
    assert rig.of(Paused) == []
    assert rig.outcomes() == ["failed"]
