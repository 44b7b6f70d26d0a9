"""A runner that dies, breaks the protocol, floods or goes idle with open requests."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest

from agentscope_tui.events import AgentNote, Event
from agentscope_tui.session.limits import Limits
from agentscope_tui.session.link import MAX_OPEN
from agentscope_tui.session.remarks import MOST_REMARKS, MOST_TEXT, TOO_MANY
from agentscope_tui.session.session import SessionError
from agentscope_tui.wire.channel import ChannelClosed
from fakes.engine import DEADLINE, FakeModel, FakeTools, Gatekeeper, says
from fakes.session_rig import Rig


async def ended(rig: Rig) -> str:
    """Wait for the end; how it was and why."""
    await rig.until(lambda: rig.events[-1].kind == "session_ended")
    event: Any = rig.events[-1]
    return f"{event.status}: {event.reason}"


async def test_the_end_of_the_channel_fails_the_session() -> None:
    gate = Gatekeeper()
    async with Rig(FakeModel(), FakeTools(bash=gate.body), own_runner=True) as rig:
        await rig.greet()
        await rig.say()
        await rig.runner.ask_tool("r1", "bash")
        await gate.entered.wait()
        await rig.runner.channel.aclose()
        assert await ended(rig) == "failed: the runner ended"
        assert gate.cancelled
        await rig.settled()
        with pytest.raises(SessionError, match="this session is over"):
            rig.session.send("hello?")
    assert rig.has("tool_result", status="interrupted")


async def test_an_episode_error_fails_the_session_with_its_note_and_shuts_the_runner_down() -> None:
    async with Rig(FakeModel(), own_runner=True) as rig:
        await rig.greet()
        await rig.say()
        await rig.runner.send("episode_error", note="out of memory")
        assert await ended(rig) == "failed: out of memory"
        assert [frame["type"] for frame in await rig.runner.rest()] == ["shutdown"]
    assert rig.has("error", source="runner", message="out of memory")


@pytest.mark.parametrize(
    ("frame", "reason"),
    [
        ({"type": "llm_request"}, "bad llm_request frame: llm_request.req_id: Field required"),
        ({"type": "state", "status": "asleep"}, "bad state frame: state.status"),
        ({"no": "type"}, "a frame is a JSON object with a `type`"),
        (["not", "an", "object"], "a frame is a JSON object with a `type`"),
    ],
)
async def test_a_bad_frame_ends_the_session_with_a_reason_not_the_program(frame: Any, reason: str) -> None:
    async with Rig(FakeModel(), own_runner=True) as rig:
        await rig.greet()
        await rig.runner.channel.send(frame)
        assert (await ended(rig)).startswith(f"failed: the runner broke the protocol: {reason}")


async def test_unknown_frames_and_fields_are_ignored() -> None:
    async with Rig(FakeModel(says("fine")), own_runner=True) as rig:
        await rig.greet(future_field={"deep": [1]})
        await rig.say()
        for kind in ("telemetry", "transport_keepalive", "pong", "hello"):
            await rig.runner.send(kind, blob="x")
        body = {"messages": [{"role": "user", "content": "go", "new": 1}]}
        await rig.runner.send("llm_request", req_id="r1", openai_body=body, priority=9)
        assert "completion" in await rig.runner.receive("llm_response")
        await rig.runner.idle()
        await rig.settled()
    assert rig.outcomes() == ["completed"]


async def test_a_type_error_while_receiving_is_told_once_and_not_retried() -> None:
    class Broken:
        received = 0

        async def open(self) -> None:
            return None

        async def send(self, frame: dict[str, Any]) -> None:
            return None

        async def receive(self) -> dict[str, Any] | None:
            self.received += 1
            raise TypeError("receive() takes 1 argument")

        async def ending(self) -> str:
            return "it ended"

        async def aclose(self) -> None:
            return None

    rig, broken = Rig(FakeModel(), own_runner=True), Broken()
    rig.session._link._channel = broken
    with pytest.raises(SessionError, match=r"cannot read from the runner: TypeError"):
        await rig.session.start()
    assert broken.received == 1
    await rig.end()


async def test_a_runner_that_cannot_be_written_to_fails_the_session() -> None:
    async with Rig(FakeModel(), own_runner=True) as rig:
        await rig.greet()

        async def full(frame: dict[str, Any]) -> None:
            raise OSError("no space")

        rig.session._link._channel.send = full  # type: ignore[method-assign]
        rig.session.send("go")
        assert await ended(rig) == "failed: cannot write to the runner: OSError: no space"


async def test_a_flood_of_requests_is_slowed_down_and_an_interrupt_still_works() -> None:
    gate = Gatekeeper()
    tools = FakeTools(bash=gate.body)
    async with Rig(FakeModel(), tools, own_runner=True, limits=Limits(tool_actions=10_000)) as rig:
        await rig.greet()
        await rig.say()

        async def flood() -> None:
            number = 0
            while True:
                number += 1
                await rig.runner.ask_tool(f"r{number}", "bash")

        flooding = asyncio.create_task(flood())
        await rig.until(lambda: len(tools.called) == MAX_OPEN)
        for _ in range(50):
            await asyncio.sleep(0)
        assert len(tools.called) == MAX_OPEN
        assert rig.session.interrupt()
        await rig.runner.receive("abort")
        await rig.runner.receive("tool_response")
        flooding.cancel()
        with pytest.raises(asyncio.CancelledError):
            await flooding
    assert not gate.let_go.is_set()


@pytest.mark.parametrize(
    ("size", "count"), [(1, MOST_REMARKS + 50), (MOST_TEXT // 4, 7)], ids=["many", "long"]
)
async def test_a_flood_of_remarks_is_cut_and_the_session_goes_on(size: int, count: int) -> None:
    async with Rig(FakeModel(), own_runner=True) as rig:
        await rig.greet()
        for _ in range(count):
            await rig.runner.send("note", text="x" * size)
        await rig.say()
        await rig.runner.idle()
        await rig.settled()
        remarks = [event.text for event in rig.events if isinstance(event, AgentNote)]
    kept = min(MOST_REMARKS, MOST_TEXT // size)
    assert remarks == ["x" * size] * kept + [TOO_MANY]
    assert rig.outcomes() == ["completed"]


async def test_an_idle_with_open_requests_ends_them() -> None:
    gate = Gatekeeper()
    async with Rig(FakeModel(), FakeTools(bash=gate.body), own_runner=True) as rig:
        await rig.greet()
        await rig.say()
        await rig.runner.ask_tool("r1", "bash")
        await gate.entered.wait()
        await rig.runner.idle()
        await rig.settled()
        assert gate.cancelled
        assert (await rig.runner.receive("tool_response"))["content"] == "interrupted"
    assert rig.outcomes() == ["completed"]


async def test_requests_without_a_turn_are_refused() -> None:
    async with Rig(FakeModel(), own_runner=True) as rig:
        await rig.greet()
        await rig.runner.ask_model("r1")
        assert (await rig.runner.receive())["error"] == "interrupted"
        await rig.runner.ask_tool("r2", "submit", answer="x")
        assert (await rig.runner.receive())["content"] == "interrupted"
    assert rig.model.requests == []
    assert not rig.has("submit")


async def test_a_body_that_no_model_can_read_is_answered_with_an_error() -> None:
    async with Rig(FakeModel(), own_runner=True) as rig:
        await rig.greet()
        await rig.say()
        for body in (
            {},
            {"messages": []},
            {"messages": ["hi"]},
            {"messages": [{"role": "user"}], "tools": 1},
        ):
            await rig.runner.send("llm_request", req_id="r", openai_body=body)
            assert "no model can read" in (await rig.runner.receive("llm_response"))["error"]
        await rig.runner.idle()
        await rig.settled()
    assert rig.outcomes() == ["failed"]


async def test_an_event_sink_that_raises_stops_nothing(caplog: pytest.LogCaptureFixture) -> None:
    def bad_sink(event: Event) -> None:
        raise RuntimeError("sink")

    async with Rig(FakeModel(says("hello"))) as rig:
        rig.bus.subscribe(bad_sink)
        await rig.run()
        assert rig.state.entries[-1].text == "hello"
    assert "an event callback failed" in caplog.text


async def test_what_fails_while_closing_is_told_and_the_session_still_ends(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.CRITICAL)

    class BadTools(FakeTools):
        async def aclose(self) -> None:
            raise OSError("stuck")

    model = FakeModel()
    async with Rig(model, BadTools()) as rig:
        await rig.run()
    assert rig.has("error", source="session", message="closing the tools failed: OSError: stuck")
    assert model.closed


async def test_an_end_that_is_cancelled_goes_on_and_can_be_waited_for_again() -> None:
    gate = Gatekeeper()

    class SlowTools(FakeTools):
        async def aclose(self) -> None:
            await gate.wait()
            await super().aclose()

    tools = SlowTools()
    async with Rig(FakeModel(), tools) as rig:
        first = asyncio.create_task(rig.session.end())
        await gate.entered.wait()
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        gate.let_go.set()
        await asyncio.wait_for(rig.session.end(), DEADLINE)
    assert tools.closed


async def test_an_end_while_starting_is_the_error_of_start() -> None:
    async with Rig(FakeModel(), own_runner=True) as rig:
        starting = asyncio.create_task(rig.session.start())
        await rig.runner.send("hello")
        await rig.runner.receive("session_start")
        await rig.session.end()
        with pytest.raises(SessionError, match="ended before its runner was ready"):
            await starting


async def test_the_runner_finds_its_channel_closed_at_the_end() -> None:
    async with Rig(FakeModel(), own_runner=True) as rig:
        await rig.greet()
        await rig.session.end()
        with pytest.raises(ChannelClosed):
            await rig.runner.idle()
