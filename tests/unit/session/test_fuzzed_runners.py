"""Whatever bytes a runner sends: no exception past the session, but an event that names the fault."""

from __future__ import annotations

import asyncio
import base64
import json
import logging
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentscope_tui.events import ErrorOccurred, SessionEnded
from agentscope_tui.session.session import SessionError
from agentscope_tui.wire.channel import ChannelClosed
from agentscope_tui.wire.frame_channel import FrameChannel
from agentscope_tui.wire.framing import Base64Lines, LengthPrefixed
from fakes.engine import FakeModel, FakeTools, returns, says
from fakes.session_rig import Rig

FRAMINGS = {"lines": Base64Lines, "length": LengthPrefixed}
FUZZ = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])

HELLO: dict[str, Any] = {"type": "hello", "mode": "session"}
IDLE: dict[str, Any] = {"type": "state", "status": "idle", "turns": 0}
BODY: dict[str, Any] = {"messages": [{"role": "user", "content": "go"}], "tools": []}
TURN: list[dict[str, Any]] = [
    {"type": "state", "status": "running", "turns": 1, "msg_id": "m"},
    {"type": "llm_request", "req_id": "r1", "openai_body": BODY},
    {"type": "tool_request", "req_id": 2, "name": "look", "arguments": {}},
    {"type": "pong", "nonce": "n"},
    {"type": "transport_keepalive"},
    {"type": "hello", "mode": "session"},
    {"type": "state", "status": "idle", "turns": 1, "reason": "completed", "cleared_steers": ["x"]},
    {"type": "episode_error", "note": "no"},
    {"type": "of a newer version", "x": 1},
]


class Bytes:
    """A byte stream that gives these parts, then waits until it may end."""

    def __init__(self, parts: Sequence[bytes]) -> None:
        self.parts = list(parts)
        self.more = asyncio.Event()
        self.closed = False

    async def open(self) -> None:
        return None

    async def read(self) -> bytes:
        await asyncio.sleep(0)
        if not self.parts:
            await self.more.wait()
        return self.parts.pop(0) if self.parts else b""

    async def write(self, data: bytes) -> None:
        if self.closed:
            raise ChannelClosed

    async def ending(self) -> str:
        return "the runner ended"

    async def aclose(self) -> None:
        self.closed = True
        self.more.set()


class Faults(logging.Handler):
    """Collects what was logged with an exception: a defect of ours."""

    def __init__(self) -> None:
        super().__init__()
        self.records: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info:
            self.records.append(self.format(record))


async def scenario(framing: str, parts: Sequence[bytes], *, started: bool) -> None:
    """A session whose runner sends these bytes, after a good start or instead of one, and ends."""
    faults = Faults()
    logging.getLogger().addHandler(faults)
    wire = FRAMINGS[framing](1 << 20)
    stream = Bytes([wire.encode(HELLO), wire.encode(IDLE)] if started else parts)
    channel = FrameChannel(stream, FRAMINGS[framing](1 << 20), lambda stream, line: None)
    model = FakeModel(*(says("", ("look", "{}"), ids=f"i{number}") for number in range(20)))
    rig = Rig(model, FakeTools(look=returns("x")), channel=channel, patient=False)
    try:
        if started:
            await rig.session.start()
            rig.session.send("go")
            stream.parts += parts
            stream.more.set()
        else:
            stream.more.set()
            with pytest.raises(SessionError):
                await rig.session.start()
        await rig.until(lambda: isinstance(rig.events[-1], SessionEnded))
        assert rig.session.status == "failed"
        assert rig.events[-1].reason
        assert rig.of(ErrorOccurred)
        await rig.__aexit__(None)
    finally:
        logging.getLogger().removeHandler(faults)
    assert faults.records == []


@pytest.mark.parametrize("framing", FRAMINGS)
@pytest.mark.parametrize("started", [False, True])
@FUZZ
@given(parts=st.lists(st.binary(max_size=60), max_size=6))
def test_random_bytes(framing: str, started: bool, parts: list[bytes]) -> None:
    asyncio.run(scenario(framing, parts, started=started))


@pytest.mark.parametrize("framing", FRAMINGS)
@FUZZ
@given(data=st.data())
def test_mutated_and_truncated_frames(framing: str, data: st.DataObject) -> None:
    wire = FRAMINGS[framing]()
    chosen = data.draw(st.lists(st.sampled_from(TURN), min_size=1, max_size=8))
    raw = bytearray(b"".join(wire.encode(frame) for frame in chosen))
    for _ in range(data.draw(st.integers(0, 4))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(raw)))
    step = data.draw(st.integers(1, 200))
    parts = [bytes(raw[place : min(place + step, cut)]) for place in range(0, cut, step)]
    asyncio.run(scenario(framing, parts, started=True))


# No lone surrogates: a recording does not keep them, so the promises about it could not be checked.
ODD: list[Any] = [
    None,
    True,
    -1,
    10**400,
    1e308,
    "",
    "x" * 5000,
    [],
    {},
    [[]],
    {"a": {"b": None}},
    "idle",
]


@pytest.mark.parametrize("framing", FRAMINGS)
@FUZZ
@given(data=st.data())
def test_fields_of_wrong_types_and_duplicate_ids(framing: str, data: st.DataObject) -> None:
    frames = []
    for frame in data.draw(st.lists(st.sampled_from(TURN), min_size=1, max_size=6)):
        frame = dict(frame)
        for name in data.draw(st.lists(st.sampled_from(sorted(frame)), max_size=2)):
            frame[name] = data.draw(st.sampled_from(ODD))
        frames.append(frame)
    parts = [FRAMINGS[framing]().encode(frame) for frame in frames]
    asyncio.run(scenario(framing, parts * 2, started=True))


@pytest.mark.parametrize("framing", FRAMINGS)
@FUZZ
@given(data=st.data())
def test_odd_conversations(framing: str, data: st.DataObject) -> None:
    message = st.dictionaries(
        st.sampled_from(["role", "content", "tool_calls", "tool_call_id", "name"]),
        st.sampled_from(
            [*ODD, "user", "tool", "assistant", [{"id": 5, "function": None}], [{"text": 1}], [None]]
        ),
    )
    body = {"messages": data.draw(st.sampled_from(ODD) | st.lists(message, max_size=5))}
    body["tools"] = data.draw(st.sampled_from([*ODD, [{"function": 5}], [{"type": "function"}]]))
    body["max_tokens"] = data.draw(st.sampled_from(ODD))
    frame = {"type": "llm_request", "req_id": "r", "openai_body": body}
    asyncio.run(scenario(framing, [FRAMINGS[framing]().encode(frame)], started=True))


@pytest.mark.parametrize("framing", FRAMINGS)
@pytest.mark.parametrize("depth", [90, 101, 900, 50_000])
def test_deep_nesting(framing: str, depth: int) -> None:
    deep = '{"type": "tool_request", "req_id": "r", "name": "look", "arguments": {"a": ' + "[" * depth
    raw = (deep + "]" * depth + "}}").encode()
    lines = framing == "lines"
    part = base64.b64encode(raw) + b"\n" if lines else len(raw).to_bytes(4, "big") + raw
    asyncio.run(scenario(framing, [part], started=True))


def test_a_number_of_thousands_of_digits() -> None:
    frame = json.dumps({"type": "state", "status": "idle", "turns": 1}).replace("1", "1" * 4200)
    raw = frame.encode()
    part = len(raw).to_bytes(4, "big") + raw
    asyncio.run(scenario("length", [part], started=True))
