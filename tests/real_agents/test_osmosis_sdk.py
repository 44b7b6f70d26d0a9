"""A workflow of the real Osmosis SDK 0.3.8 (`--agent module:Workflow`), and the reward of its grader."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agentscope_tui.events import Graded, Submitted
from agentscope_tui.runners.source import RunnerChoice
from fakes.engine import says
from fakes.programs import agent_session

SECONDS = 60.0
"""For an SDK to be imported, on a busy machine."""
FLOW = """
import json
import httpx
from osmosis_ai.rollout import AgentWorkflow, Grader, get_rollout_context

class Flow(AgentWorkflow):
    async def run(self, ctx):
        rollout = get_rollout_context()
        body = {"model": "litellm_proxy/osmosis-rollout", "messages": ctx.prompt, "stream": STREAMS}
        url = rollout.chat_completions_url + "/chat/completions"
        headers = {"Authorization": "Bearer " + rollout.api_key}
        text = ""
        async with httpx.AsyncClient(timeout=60) as client:
            async with client.stream("POST", url, headers=headers, json=body) as response:
                response.raise_for_status()
                if not STREAMS:
                    text = json.loads(await response.aread())["choices"][0]["message"]["content"]
                async for line in response.aiter_lines() if STREAMS else nothing():
                    if line.startswith("data: {"):
                        text += json.loads(line[6:])["choices"][0]["delta"].get("content") or ""
        return [*ctx.prompt, {"role": "assistant", "content": text}]

async def nothing():
    return
    yield

class Right(Grader):
    async def grade(self, ctx):
        ctx.set_reward(1.0 if ctx.label in ctx.sample.messages[-1]["content"] else 0.25)
"""


def chosen(python: str, folder: Path, code: str) -> RunnerChoice:
    (folder / "flow.py").write_text(code)
    environ = {"PATH": os.environ["PATH"], "HOME": str(folder)}
    return RunnerChoice(agent="flow:Flow", python=python, cwd=folder, environ=environ)


@pytest.mark.parametrize("streams", [False, True])
async def test_each_call_is_stepped_and_the_graders_reward_shows(
    streams: bool, python: str, tmp_path: Path
) -> None:
    choice = chosen(python, tmp_path, f"STREAMS = {streams}\n{FLOW}")
    row = {"user_prompt": "2 + 3?", "ground_truth": "five"}
    async with agent_session(choice, says("It is five."), row=row, mode="step") as rig:
        rig.session.send("2 + 3?")
        await rig.until(lambda: rig.state.holds, seconds=SECONDS)
        rig.session.step()
        await rig.until(lambda: rig.outcomes(), seconds=SECONDS)
        assert rig.asked(1) == [("user", "2 + 3?")]
        assert rig.outcomes() == ["completed"]
        assert [event.answer for event in rig.of(Submitted)] == ["It is five."]
        assert [(event.grader, event.reward) for event in rig.of(Graded)] == [("agent", 1.0)]


async def test_a_workflow_that_fails_says_why(python: str, tmp_path: Path) -> None:
    code = f"STREAMS = False\n{FLOW}".replace(
        "rollout = get_rollout_context()", 'raise ValueError("no luck")'
    )
    async with agent_session(chosen(python, tmp_path, code), row={"ground_truth": "x"}) as rig:
        rig.session.send("go")
        await rig.until(lambda: rig.outcomes(), seconds=SECONDS)
        assert rig.outcomes() == ["failed"]
        assert rig.state.outcome_reason == "the workflow failed: no luck"
