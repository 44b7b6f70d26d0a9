"""MCP servers' tools beside ours: names, results, progress, interrupts, servers that end or are none."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp.types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)

from agentscope_tui.errors import UsageError, UserError
from agentscope_tui.tools.mcp_address import mcp_addresses
from agentscope_tui.tools.mcp_content import result_text
from agentscope_tui.tools.mcp_tools import McpTools
from fakes.engine import FakeTools, returns
from fakes.mcp_servers import SMALL_SERVER, write_server
from fakes.processes import alive, mark
from waiting import wait_until

SERVER = """
    print("ready, says a line that is no message")
    print("ready, says stderr", file=sys.stderr)

    @tool
    def look(where):
        "Look somewhere."
        notify("message", level="warning", data=f"looked {where}")
        return f"nothing {where}"

    @tool(name="files.read", annotations={"readOnlyHint": True})
    def read():
        return os.path.basename(os.getcwd())

    @tool
    def waits():
        progress(1, 3, "one of\\nthree")
        progress(0.5)
        time.sleep(100)

    @tool
    def fails():
        raise ValueError("no luck")

    @tool
    def long():
        return "x" * 5000

    @tool
    def wrong():
        return {"content": "no list"}

    @tool(outputSchema={"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]})
    def untyped():
        return {"content": [], "structuredContent": {"n": "one"}}

    @tool
    def dies():
        os._exit(3)
"""


class Bench:
    """The tools of servers, with all that they print. Use `start`, or `async with`."""

    def __init__(self, folder: Path, *servers: str, timeout: float = 20, **inner: Any) -> None:
        self.log: list[tuple[str, str]] = []
        self.output: list[bytes] = []
        self.inner = FakeTools(**inner)
        self.tools = McpTools(
            self.inner,
            mcp_addresses(servers, sys.executable, folder, os.environ),
            cwd=folder,
            workdir=folder / "scratch",
            env=os.environ,
            result_cap=1000,
            start_timeout=timeout,
            max_message=1 << 20,
            on_log=lambda stream, line: self.log.append((stream, line)),
        )

    async def __aenter__(self) -> Bench:
        await self.tools.start()
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.tools.aclose()
        assert self.inner.closed
        assert [task for task in asyncio.all_tasks() if task.get_name() == "mcp server"] == []

    @property
    def names(self) -> list[str]:
        return [spec["name"] for spec in self.tools.specs]

    async def call(self, name: str, /, **arguments: Any) -> Any:
        async def on_output(stream: str, data: bytes) -> None:
            self.output.append(data)

        return await asyncio.wait_for(self.tools.call(name, arguments, on_output), 20)


async def test_tools_are_declared_and_called_beside_the_others(tmp_path: Path) -> None:
    async with Bench(tmp_path, write_server(tmp_path, SERVER), look=returns("seen")) as bench:
        assert bench.names[:4] == ["look", "submit", "small_server__look", "files_read"]
        assert bench.tools.specs[2]["description"] == "Look somewhere."
        assert bench.tools.specs[2]["parameters"]["required"] == ["where"]
        assert (await bench.call("look")).content == "seen"
        outcome = await bench.call("small_server__look", where="there")
        assert (outcome.content, outcome.is_error, outcome.side_effects) == ("nothing there", False, True)
        outcome = await bench.call("files_read")
        assert (outcome.content, outcome.side_effects) == (tmp_path.name, False)
        outcome = await bench.call("fails")
        assert (outcome.content, outcome.is_error) == ("no luck", True)
        outcome = await bench.call("long")
        assert outcome.truncated
        assert len(outcome.content) <= 1000
        with pytest.raises(
            UserError, match="tool 'wrong' failed: its answer is not as MCP has it: content: "
        ):
            await bench.call("wrong")
        with pytest.raises(UserError, match="tool 'untyped' failed: Invalid structured content"):
            await bench.call("untyped")
        await wait_until(lambda: len(bench.log) == 3, "the log")
        assert sorted(bench.log) == [
            ("stderr", f"--mcp {sys.executable} -IS server.py: warning: looked there"),
            ("stderr", "ready, says stderr"),
            ("stdout", "ready, says a line that is no message"),
        ]


async def test_progress_is_output_and_an_interrupt_tells_the_server(tmp_path: Path) -> None:
    async with Bench(tmp_path, write_server(tmp_path, SERVER)) as bench:
        call = asyncio.create_task(bench.call("waits"))
        await wait_until(lambda: len(bench.output) == 2, "progress")
        assert bench.output == [b"1/3 one of\nthree\n", b"0.5\n"]
        call.cancel()
        await asyncio.wait([call])
        assert call.cancelled()
        await wait_until((tmp_path / "cancelled").exists, "the notification")
        assert (await bench.call("look", where="again")).content == "nothing again"


async def test_a_server_that_dies_fails_its_calls_and_is_started_anew(tmp_path: Path) -> None:
    async with Bench(tmp_path, write_server(tmp_path, SERVER)) as bench:
        waiting = asyncio.create_task(bench.call("waits"))
        await wait_until(lambda: bench.output, "the call that waits")
        for call in (bench.call("dies"), waiting):
            with pytest.raises(UserError, match=r"failed: its process exited with status 3; .* says stderr"):
                await call
        assert any("server.py: its process exited with status 3" in line for _, line in bench.log)
        both = await asyncio.gather(bench.call("look", where="a"), bench.call("look", where="b"))
        assert [outcome.content for outcome in both] == ["nothing a", "nothing b"]
        assert bench.log.count(("stderr", "ready, says stderr")) == 2


async def test_two_servers_may_have_tools_of_one_name_and_end_with_the_session(tmp_path: Path) -> None:
    word = mark()
    other = write_server(tmp_path, 'NAME = "second.one"\n@tool\ndef look(where): return where', "other.py")
    servers = [f"{command} {word} {{workdir}}" for command in (write_server(tmp_path, SERVER), other)]
    async with Bench(tmp_path, *servers) as bench:
        assert bench.names[-1] == "second_one__look"
        assert (await bench.call("second_one__look", where="x")).content == "x"
        assert len(alive(word)) == len(alive(str(tmp_path / "scratch"))) == 2
    assert alive(word) == []


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("sys.exit('no key')", "its process exited with status 1; the end of its log: no key"),
        ("time.sleep(100)", r"it was not ready within 1 s \(setting runner.start_timeout\)"),
        ("", "it has no tools"),
        (
            "tool(print, schema={'type': 'array'}, name='x')",
            r"not as MCP has it: tools\.0\.inputSchema\.type",
        ),
        (
            "tool(print, schema={'type': 'object', 'required': ['y']}, name='x')",
            r"tool 0 \('x'\): required names 'y', which is no property",
        ),
        ("tool(print, schema={'type': 'object'}, name='x' * 70)", "a name has 1 to 64 letters"),
        (
            "for name in 'a.b', 'a_b', 'a/b': tool(print, schema={'type': 'object'}, name=name)",
            "its tool 'a/b' has the name of a tool of --mcp ",
        ),
        ("sys.stdout.write('x' * (1 << 21)); sys.stdout.flush(); time.sleep(9)", "a frame of .* MiB or more"),
    ],
)
async def test_what_is_no_server_is_told_before_the_session(
    source: str, message: str, tmp_path: Path
) -> None:
    word = mark()
    command = f"{write_server(tmp_path, source)} {word}"
    bench = Bench(tmp_path, command, timeout=1 if "sleep(100)" in source else 20)
    with pytest.raises(UserError, match=message) as caught:
        await bench.tools.start()
    assert str(caught.value).startswith(f"--mcp {command}: ")
    assert alive(word) == []
    await bench.tools.aclose()


async def test_when_one_server_cannot_be_had_the_others_are_ended(tmp_path: Path) -> None:
    word = mark()
    good = f"{write_server(tmp_path, SERVER)} {word}"
    bench = Bench(tmp_path, good, write_server(tmp_path, "sys.exit(1)", "bad.py"))
    with pytest.raises(UserError, match=r"bad\.py: its process exited with status 1"):
        await bench.tools.start()
    assert alive(word) == []
    await bench.tools.aclose()


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ("no-such-program --x", "--mcp no-such-program --x: there is no program no-such-program"),
        ("./none.sh", "--mcp ./none.sh: there is no program ./none.sh"),
        (" ", "--mcp names no server: give its command, its URL or its folder"),
        ("server 'x", "--mcp server 'x: no closing quotation"),
        ("empty", "--mcp empty: the folder has no main.py"),
    ],
)
def test_what_names_no_server(named: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError) as caught:
        mcp_addresses([named], None, tmp_path, os.environ)
    assert str(caught.value) == message


def test_without_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)
    assert mcp_addresses([], None, tmp_path, os.environ) == []
    with pytest.raises(UsageError, match=r"pip install 'agentscope-tui\[mcp\]'"):
        mcp_addresses(["http://127.0.0.1:1/mcp"], None, tmp_path, os.environ)


MAIN = """
from small_server import serve, tool
from .names import NAME

print("imported")

class FastMCP:
    def run(self, transport):
        assert transport == "stdio"
        serve()

@tool
def greet():
    return f"hello {NAME}"

mcp = FastMCP()
if __name__ == "__main__":
    mcp.run("sse")
"""


async def test_a_folder_whose_main_makes_a_server(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "small_server.py").write_text(SMALL_SERVER)
    (folder / "names.py").write_text("NAME = 'you'\n")
    main = folder / "main.py"
    main.write_text(MAIN)
    async with Bench(tmp_path, "project") as bench:
        assert (await bench.call("greet")).content == "hello you"
        assert ("stdout", "imported") in bench.log
    main.write_text("x = 1\n")
    bench = Bench(tmp_path, "project")
    with pytest.raises(UserError, match=r"--mcp project: .*main\.py makes no FastMCP server"):
        await bench.tools.start()
    await bench.tools.aclose()


PARTS = [
    TextContent(text="one"),
    ImageContent(data="aGVsbG8=", mime_type="image/png"),
    AudioContent(data="aGVsbG8h", mime_type="audio/wav"),
    ResourceLink(name="notes", uri="file:///notes.txt"),
    EmbeddedResource(resource=TextResourceContents(uri="memo://1", text="a memo")),
    EmbeddedResource(resource=BlobResourceContents(uri="memo://2", blob="aGVsbG8=")),
]


def test_text_is_joined_and_other_parts_are_named() -> None:
    assert result_text(CallToolResult(content=PARTS)).splitlines() == [
        "one",
        "[image image/png, 5 bytes]",
        "[audio audio/wav, 6 bytes]",
        "[resource notes: file:///notes.txt]",
        "[resource memo://1]",
        "a memo",
        "[resource memo://2 of unknown type, 5 bytes]",
    ]
    assert result_text(CallToolResult(content=[], structured_content={"é": 1})) == '{"é": 1}'
    assert result_text(CallToolResult(content=[])) == ""
