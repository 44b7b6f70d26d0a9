"""A server of the SDK itself, in a folder called as the SDK is: newest protocol, progress, an interrupt."""

from __future__ import annotations

from pathlib import Path

from mcp_session import mcp_session

from agentscope_tui.events import ToolOutput, ToolResult
from fakes.engine import says
from waiting import wait_until

MAIN = '''
import asyncio
from pathlib import Path

from mcp.server import MCPServer
from mcp.server.mcpserver import Context

mcp = MCPServer("counter")

@mcp.tool()
async def count(to: int, ctx: Context) -> int:
    """Count, a step each tenth of a second."""
    try:
        for number in range(to):
            await ctx.report_progress(number, to)
            await asyncio.sleep(0.1)
    except BaseException:
        Path("stopped").touch()
        raise
    return to

if __name__ == "__main__":
    mcp.run(transport="streamable-http")
'''


async def test_it_is_called_and_interrupted(tmp_path: Path) -> None:
    folder = tmp_path / "mcp"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "main.py").write_text(MAIN)
    replies = [says("", ("count", '{"to": 2}')), says("", ("count", '{"to": 1000}'), ids="d"), says("done")]
    async with mcp_session(tmp_path, ["mcp"], *replies) as rig:
        rig.session.send("go")
        await rig.until(lambda: len(rig.of(ToolOutput)) >= 3, seconds=60)
        rig.session.interrupt()
        await rig.settled()
        output = "".join(event.text for event in rig.of(ToolOutput))
        assert output.startswith("0/2\n1/2\n0/1000\n")
        first, second = rig.of(ToolResult)
        assert (first.status, first.content, second.status) == ("done", "2", "interrupted")
        await rig.run("again?")
        assert rig.outcomes() == ["interrupted", "completed"]
        await wait_until((tmp_path / "stopped").exists, "the end of the call")
