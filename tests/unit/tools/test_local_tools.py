"""The built-in tools as a session calls them."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tool_rig import Marked, Sink, until

from agentscope_tui.errors import UserError
from agentscope_tui.tools.capping import CappedText, cut_middle
from agentscope_tui.tools.local import LocalTools
from agentscope_tui.tools.sandbox import Sandbox
from agentscope_tui.tools.spec import ToolOutcome, validate_tools


async def call(tools: LocalTools, name: str, **arguments: Any) -> ToolOutcome:
    return await tools.call(name, arguments, Sink())


async def test_the_declarations_are_valid(tools: LocalTools, best_sandbox: Sandbox) -> None:
    validate_tools(tools.specs)
    assert [spec["name"] for spec in tools.specs] == [
        *("bash", "read_file", "write_file", "edit_file", "list_files", "submit")
    ]
    assert tools.confinement == best_sandbox.name


async def test_bash_works_in_the_folder(tools: LocalTools, folder: Path) -> None:
    sink = Sink()
    done = await tools.call("bash", {"command": "pwd; echo oops >&2; echo x > made"}, sink)
    assert done.exit_code == 0
    assert (done.is_error, done.truncated, done.side_effects) == (False, False, True)
    assert sorted(done.content.splitlines()) == [str(folder), "oops"]
    assert sink.bytes() == f"{folder}\n".encode()
    assert sink.bytes("stderr") == b"oops\n"
    assert (folder / "made").read_text() == "x\n"


@pytest.mark.parametrize(
    ("command", "content", "code"),
    [
        ("true", "(no output)", 0),
        ("exit 3", "[exit 3]", 3),
        ("echo a; exit 3", "a\n[exit 3]", 3),
        ("printf a; exit 3", "a\n[exit 3]", 3),
        ("echo a; kill -9 $$", "a\n[killed by signal 9 (SIGKILL)]", 137),
        ("kill -40 $$", "[killed by signal 40 (unknown)]", 168),
        ("printf '\\303'; printf '\\274 \\377 \\000'", "ü � �", 0),
        ("printf '\\303'", "�", 0),
        ("echo a; sleep 0.05; echo b >&2; sleep 0.05; echo c", "a\nb\nc\n", 0),
        ("echo $0 $#; cat", "bash 0\n", 0),
    ],
)
async def test_what_bash_says(
    best_sandbox: Sandbox, folder: Path, command: str, content: str, code: int
) -> None:
    tools = LocalTools(folder, sandbox=best_sandbox)
    done = await call(tools, "bash", command=command)
    await tools.aclose()
    assert (done.content, done.exit_code, done.is_error) == (content, code, code != 0)


async def test_a_time_limit_is_said(best_sandbox: Sandbox, folder: Path) -> None:
    tools = LocalTools(folder, sandbox=best_sandbox, bash_timeout=1)
    done = await call(tools, "bash", command="echo a; sleep 60")
    await tools.aclose()
    assert (done.content, done.exit_code, done.is_error) == ("a\n[timed out after 1 s]", 124, True)


async def test_a_shell_command_of_any_length(tools: LocalTools) -> None:
    command = f"# {'ü' * 200_000}\nset -- 'a  b'; echo \"$1\" '$HOME' \"$#\"; exit 5"
    done = await call(tools, "bash", command=command)
    assert done.content == "a  b $HOME 1\n[exit 5]"


async def test_long_output_is_cut_in_the_middle(best_sandbox: Sandbox, folder: Path) -> None:
    tools, sink = LocalTools(folder, sandbox=best_sandbox, result_cap=1000), Sink()
    done = await tools.call("bash", {"command": "seq 200000; exit 2"}, sink)
    await tools.aclose()
    assert done.truncated
    assert len(done.content) <= 1000
    assert done.content.startswith("1\n2\n3\n")
    assert done.content.endswith("\n199999\n200000\n[exit 2]")
    assert "characters cut; narrow it down" in done.content
    assert len(sink.bytes()) == len("".join(f"{i}\n" for i in range(1, 200_001)))


async def test_the_file_tools(tools: LocalTools, folder: Path) -> None:
    wrote = await call(tools, "write_file", path="a/b.txt", content="x = 1\n")
    assert (wrote.content, wrote.is_error, wrote.side_effects) == ("wrote a/b.txt (6 bytes)", False, True)
    edited = await call(tools, "edit_file", path=str(folder / "a/b.txt"), old="1", new="2")
    assert edited.side_effects
    read = await call(tools, "read_file", path="a/b.txt")
    assert (read.content, read.truncated, read.side_effects) == ("x = 2\n", False, False)
    assert (await call(tools, "list_files", path=".")).content == "a/"
    assert (await call(tools, "bash", command="cat a/b.txt")).content == "x = 2\n"
    (folder / "nul").write_bytes(b"a\0b")
    assert (await call(tools, "read_file", path="nul")).content == "a�b"


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("rm", {}, "tool 'rm' not available"),
        ("submit", {"answer": "42"}, "'submit' is answered by the session"),
        ("bash", {}, "bash: argument 'command' is missing"),
        ("bash", {"command": ["ls"]}, "bash: argument 'command' must be of type string, not array"),
        ("bash", {"command": "ls", "cwd": "/"}, "bash: unknown argument 'cwd'"),
        ("bash", {"command": "echo \0"}, "'command' has a NUL character"),
        ("read_file", {"path": "../x"}, "path ../x escapes the session directory"),
        ("list_files", {"path": "/etc"}, "path /etc escapes the session directory"),
    ],
)
async def test_what_cannot_be_called(
    tools: LocalTools, name: str, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(UserError) as caught:
        await tools.call(name, arguments, Sink())
    assert message in str(caught.value)


async def test_a_cancelled_call_leaves_nothing_and_the_next_one_works(
    tools: LocalTools, marked: Marked
) -> None:
    command = marked.shell("(setsid sleep MARK &); sleep MARK")
    task = asyncio.create_task(call(tools, "bash", command=command))
    await until(lambda: marked.sleepers() == 2, "both")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert marked.alive() == []
    assert (await call(tools, "bash", command="echo on")).content == "on\n"


async def test_cancelling_the_first_call_while_the_supervisor_starts(sandbox: Sandbox, folder: Path) -> None:
    for turns in range(6):
        tools = LocalTools(folder, sandbox=sandbox)
        task = asyncio.create_task(call(tools, "bash", command="sleep 60"))
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (await call(tools, "bash", command="echo on")).content == "on\n"
        await tools.aclose()


async def test_a_graders_command_runs_in_the_same_place(tools: LocalTools, folder: Path) -> None:
    sink = Sink()
    status, text = await tools.run_command(
        "echo $ANSWER; pwd; exit 4", timeout=30, on_output=sink, env={"ANSWER": "42"}
    )
    assert (status.code, status.signal, status.timed_out) == (4, None, False)
    assert text == sink.bytes().decode() == f"42\n{folder}\n"
    status, text = await tools.run_command("echo a; sleep 60", timeout=1)
    assert (status.timed_out, text) == (True, "a\n")


async def test_closing_unused_tools_starts_nothing(best_sandbox: Sandbox, folder: Path) -> None:
    tools = LocalTools(folder, sandbox=best_sandbox)
    await tools.aclose()
    with pytest.raises(UserError, match="closed"):
        await call(tools, "bash", command="true")


@settings(deadline=None, max_examples=50)
@given(st.text(), st.integers(60, 300), st.lists(st.integers(1, 400)))
def test_capped_text_is_the_text_with_its_middle_cut(text: str, cap: int, sizes: list[int]) -> None:
    text *= 20
    capped, rest = CappedText(cap), text
    for size in sizes:
        capped.add(rest[:size])
        rest = rest[size:]
    capped.add(rest)
    assert capped.text(cap) == cut_middle(text, cap)
    result = cut_middle(text, cap)
    if len(text) <= cap:
        assert result == text
    else:
        assert len(result) <= cap
        head, _, tail = result.partition("\n… [")
        assert text.startswith(head)
        assert text.endswith(tail.partition("] …\n")[2])
