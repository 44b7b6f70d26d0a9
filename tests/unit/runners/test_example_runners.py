"""The example runners of the docs as real processes behind real sessions."""

import asyncio
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from agentscope_tui.bus import EventBus
from agentscope_tui.events import ToolResult
from agentscope_tui.models.chat import ModelError
from agentscope_tui.wire.frame_channel import FrameChannel
from agentscope_tui.wire.framing import LengthPrefixed
from agentscope_tui.wire.sockets import Address, Listener
from fakes.engine import FakeModel, FakeTools, Gatekeeper, returns, says
from fakes.processes import process_rig
from fakes.session_rig import Rig

EXAMPLES = Path(__file__).parents[3] / "docs" / "examples"
PYTHON = [sys.executable, str(EXAMPLES / "runner.py")]
NODE = ["node", str(EXAMPLES / "runner.mjs")]


@pytest.fixture(params=["python", "javascript"])
def command(request: pytest.FixtureRequest) -> list[str]:
    if request.param == "javascript" and shutil.which("node") is None:
        pytest.skip("needs node")
    return PYTHON if request.param == "python" else NODE


async def test_two_turns_with_tools(command: list[str], tmp_path: Path) -> None:
    model = FakeModel(
        says("look", ("look", '{"at": "a"}'), ("look", '{"at": "b"}')),
        says("", ("submit", '{"answer": "42"}')),
        says("and goodbye"),
    )
    tools = FakeTools(look=returns("seen"))
    async with process_rig(command, tmp_path, model, tools, system="Be brief.") as rig:
        await rig.run("first")
        await rig.run("second")
        assert rig.outcomes() == ["completed", "completed"]
        assert tools.called == [("look", {"at": "a"}), ("look", {"at": "b"})]
        assert rig.has("submit", answer="42")
        assert rig.asked(3) == [
            ("system", "Be brief."),
            ("user", "first"),
            ("assistant", "look<look><look>"),
            ("tool", "seen"),
            ("tool", "seen"),
            ("assistant", "<submit>"),
            ("tool", "submitted"),
            ("user", "second"),
        ]
        assert str(rig.state.runner.hello["name"]).startswith("example-")


async def test_a_conversation_of_one_turn_only(command: list[str], tmp_path: Path) -> None:
    model = FakeModel(says("one"), says("two"))
    async with process_rig(command, tmp_path, model, FakeTools(), conversation_scope="turn") as rig:
        await rig.run("first")
        await rig.run("second")
        assert rig.asked(2) == [("user", "second")]


async def test_steers_while_a_tool_runs_and_with_the_last_reply(command: list[str], tmp_path: Path) -> None:
    tool, last = Gatekeeper(), Gatekeeper()
    model = FakeModel(says("", ("look", "{}")), last.reply(says("done?")), says("really done"))
    async with process_rig(command, tmp_path, model, FakeTools(look=tool.body)) as rig:
        rig.session.send("go")
        await tool.entered.wait()
        rig.session.send("look twice")
        tool.let_go.set()
        await last.entered.wait()
        rig.session.send("and thrice")
        last.let_go.set()
        await rig.settled()
        assert [role for role, _ in rig.asked(2)][-2:] == ["tool", "user"]
        assert rig.asked(2)[-1] == ("user", "look twice")
        assert rig.asked(3)[-1] == ("user", "and thrice")
        assert [status for _, status in rig.steers()].count("answered") == 2


async def test_interrupts_in_a_tool_and_in_the_model_then_another_turn(
    command: list[str], tmp_path: Path
) -> None:
    tool, thinking = Gatekeeper(), Gatekeeper()
    model = FakeModel(
        says("", ("look", "{}"), ("look", "{}"), ids="a"), thinking.reply(says("late")), says("hello again")
    )
    async with process_rig(command, tmp_path, model, FakeTools(look=tool.body)) as rig:
        rig.session.send("one")
        await tool.entered.wait()
        rig.session.interrupt()
        await rig.settled()
        rig.session.send("two")
        await thinking.entered.wait()
        rig.session.interrupt()
        await rig.settled()
        await rig.run("three")
        assert tool.cancelled
        assert rig.outcomes() == ["interrupted", "interrupted", "completed"]
        roles = [role for role, _ in rig.asked(3)]
        assert roles == ["user", "assistant", "tool", "tool", "user", "user"]
        assert not any(event.repairs for event in rig.events if event.kind == "llm_request")


async def test_an_interrupt_right_behind_the_message(command: list[str], tmp_path: Path) -> None:
    model = FakeModel(says("one"), says("two"))
    async with process_rig(command, tmp_path, model, FakeTools()) as rig:
        for text in ("a", "b", "c"):
            rig.session.send(text)
            rig.session.interrupt()
            await rig.settled()
        await rig.run("d")
        assert rig.outcomes() == ["interrupted"] * 3 + ["completed"]


async def test_the_turn_cap_and_a_failed_call(command: list[str], tmp_path: Path) -> None:
    from agentscope_tui.session.limits import Limits

    model = FakeModel(says("", ("look", "{}")), says("", ("look", "{}")), ModelError("no credit"), says("ok"))
    settings: dict[str, Any] = {"limits": Limits(calls=2), "patient": False}
    async with process_rig(command, tmp_path, model, FakeTools(look=returns("x")), **settings) as rig:
        await rig.run("first")
        await rig.run("second")
        await rig.run("third")
        assert rig.outcomes() == ["limit", "failed", "completed"]


async def test_what_is_no_call_is_not_run(command: list[str], tmp_path: Path) -> None:
    model = FakeModel(
        says("", ("look", "{not json"), ("look", "[1]"), ids="a"),
        says("", ("look", "{}"), finish="length", ids="b"),
        says("done"),
    )
    tools = FakeTools(look=returns("x"))
    async with process_rig(command, tmp_path, model, tools) as rig:
        await rig.run()
        assert tools.called == []
        assert [result.status for result in rig.of(ToolResult)] == ["refused"] * 3
        assert rig.outcomes() == ["completed"]


async def test_text_of_all_kinds_and_of_megabytes_arrives_whole(command: list[str], tmp_path: Path) -> None:
    text = "ä\u2028\x00\x1b[31m𝄞" * 100_000
    model = FakeModel(says("", ("look", "{}")), says("done"))
    async with process_rig(command, tmp_path, model, FakeTools(look=returns(text))) as rig:
        await rig.run()
        assert rig.asked(2)[-1] == ("tool", text)


async def test_the_python_example_dials_in() -> None:
    listener = Listener(Address("127.0.0.1", 0))
    await listener.start()
    runner = await asyncio.create_subprocess_exec(*PYTHON, str(listener.address))
    channel = FrameChannel(listener.next(10), LengthPrefixed(), lambda stream, line: None)
    model = FakeModel(says("", ("look", "{}")), says("done"))
    async with Rig(model, FakeTools(look=returns("x")), channel=channel, bus=EventBus("test")) as rig:
        await rig.run()
        assert rig.outcomes() == ["completed"]
    assert await asyncio.wait_for(runner.wait(), 10) == 0
    await listener.aclose()
