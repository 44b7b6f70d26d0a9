"""The real servers `everything` and `filesystem`, over stdio and HTTP: called, interrupted, restarted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from mcp_session import HttpServer, mcp_session

from agentscope_tui.events import ToolOutput, ToolResult
from fakes.engine import says
from fakes.session_rig import Rig

LONG = "trigger-long-running-operation"


def results(rig: Rig) -> list[tuple[str, str, str]]:
    return [(event.name, event.status, event.content) for event in rig.of(ToolResult)]


def output(rig: Rig) -> str:
    return "".join(event.text for event in rig.of(ToolOutput))


async def test_the_tools_of_both_are_called(npm_server: Callable[[str], str], tmp_path: Path) -> None:
    note = tmp_path / "note.txt"
    calls = [
        ("get-sum", '{"a": 2, "b": 3}'),
        ("get-sum", '{"a": "two"}'),
        ("get-tiny-image", "{}"),
        (LONG, '{"duration": 0.4, "steps": 2}'),
        ("write_file", f'{{"path": "{note}", "content": "noted"}}'),
        ("secure-filesystem-server__read_file", f'{{"path": "{note}"}}'),
        ("read_file", "{}"),
        ("read_text_file", '{"path": "/etc/passwd"}'),
    ]
    servers = [npm_server("mcp-server-everything"), npm_server("mcp-server-filesystem") + " {workdir}"]
    async with mcp_session(tmp_path, servers, says("", *calls), says("done")) as rig:
        await rig.run()
        found = results(rig)
        assert [(name, status) for name, status, _ in found] == [
            (name, "failed" if number in (1, 7) else "done") for number, (name, _) in enumerate(calls)
        ]
        texts = [content for _, _, content in found]
        assert texts[0] == "The sum of 2 and 3 is 5."
        assert "expected number, received string" in texts[1]
        assert "[image image/png, 4,033 bytes]" in texts[2]
        assert output(rig) == "1/2\n2/2\n"
        assert note.read_text() == "noted"
        assert texts[5:7] == ["noted", "ours"]
        assert texts[7].startswith("Access denied")


async def interrupt_and_go_on(rig: Rig) -> None:
    rig.session.send("go")
    await rig.until(lambda: "1/100\n" in output(rig), seconds=60)
    rig.session.interrupt()
    await rig.settled()
    assert rig.outcomes() == ["interrupted"]
    await rig.run("and now?")
    assert results(rig) == [(LONG, "interrupted", "interrupted"), ("echo", "done", "Echo: still here")]


REPLIES = [
    says("", (LONG, '{"duration": 100, "steps": 100}')),
    says("", ("echo", '{"message": "still here"}'), ids="d"),
    says("yes"),
]


async def test_an_interrupt_ends_a_call_and_not_the_server(
    npm_server: Callable[[str], str], tmp_path: Path
) -> None:
    async with mcp_session(tmp_path, [npm_server("mcp-server-everything")], *REPLIES) as rig:
        await interrupt_and_go_on(rig)


async def test_a_server_behind_a_url(npm_server: Callable[[str], str], tmp_path: Path) -> None:
    again = [("echo", '{"message": "1"}'), ("echo", '{"message": "2"}')]
    replies = [*REPLIES, says("", *again, ids="e"), says("done")]
    command = npm_server("mcp-server-everything") + " streamableHttp"
    async with (
        HttpServer(command, tmp_path) as server,
        mcp_session(tmp_path, [server.url], *replies) as rig,
    ):
        await interrupt_and_go_on(rig)
        await server.stop()
        await server.start()
        await rig.run("after it was restarted")
        failed = "tool 'echo' failed: Server returned an error response (the next call connects anew)"
        assert results(rig)[2:] == [("echo", "failed", failed), ("echo", "done", "Echo: 2")]
