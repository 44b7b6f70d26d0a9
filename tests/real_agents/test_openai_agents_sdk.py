"""The real OpenAI Agents SDK as a program: stepped, steered and interrupted without a line changed."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

from agentscope_tui.events import Submitted, ToolResult
from fakes.engine import says
from fakes.programs import program

SECONDS = 60.0
"""For an SDK to be imported, on a busy machine."""
AGENT = """
import asyncio, sys
from agents import Agent, Runner, function_tool, set_default_openai_api

set_default_openai_api(sys.argv[2])

@function_tool
def add(a: int, b: int) -> int:
    "Adds two numbers."
    return a + b

async def main():
    agent = Agent(name="Adder", instructions="Add.", tools=[add], model="gpt-x")
    run = Runner.run_streamed(agent, sys.argv[1])
    async for event in run.stream_events():
        pass
    print(run.final_output)

asyncio.run(main())
"""


def command(python: str, folder: Path, api: str) -> str:
    (folder / "adder.py").write_text(AGENT)
    return f"{shlex.quote(python)} adder.py {{user_prompt}} {api}"


async def test_it_is_stepped_and_steered(python: str, tmp_path: Path) -> None:
    asks = says("I add.", ("add", '{"a": 2, "b": 3}'))
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    async with program(
        command(python, tmp_path, "responses"), tmp_path, asks, says("five"), environ=environ, mode="step"
    ) as rig:
        rig.session.send("2 + 3?")
        await rig.until(lambda: rig.state.holds, seconds=SECONDS)
        rig.session.send("in words")
        rig.session.step()
        await rig.until(lambda: rig.state.holds and rig.state.holds[0].call == 2)
        rig.session.step()
        await rig.until(lambda: rig.outcomes(), seconds=SECONDS)
        assert rig.outcomes() == ["completed"]
        assert [event.answer for event in rig.of(Submitted)] == ["five"]
        assert [(event.name, event.status, event.content) for event in rig.of(ToolResult)] == [
            ("add", "done", "5")
        ]
        assert rig.asked(2) == [
            ("system", "Add."),
            ("user", "2 + 3?"),
            ("assistant", "I add.<add>"),
            ("tool", "5"),
            ("user", "in words"),
        ]


async def test_an_interrupt_ends_it(python: str, tmp_path: Path) -> None:
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    async with program(
        command(python, tmp_path, "chat_completions"), tmp_path, says("five"), environ=environ, mode="step"
    ) as rig:
        rig.session.send("2 + 3?")
        await rig.until(lambda: rig.state.holds, seconds=SECONDS)
        rig.session.interrupt()
        await rig.until(lambda: rig.outcomes(), seconds=SECONDS)
        assert rig.outcomes() == ["interrupted"]
        assert len(rig.model.requests) == 1
