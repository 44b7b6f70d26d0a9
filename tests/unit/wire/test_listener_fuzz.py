"""The port where runners dial in: whatever strangers send, the runner with the token comes through."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from agentscope_tui.wire.frame_channel import FrameChannel
from agentscope_tui.wire.framing import LengthPrefixed
from agentscope_tui.wire.greeting import Token
from agentscope_tui.wire.sockets import Address, Listener, dialed

DEADLINE = 10.0
TOKEN = Token("open sesame", "the cave")
FUZZ = settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)

fields = st.dictionaries(
    st.sampled_from(("type", "token", "name", "mode")),
    st.none() | st.text(max_size=9) | st.sampled_from(("hello", "open sesame ", [], {}, 10**400, "\ud800")),
)
frames = fields.map(lambda frame: json.dumps(frame).encode()).map(
    lambda body: len(body).to_bytes(4, "big") + body
)
strangers = st.lists(frames | st.binary(max_size=80), min_size=1, max_size=6)


@FUZZ
@given(strangers)
@example([b"\0\0\0\0"])
@example([b"\0\0\xff\xff" + b"[" * 0xFFFF])
def test_strangers_keep_nobody_out(strangers: list[bytes]) -> None:
    asyncio.run(besieged(strangers))


async def besieged(strangers: list[bytes]) -> None:
    """Strangers that send these bytes and stay or leave, then a runner that knows the token."""
    listener = Listener(Address("127.0.0.1", 0), TOKEN)
    await listener.start()
    crowd = [dialed(listener.address) for _ in strangers]
    for number, (stranger, data) in enumerate(zip(crowd, strangers, strict=True)):
        await stranger.open()
        await stranger.write(data)
        if number % 2:
            await stranger.aclose()
    runner = dialed(listener.address)
    await runner.open()
    await runner.write(LengthPrefixed().encode({"type": "hello", "token": TOKEN.value, "name": "ali"}))
    host = FrameChannel(listener.next(DEADLINE), LengthPrefixed(), lambda stream, line: None)
    await asyncio.wait_for(host.open(), DEADLINE)
    frame = await asyncio.wait_for(host.receive(), DEADLINE)
    assert frame is not None
    assert frame["name"] == "ali"
    for end in (*crowd, runner, host):
        await end.aclose()
    await listener.aclose()
    left = asyncio.all_tasks() - {asyncio.current_task()}
    with suppress(TimeoutError):
        await asyncio.wait_for(asyncio.gather(*left), DEADLINE)
    assert [task for task in left if not task.done()] == []
