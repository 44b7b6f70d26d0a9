"""The stock pi runner, with its agent from npm, behind sessions of ours."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pi
import pytest

from agentscope_tui.events import AssistantMessage, LlmRequestSent, Paused, Resumed, ToolResult
from agentscope_tui.models.chat import ModelError
from agentscope_tui.session.gate import Decision
from agentscope_tui.session.limits import Limits
from fakes.engine import FakeModel, FakeTools, Gatekeeper, returns, says
from fakes.processes import alive
from fakes.session_rig import Rig

MakeRig = Callable[..., Rig]
PATIENCE = 300.0
"""Seconds after which the runner itself ends a turn that waits for a model."""


async def test_a_full_turn_with_tools_and_a_second_one(pi_rig: MakeRig) -> None:
    model = FakeModel(
        says("look", ("look", "{}"), ("list", "{}")), says("", ("submit", '{"answer": "42"}')), says("bye")
    )
    tools = FakeTools(look=returns("seen"), list=returns("a b"))
    async with pi_rig(model, tools, system="Be brief.") as rig:
        await rig.run("first")
        assert rig.state.answer == "42"
        await rig.run("second")
        assert rig.outcomes() == ["completed", "completed"]
        assert [result.call_id for result in rig.of(ToolResult)][:2] == ["c1", "c2"]
        asked = rig.asked(3)
        assert asked[0] == ("system", "Be brief.")
        assert [role for role, _ in asked[1:]] == [
            "user",
            "assistant",
            "tool",
            "tool",
            "assistant",
            "tool",
            "user",
        ]
        assert asked[-1] == ("user", "second")
        assert rig.state.runner.profile == "pi"
        assert not any(event.repairs for event in rig.of(LlmRequestSent))


async def test_a_steer_during_a_tool_and_one_with_the_last_reply(pi_rig: MakeRig) -> None:
    tool, last = Gatekeeper(), Gatekeeper()
    model = FakeModel(says("", ("look", "{}"), ("look", "{}")), last.reply(says("done?")), says("done"))
    async with pi_rig(model, FakeTools(look=tool.body)) as rig:
        rig.session.send("go")
        await tool.entered.wait()
        rig.session.send("look well")
        tool.let_go.set()
        await last.entered.wait()
        rig.session.send("and again")
        last.let_go.set()
        await rig.settled()
        assert [role for role, _ in rig.asked(2)] == ["user", "assistant", "tool", "tool", "user"]
        assert rig.asked(2)[-1] == ("user", "look well")
        assert rig.asked(3)[-1] == ("user", "and again")
        assert [text for text, status in rig.steers() if status == "answered"] == ["look well", "and again"]


async def test_a_steer_is_returned_when_the_turn_is_interrupted_first(pi_rig: MakeRig) -> None:
    tool = Gatekeeper()
    model = FakeModel(says("", ("look", "{}")), says("hello again"))
    async with pi_rig(model, FakeTools(look=tool.body)) as rig:
        rig.session.send("go")
        await tool.entered.wait()
        rig.session.send("never read")
        rig.session.interrupt()
        await rig.settled()
        await rig.run("next")
        assert rig.steers()[-1] == ("never read", "returned")
        assert not any("never read" in text for _, text in rig.asked(2))


async def test_interrupts_in_a_tool_and_in_the_model(pi_rig: MakeRig) -> None:
    tool, thinking = Gatekeeper(), Gatekeeper()
    calls = says("", ("look", "{}"), ("look", "{}"))
    model = FakeModel(calls, thinking.reply(says("late"), "begun"), says("hello again"))
    async with pi_rig(model, FakeTools(look=tool.body)) as rig:
        rig.session.send("one")
        await tool.entered.wait()
        rig.session.interrupt()
        await rig.settled()
        rig.session.send("two")
        await thinking.entered.wait()
        rig.session.interrupt()
        await rig.settled()
        await rig.run("three")
        assert tool.cancelled
        assert rig.outcomes() == ["interrupted", "interrupted", "completed"]
        assert [message.text for message in rig.of(AssistantMessage) if message.partial] == ["begun"]
        assert rig.has("usage", partial=True)
        # The runner itself puts two results for the second call into its conversation.
        for request in model.requests[1:]:
            results = [m["tool_call_id"] for m in request.messages if m["role"] == "tool"]
            assert results == ["c1", "c2"]
        assert any("second result" in repair for event in rig.of(LlmRequestSent) for repair in event.repairs)
        assert not any("late" in text for _, text in rig.asked(3))


async def test_the_turn_cap(pi_rig: MakeRig) -> None:
    model = FakeModel(*(says("", ("look", "{}"), ids=f"i{n}_") for n in range(5)))
    async with pi_rig(model, FakeTools(look=returns("x")), limits=Limits(calls=2)) as rig:
        await rig.run()
        assert rig.outcomes() == ["limit"]
        assert len(model.requests) == 2


async def test_a_provider_error_is_a_failed_turn_though_the_runner_says_completed(pi_rig: MakeRig) -> None:
    model = FakeModel(ModelError("no credit"), says("better now"))
    async with pi_rig(model, FakeTools(), patient=False) as rig:
        await rig.run("one")
        await rig.run("two")
        assert rig.outcomes() == ["failed", "completed"]
        assert rig.has("state", outcome="failed", reason="no credit")


async def test_a_call_cut_off_at_the_output_limit_does_not_run(pi_rig: MakeRig) -> None:
    model = FakeModel(says("", ("look", '{"at": "hal'), finish="length"), says("done"))
    tools = FakeTools(look=returns("x"))
    async with pi_rig(model, tools) as rig:
        await rig.run()
        assert tools.called == []
        assert [result.status for result in rig.of(ToolResult)] == ["refused"]


async def test_a_call_that_the_runner_refuses_itself_is_shown(pi_rig: MakeRig) -> None:
    model = FakeModel(says("", ("fly", "{}"), ("look", "{}")), says("done"))
    async with pi_rig(model, FakeTools(look=returns("x"))) as rig:
        await rig.run()
        results = {result.name: result for result in rig.of(ToolResult)}
        assert results["look"].status == "done"
        assert (results["fly"].status, results["fly"].reason) == ("refused", "refused by the runner")
        assert "fly" in results["fly"].content


async def test_a_conversation_of_one_turn_only(pi_rig: MakeRig) -> None:
    model = FakeModel(says("one"), says("two"))
    async with pi_rig(model, FakeTools(), conversation_scope="turn") as rig:
        await rig.run("first")
        await rig.run("second")
        assert rig.asked(2)[-1] == ("user", "second")
        assert not any("first" in text for _, text in rig.asked(2))


async def test_killed_in_a_tool(pi_rig: MakeRig, tmp_path: Path) -> None:
    tool = Gatekeeper()
    async with pi_rig(FakeModel(says("", ("look", "{}"))), FakeTools(look=tool.body)) as rig:
        rig.session.send("go")
        await tool.entered.wait()
        [runner] = [pid for pid in alive("runner_live.ts") if works_in(pid, tmp_path)]
        os.kill(runner, signal.SIGKILL)
        await rig.settled()
        assert rig.session.status == "failed"
        assert tool.cancelled
        ended = rig.events[-1]
        assert ended.kind == "session_ended"
        assert ended.reason.startswith("the runner was killed by SIGKILL; the end of its log: ")


def works_in(pid: int, folder: Path) -> bool:
    """Whether a process has its working folder below this one."""
    return Path(f"/proc/{pid}/cwd").resolve().is_relative_to(folder)


async def test_an_agent_that_cannot_be_loaded_is_told(
    pi_rig: MakeRig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pi, "AGENT", {"src/agent.ts": "export const Agent = "})
    rig = pi_rig(FakeModel(), FakeTools())
    with pytest.raises(Exception, match=r"SyntaxError|Unexpected|ERR_INVALID_TYPESCRIPT"):
        await rig.session.start()
    await rig.end()


async def test_a_step_is_held_at_the_tool_request_and_can_be_decided_there(pi_rig: MakeRig) -> None:
    model = FakeModel(says("", ("look", "{}"), ("look", "{}")), says("done"))
    tools = FakeTools(look=returns("x"))
    async with pi_rig(model, tools, mode="step") as rig:
        rig.session.send("go")
        await rig.until(lambda: rig.of(Paused))
        [paused] = rig.of(Paused)
        assert (paused.step, paused.call, paused.call_id, paused.patience) == ("tool_call", 1, "c1", None)
        assert rig.session.decide(Decision("refuse", "not now"))
        await rig.until(lambda: len(rig.of(Paused)) == 2)
        last = rig.of(Paused)[1]
        assert (last.step, last.call) == ("completion", 2)
        assert 0 < last.patience < PATIENCE
        rig.session.step()
        await rig.settled()
        assert [result.status for result in rig.of(ToolResult)] == ["refused", "done"]
        assert rig.outcomes() == ["completed"]


async def test_a_last_reply_goes_on_before_the_runner_gives_up(pi_rig: MakeRig) -> None:
    async with pi_rig(FakeModel(says("the reply")), FakeTools(), mode="step", patience=0.5) as rig:
        await rig.run()
        assert rig.outcomes() == ["completed"]
        assert [event.reason for event in rig.of(Resumed)] == ["the runner waits no longer"]


@pytest.mark.long
@pytest.mark.timeout(900)
async def test_a_step_that_is_held_for_longer_than_the_runner_waits(pi_rig: MakeRig) -> None:
    model = FakeModel(says("", ("look", "{}")), says("the reply"))
    async with pi_rig(model, FakeTools(look=returns("x")), mode="step") as rig:
        rig.session.send("go")
        await rig.until(lambda: rig.of(Paused))
        await asyncio.sleep(PATIENCE + 20)
        rig.session.step()
        await asyncio.wait_for(rig.session.settled(), PATIENCE)
        assert rig.outcomes() == ["completed"]
        assert [role for role, _ in rig.asked(2)] == ["user", "assistant", "tool"]
        assert rig.of(Resumed)[-1].reason == "the runner waits no longer"


@pytest.mark.long
@pytest.mark.timeout(900)
async def test_an_answer_that_is_later_than_the_runner_waits_is_a_failed_turn(pi_rig: MakeRig) -> None:
    thinking = Gatekeeper()
    async with pi_rig(FakeModel(thinking.reply(says("late"))), FakeTools()) as rig:
        rig.session.send("go")
        await asyncio.wait_for(rig.session.settled(), PATIENCE + 60)
        assert rig.outcomes() == ["failed"]
        assert rig.has("state", reason="the runner did not wait for the answer to call #1")
