"""The examples of docs/python-agents.md run as they stand there."""

from __future__ import annotations

import re
from pathlib import Path

from fakes.engine import FakeModel, says
from fakes.python_agents import agent_rig

PAGE = Path(__file__).parents[3] / "docs" / "python-agents.md"
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
        assert len(EXAMPLES) == 2
