"""The runner of Python agents in every Python that it is for."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from fakes.engine import FakeModel, Gatekeeper, says
from fakes.python_agents import agent_rig, log_of

AGENT = """
    from __future__ import annotations

    import asyncio
    import sys

    def add(a: int, b: int | None = 1) -> int:
        \"\"\"Add.

        Args:
            a: the first
        \"\"\"
        print("adding")
        return a + (b or 0)

    async def run(ctx):
        messages = ctx.messages
        reply = await ctx.chat(messages, tools=[add])
        messages.append(reply.message)
        results = await asyncio.gather(*(ctx.call_tool(c.name, c.arguments) for c in reply.tool_calls))
        for call, result in zip(reply.tool_calls, results):
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
        await ctx.chat(messages)
        return "%d.%d" % sys.version_info[:2]
"""
VERSIONS = ["3.9", "3.10", "3.12", "3.13"]


def interpreter(version: str) -> str:
    """Some Python of this version, wherever it is installed; skips without."""
    installed = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
    found = str(installed[-1]) if installed else shutil.which(f"python{version}")
    if found is None:
        pytest.skip(f"needs Python {version}")
    return found


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_turn_with_tools_an_interrupt_and_an_error(version: str, tmp_path: Path) -> None:
    thinking = Gatekeeper()
    calls = [("add", '{"a": 2}'), ("add", '{"a": 5, "b": null}')]
    model = FakeModel(says("", *calls), says("done"), thinking.reply(says("late")))
    async with agent_rig(tmp_path, AGENT, model, python=interpreter(version)) as rig:
        await rig.run()
        assert rig.has("submit", answer=version)
        assert [call.content for call in rig.state.calls] == ["3", "5"]
        assert [call.output[0].text for call in rig.state.calls] == ["adding\n", "adding\n"]
        schema = model.requests[0].tools[0]["function"]["parameters"]
        assert schema["properties"]["a"] == {"type": "integer", "description": "the first"}
        assert schema["required"] == ["a"]
        rig.session.send("again")
        await thinking.entered.wait()
        rig.session.interrupt()
        await rig.settled()
        assert rig.outcomes() == ["completed", "interrupted"]
        assert rig.state.runner.hello["python"].startswith(version)
    assert log_of(rig) == ""
