"""Agents of the Osmosis SDK's old contract run unchanged, against a stand-in of that SDK."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agentscope_tui.events import ErrorOccurred, Graded
from fakes.engine import FakeModel, Gatekeeper, says
from fakes.python_agents import agent_rig
from fakes.session_rig import Rig

SDK = Path(__file__).parents[2] / "fakes" / "osmosis_old"

AGENT = """
    import asyncio
    from osmosis_ai.rollout import (
        OpenAIFunctionToolSchema, RolloutAgentLoop, create_tool_result, get_tool_call_info
    )

    ADD = {"name": "add", "description": "Add.", "parameters": {"type": "object", "properties": {}}}

    class Adder(RolloutAgentLoop):
        name = "adder"

        def get_tools(self, request):
            assert request.metadata["test_mode"] is True
            return [OpenAIFunctionToolSchema(ADD)]

        async def run(self, ctx):
            messages = list(ctx.request.messages)
            for _ in range(ctx.request.max_turns):
                try:
                    result = await ctx.chat(messages, temperature=0.5)
                except Exception as error:
                    return ctx.error(f"gave up: {error}")
                messages.append(result.message)
                if not result.has_tool_calls:
                    break
                for call in result.tool_calls:
                    call_id, name, args = get_tool_call_info(call)
                    messages.append(create_tool_result(call_id, str(args["a"] + args["b"])))
                    ctx.record_tool_call(latency_ms=12.5)
            ctx.log_event("finished", calls=ctx.llm.get_metrics().num_llm_calls)
            right = result.content == ctx.request.metadata["ground_truth"]
            return ctx.complete(messages, reward=1.0 if right else 0.0)

    instance = Adder()
"""
ROW = {"system_prompt": "Add.", "user_prompt": "2 + 3?", "ground_truth": "5", "level": 7}


@pytest.fixture(autouse=True)
def sdk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(SDK))


def rig_on(folder: Path, source: str, model: Any, agent: str = "agent:Adder", **settings: Any) -> Rig:
    return agent_rig(folder, source, model, agent=agent, system="Add.", row=4, row_data=ROW, **settings)


@pytest.mark.parametrize("agent", ["agent:Adder", "agent:instance"])
async def test_an_agent_loop_runs_unchanged(agent: str, tmp_path: Path) -> None:
    model = FakeModel(says("", ("add", '{"a": 2, "b": 3}')), says("5"))
    async with rig_on(tmp_path, AGENT, model, agent) as rig:
        await rig.run("2 + 3?")
        assert rig.outcomes() == ["completed"]
        assert rig.asked(2) == [("system", "Add."), ("user", "2 + 3?"), ("assistant", "<add>"), ("tool", "5")]
        assert [tool["function"]["name"] for tool in model.requests[0].tools] == ["add"]
        assert model.requests[0].temperature == 0.5
        [call] = rig.state.calls
        assert (call.name, call.state, call.content) == ("add", "done", "5")
        assert [(event.grader, event.reward) for event in rig.of(Graded)] == [("agent", 1.0)]
        assert rig.has("submit", answer="5")
        notes = [event.text for event in rig.events if event.kind == "note"]
        assert notes == ["tool call recorded: 12.5 ms", 'finished {"calls": 2}']


async def test_the_request_is_that_of_the_sdks_test_mode(tmp_path: Path) -> None:
    source = """
        import json
        from osmosis_ai.rollout import RolloutAgentLoop

        class Shows(RolloutAgentLoop):
            name = "shows"

            def get_tools(self, request):
                return []

            async def run(self, ctx):
                r = ctx.request
                seen = [r.rollout_id, r.messages, r.metadata, r.max_turns, r.max_tokens_total]
                return ctx.complete([{"role": "assistant", "content": json.dumps(seen)}])
    """
    async with rig_on(tmp_path, source, FakeModel(), "agent:Shows") as rig:
        await rig.run("2 + 3?")
        metadata = '{"ground_truth": "5", "row_index": 4, "test_mode": true, "level": 7}'
        messages = '[{"role": "system", "content": "Add."}, {"role": "user", "content": "2 + 3?"}]'
        assert rig.has("submit", answer=f'["test-4", {messages}, {metadata}, 60, 4096]')


async def test_an_error_of_the_agent_is_shown_and_fails_the_turn(tmp_path: Path) -> None:
    source = AGENT.replace("if not result.has_tool_calls:", "return ctx.error('I cannot add')")
    source = source.replace("                    break\n", "")
    async with rig_on(tmp_path, source, FakeModel(says("5"))) as rig:
        await rig.run()
        assert [error.message for error in rig.of(ErrorOccurred)] == ["I cannot add"]
        assert rig.outcomes() == ["failed"]


async def test_an_interrupt_stops_an_agent_that_catches_exceptions_and_the_next_turn_goes_on(
    tmp_path: Path,
) -> None:
    thinking = Gatekeeper()
    model = FakeModel(thinking.reply(says("late")), says("6"))
    async with rig_on(tmp_path, AGENT, model) as rig:
        rig.session.send("2 + 3?")
        await thinking.entered.wait()
        rig.session.interrupt()
        await rig.settled()
        await rig.run("and 3 + 3?")
        assert rig.outcomes() == ["interrupted", "completed"]
        assert rig.asked(2) == [("system", "Add."), ("user", "2 + 3?"), ("user", "and 3 + 3?")]
        assert rig.of(Graded)[0].reward == 0.0


async def test_an_environment_without_the_old_contract_is_told(tmp_path: Path) -> None:
    (tmp_path / "osmosis_ai").mkdir()
    (tmp_path / "osmosis_ai" / "__init__.py").write_text("")
    (tmp_path / "osmosis_ai" / "rollout.py").write_text("")
    source = """
        class Loop:
            name = "loop"

            def get_tools(self, request):
                return []

            async def run(self, ctx):
                return None
    """
    async with rig_on(tmp_path, source, FakeModel(), "agent:Loop") as rig:
        await rig.run()
        [error] = rig.of(ErrorOccurred)
        assert error.message.startswith("osmosis_ai.rollout has no RolloutRequest: ")
        assert error.detail == ""
