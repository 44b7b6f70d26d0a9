"""A session and its recorder: the file is the session, and a slow disk slows the session down."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from agentscope_tui.bus import EventBus
from agentscope_tui.event_lines import event_from_json
from agentscope_tui.session.state import SessionState
from agentscope_tui.store.recorder import Recorder
from agentscope_tui.tools.spec import OnOutput, ToolOutcome
from fakes.engine import FakeModel, FakeTools, Gatekeeper, says
from fakes.session_rig import Rig, picture

BASH = ("bash", "{}")


async def floods(arguments: dict[str, Any], on_output: OnOutput) -> ToolOutcome:
    for _ in range(40):
        await on_output("stdout", b"0123456789abcde\n" * 4096)
    return ToolOutcome(content="much")


async def test_the_fold_of_the_recording_is_the_fold_of_the_session(tmp_path: Path) -> None:
    (tmp_path / "outputs").mkdir()
    recorder = Recorder(tmp_path, on_error=lambda error: None, on_resumed=lambda lost: None)
    bus = EventBus("recorded", backlog=recorder, tail=16)
    bus.subscribe(recorder)
    late = bus.subscription()
    model = FakeModel(says("look", BASH), says("done"))
    rig = Rig(
        model,
        FakeTools(bash=floods),
        bus=bus,
        caught_up=recorder.caught_up,
        folder=tmp_path,
        system="\x1b[31m",
    )
    async with rig:
        await rig.run()
        await recorder.flush()
    await recorder.aclose()
    again = SessionState()
    for line in recorder.path.read_bytes().splitlines():
        again.apply(event_from_json(line))
    seen = []
    while late.pending:
        seen += late.drain(7)
    assert [event.seq for event in seen] == [event.seq for event in rig.events]
    assert picture(again) == picture(rig.state)
    assert again.calls[0].output[-1].file == "0001.out"


async def test_while_the_recording_is_behind_no_further_frame_is_read() -> None:
    disk = Gatekeeper()
    async with Rig(FakeModel(), own_runner=True, caught_up=disk.wait) as rig:
        starting = asyncio.create_task(rig.session.start())
        await rig.runner.send("hello")
        await disk.entered.wait()
        await rig.runner.send("state", status="idle")
        for _ in range(20):
            await asyncio.sleep(0)
        assert rig.session.status == "starting"
        disk.let_go.set()
        await starting
        assert rig.session.status == "idle"


async def test_while_the_recording_is_behind_a_tool_that_floods_waits() -> None:
    disk, pieces = Gatekeeper(), list[int]()

    async def counts(arguments: dict[str, Any], on_output: OnOutput) -> ToolOutcome:
        for number in range(5):
            pieces.append(number)
            await on_output("stdout", b"x")
        return ToolOutcome(content="done")

    async def behind() -> None:
        if pieces:
            await disk.wait()

    async with Rig(FakeModel(says("", BASH)), FakeTools(bash=counts), caught_up=behind) as rig:
        rig.session.send("go")
        await disk.entered.wait()
        for _ in range(20):
            await asyncio.sleep(0)
        assert pieces == [0]
        assert rig.session.interrupt()
        disk.let_go.set()
        await rig.settled()
    assert rig.has("tool_result", status="interrupted")
