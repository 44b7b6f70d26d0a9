"""`--tools FILE`: a user's functions as tools of any loop, in their interpreter."""

from __future__ import annotations

import asyncio
import os
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from agentscope_tui.errors import UserError
from agentscope_tui.runners.python import tools_command
from agentscope_tui.tools.python_tools import PythonTools
from fakes.engine import FakeTools, returns
from fakes.processes import alive, mark
from waiting import wait_until

SOURCE = """
    import os, subprocess, sys, time

    print("imported")

    def where(name: str) -> str:
        "Where a tool works."
        print("printed", flush=True)
        print("to stderr", file=sys.stderr)
        return f"{name} in {os.path.basename(os.getcwd())}"

    async def long_text(size: int) -> str:
        return "x" * size

    def hangs(word: str) -> None:
        print("begun")
        subprocess.run([sys.executable, "-c", "import time; time.sleep(100)", word])

    def dies() -> None:
        os._exit(3)

    def _private() -> None: ...
"""


class Bench:
    """The tools of a file, with all that they print."""

    def __init__(self, folder: Path, source: str, **inner: Any) -> None:
        (folder / "mine.py").write_text(textwrap.dedent(source))
        (folder / "scratch").mkdir()
        self.log: list[str] = []
        self.output: list[tuple[str, bytes]] = []
        self.inner = FakeTools(**inner)
        command = tools_command("mine.py", sys.executable, folder, os.environ, folder / "scratch")
        self.tools = PythonTools(
            self.inner,
            command,
            cwd=folder,
            env=os.environ,
            result_cap=1000,
            start_timeout=20,
            on_log=lambda stream, line: self.log.append(line),
        )

    async def __aenter__(self) -> Bench:
        await self.tools.start()
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.tools.aclose()
        assert self.inner.closed

    async def call(self, name: str, /, **arguments: Any) -> Any:
        async def on_output(stream: str, data: bytes) -> None:
            self.output.append((stream, data))

        return await asyncio.wait_for(self.tools.call(name, arguments, on_output), 20)


async def test_functions_are_declared_and_called_beside_the_other_tools(tmp_path: Path) -> None:
    async with Bench(tmp_path, SOURCE, look=returns("seen")) as bench:
        names = [spec["name"] for spec in bench.tools.specs]
        assert names == ["look", "submit", "where", "long_text", "hangs", "dies"]
        outcome = await bench.call("where", name="it")
        assert (outcome.content, outcome.is_error, outcome.side_effects) == ("it in scratch", False, True)
        assert sorted(bench.output) == [("stderr", b"to stderr\n"), ("stdout", b"printed\n")]
        assert (await bench.call("look")).content == "seen"
        wrong = await bench.call("where", nome="it")
        assert wrong.is_error
        assert wrong.content.startswith("TypeError: where: ")
        await wait_until(lambda: bench.log == ["imported"], "the log")


async def test_a_long_result_is_cut(tmp_path: Path) -> None:
    async with Bench(tmp_path, SOURCE) as bench:
        outcome = await bench.call("long_text", size=5000)
        assert outcome.truncated
        assert len(outcome.content) <= 1000


async def test_a_call_that_is_stopped_leaves_nothing_and_the_next_one_works(tmp_path: Path) -> None:
    word = mark()
    async with Bench(tmp_path, SOURCE) as bench:
        call = asyncio.create_task(bench.call("hangs", word=word))
        await wait_until(lambda: alive(word), "the child")
        call.cancel()
        await asyncio.wait([call])
        assert call.cancelled()
        assert alive(word) == []
        assert (await bench.call("where", name="again")).content == "again in scratch"


async def test_a_call_that_comes_while_another_is_being_stopped_has_a_new_process(tmp_path: Path) -> None:
    word = mark()
    async with Bench(tmp_path, SOURCE) as bench:
        stopped = asyncio.create_task(bench.call("hangs", word=word))
        await wait_until(lambda: alive(word), "the child")
        stopped.cancel()
        await wait_until(lambda: bench.tools._channel is None, "the end of the process")
        assert (await bench.call("where", name="next")).content == "next in scratch"
        await wait_until(stopped.cancelled, "the end of the stopped call")
        assert alive(word) == []


async def test_a_process_that_dies_fails_its_call_only(tmp_path: Path) -> None:
    async with Bench(tmp_path, SOURCE) as bench:
        with pytest.raises(UserError, match="tool 'dies' failed: its process exited with status 3"):
            await bench.call("dies")
        assert (await bench.call("where", name="still")).content == "still in scratch"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("def f(:\n", "--tools: SyntaxError: invalid syntax (mine.py:1)"),
        ("x = 1\n", "has no functions that could be tools"),
        ("def submit(answer: str): ...\n", "tool 1 ('submit'): tool 0 has the same name"),
        ("import sys; sys.exit(1)\n", "--tools: SystemExit: 1"),
    ],
)
async def test_what_is_no_tool_is_told_before_the_session(source: str, message: str, tmp_path: Path) -> None:
    bench = Bench(tmp_path, source)
    with pytest.raises(UserError) as caught:
        await bench.tools.start()
    assert message in str(caught.value)
    await bench.tools.aclose()


async def test_an_import_that_hangs_is_told(tmp_path: Path) -> None:
    bench = Bench(tmp_path, "import time\ntime.sleep(100)\n")
    bench.tools._start_timeout = 0.5
    with pytest.raises(UserError, match=r"importing the functions took longer than 0\.5 s"):
        await bench.tools.start()
    await bench.tools.aclose()


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"--tools none\.py: there is no such file"):
        tools_command("none.py", None, tmp_path, os.environ, tmp_path)
