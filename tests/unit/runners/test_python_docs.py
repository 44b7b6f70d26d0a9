"""The examples of docs/python-agents.md run as they stand there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fakes.engine import FakeModel, says
from fakes.python_agents import agent_rig

PAGE = Path(__file__).parents[3] / "docs" / "python-agents.md"
OSMOSIS = Path(__file__).parents[2] / "fakes" / "osmosis_old"
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


async def test_the_agent_with_a_tool_of_its_own(tmp_path: Path) -> None:
    model = FakeModel(says("", ("count_words", '{"text": "a b c"}')), says("three"))
    async with agent_rig(tmp_path, EXAMPLES[0], model) as rig:
        await rig.run()
        assert [(call.name, call.content) for call in rig.state.calls] == [("count_words", "3")]
        assert rig.has("submit", answer="three")


async def test_the_agent_with_types(tmp_path: Path) -> None:
    async with agent_rig(tmp_path, EXAMPLES[1], FakeModel(says("hello"))) as rig:
        await rig.run()
        assert rig.has("submit", answer="hello")
        assert len(EXAMPLES) == 3


SERVER = """
from types import SimpleNamespace

class Manager:
    parameters = {"type": "object", "properties": {"a": {"type": "number"}}}
    _tools = {"double": SimpleNamespace(name="double", description="", parameters=parameters)}

    async def call_tool(self, name, arguments):
        return 2 * arguments["a"]

mcp = SimpleNamespace(_tool_manager=Manager())
"""


async def test_the_osmosis_loop_for_an_mcp_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(OSMOSIS))
    (tmp_path / "mcp").mkdir()
    (tmp_path / "mcp" / "main.py").write_text(SERVER)
    model = FakeModel(says("", ("double", '{"a": 4}')), says("8"))
    async with agent_rig(tmp_path, EXAMPLES[2], model, agent="agent.py:loop", row_data={"level": 1}) as rig:
        await rig.run("2 * 4?")
        assert rig.outcomes() == ["completed"]
        assert [tool["function"]["name"] for tool in model.requests[0].tools] == ["double"]
        [call] = rig.state.calls
        assert (call.name, call.own, call.content) == ("double", True, "8")
        assert rig.has("submit", answer="8")
