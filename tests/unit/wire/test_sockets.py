"""Frames over sockets: dialing a runner, runners that dial in, addresses, and peers that go away."""

import asyncio
import socket
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from agentscope_tui.errors import UserError
from agentscope_tui.wire import greeting
from agentscope_tui.wire.channel import ChannelClosed
from agentscope_tui.wire.frame_channel import FrameChannel
from agentscope_tui.wire.frames import FrameError
from agentscope_tui.wire.framing import LengthPrefixed
from agentscope_tui.wire.greeting import Token
from agentscope_tui.wire.sockets import Address, AddressError, Listener, SocketStream, dialed, parse_address

DEADLINE = 10.0
LOCAL = Address("127.0.0.1", 0)


def over(stream: SocketStream) -> FrameChannel:
    return FrameChannel(stream, LengthPrefixed(), lambda stream, line: None)


@pytest.fixture(params=["tcp", "unix"])
async def listener(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Listener]:
    listener = Listener(LOCAL if request.param == "tcp" else Address(path=tmp_path / "runner.sock"))
    await listener.start()
    yield listener
    await listener.aclose()


async def both_ends(listener: Listener) -> tuple[FrameChannel, FrameChannel]:
    """The runner's end that dialed in, and the host's."""
    runner, host = over(dialed(listener.address)), over(listener.next(DEADLINE))
    await asyncio.gather(runner.open(), host.open())
    return runner, host


async def test_frames_go_both_ways_in_order(listener: Listener) -> None:
    runner, host = await both_ends(listener)
    sent = [{"type": "x", "number": number, "text": "é" * number} for number in range(50)]
    for frame in sent:
        await runner.send(frame)
        await host.send(frame)
    assert [await host.receive() for _ in sent] == sent
    assert [await runner.receive() for _ in sent] == sent
    await runner.aclose()
    assert await host.receive() is None
    assert await host.ending() == "the runner closed the connection"
    await host.aclose()


async def test_a_frame_of_many_megabytes_passes(listener: Listener) -> None:
    runner, host = await both_ends(listener)
    text = "0123456789abcdef" * (16 << 16)
    sending = asyncio.create_task(runner.send({"type": "x", "text": text}))
    frame = await asyncio.wait_for(host.receive(), DEADLINE)
    await sending
    assert frame == {"type": "x", "text": text}
    await asyncio.gather(runner.aclose(), host.aclose())


async def test_each_session_takes_a_runner_of_its_own(listener: Listener) -> None:
    pairs = [await both_ends(listener) for _ in range(3)]
    for number, (runner, _) in enumerate(pairs):
        await runner.send({"type": "x", "number": number})
    assert [await host.receive() for _, host in pairs] == [{"type": "x", "number": n} for n in range(3)]
    for ends in pairs:
        await asyncio.gather(*(end.aclose() for end in ends))


async def test_a_runner_that_waited_and_left_is_passed_over(listener: Listener) -> None:
    gone, runner, host = (
        over(dialed(listener.address)),
        over(dialed(listener.address)),
        over(listener.next(DEADLINE)),
    )
    await gone.open()
    await gone.aclose()
    await runner.open()
    await runner.send({"type": "hello"})
    await asyncio.sleep(0.05)  # lets the server see both the end of the first and the frame of the second
    await host.open()
    assert await asyncio.wait_for(host.receive(), DEADLINE) == {"type": "hello"}
    await asyncio.gather(runner.aclose(), host.aclose())


TOKEN = Token("open sesame", "the cave")
HELLO = LengthPrefixed().encode({"type": "hello", "token": TOKEN.value, "name": "ali"})


@pytest.fixture
async def guarded() -> AsyncIterator[Listener]:
    listener = Listener(LOCAL, TOKEN)
    await listener.start()
    yield listener
    await listener.aclose()


async def dial(listener: Listener, data: bytes) -> SocketStream:
    stream = dialed(listener.address)
    await stream.open()
    await stream.write(data)
    return stream


@pytest.mark.parametrize("step", [1, 7, 1000])
async def test_a_runner_with_the_token_is_let_in_and_nothing_of_it_is_lost(
    guarded: Listener, step: int
) -> None:
    host = over(guarded.next(DEADLINE))
    data = HELLO + LengthPrefixed().encode({"type": "state", "status": "idle"})
    stream = await dial(guarded, data[:step])
    for place in range(step, len(data), step):
        await stream.write(data[place : place + step])
    await host.open()
    assert [(await host.receive() or {})["type"] for _ in range(2)] == ["hello", "state"]
    await stream.aclose()
    assert await host.receive() is None
    await host.aclose()


STRANGERS = {
    "no token": LengthPrefixed().encode({"type": "hello"}),
    "another token": LengthPrefixed().encode({"type": "hello", "token": "open barley"}),
    "a token that is no text": LengthPrefixed().encode({"type": "hello", "token": [TOKEN.value]}),
    "half a token": LengthPrefixed().encode({"type": "hello", "token": TOKEN.value[:-1]}),
    "an odd token": LengthPrefixed().encode({"type": "hello", "token": "\ud800"}),
    "no hello": LengthPrefixed().encode({"type": "state", "token": TOKEN.value}),
    "a huge frame": b"\xff\xff\xff\xff" + HELLO,
    "no JSON": b"\0\0\0\3{]}",
    "HTTP": b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "nothing": b"",
}


@pytest.mark.parametrize("name", STRANGERS)
async def test_a_stranger_takes_no_session(
    guarded: Listener, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(greeting, "GREETING_SECONDS", 0.2)
    host = over(guarded.next(DEADLINE))
    stranger = await dial(guarded, STRANGERS[name])
    assert await asyncio.wait_for(stranger.read(), DEADLINE) == b""
    known = await dial(guarded, HELLO)
    await asyncio.wait_for(host.open(), DEADLINE)
    assert (await host.receive() or {})["name"] == "ali"
    for end in (stranger, known, host):
        await end.aclose()


async def test_it_is_told_that_strangers_came(guarded: Listener) -> None:
    stranger = await dial(guarded, STRANGERS["no token"])
    assert await stranger.read() == b""
    with pytest.raises(UserError, match=r"within 0\.05 s, and 1 came without the token in the cave: start"):
        await over(guarded.next(0.05)).open()
    await stranger.aclose()


async def test_a_crowd_of_strangers_keeps_nobody_out(
    guarded: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(greeting, "GREETING_SECONDS", 0.3)
    crowd = [await dial(guarded, b"") for _ in range(200)]
    host = over(guarded.next(DEADLINE))
    opening = asyncio.create_task(host.open())
    while not opening.done():
        crowd.append(await dial(guarded, HELLO))
        await asyncio.wait({opening}, timeout=0.05)
    assert (await host.receive() or {})["name"] == "ali"
    await asyncio.gather(host.aclose(), *(dialed_in.aclose() for dialed_in in crowd))


async def test_closing_sends_those_away_who_have_not_greeted(guarded: Listener) -> None:
    stranger = await dial(guarded, HELLO[:9])
    await asyncio.sleep(0)
    await guarded.aclose()
    assert await asyncio.wait_for(stranger.read(), DEADLINE) == b""
    await stranger.aclose()


async def test_no_runner_dials_in(listener: Listener) -> None:
    with pytest.raises(UserError, match=r"no runner dialed in at .* within 0\.05 s"):
        await over(listener.next(0.05)).open()


async def test_a_peer_that_ends_inside_a_frame(listener: Listener) -> None:
    stream = dialed(listener.address)
    host = over(listener.next(DEADLINE))
    await asyncio.gather(stream.open(), host.open())
    await stream.write(LengthPrefixed().encode({"type": "hello"})[:-1])
    await stream.aclose()
    with pytest.raises(FrameError, match="inside a frame"):
        await asyncio.wait_for(host.receive(), DEADLINE)
    await host.aclose()


async def test_a_peer_that_resets_the_connection_is_an_end() -> None:
    listener = Listener(LOCAL)
    await listener.start()
    peer = socket.create_connection((listener.address.host, listener.address.port))
    host = over(listener.next(DEADLINE))
    await host.open()
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
    peer.close()
    assert await asyncio.wait_for(host.receive(), DEADLINE) is None
    with pytest.raises(ChannelClosed):
        await asyncio.wait_for(send_on(host), DEADLINE)
    await host.aclose()
    await listener.aclose()


async def test_a_flood_is_held_up_at_its_source(listener: Listener) -> None:
    runner, host = await both_ends(listener)
    sent = await sent_until_stuck(runner)
    assert sent < 20_000_000
    got = 0
    while got < sent:
        frame = await asyncio.wait_for(host.receive(), DEADLINE)
        assert frame is not None
        got += len(frame["text"])
    await asyncio.gather(runner.aclose(), host.aclose())


async def test_a_peer_that_reads_nothing_holds_up_sending_and_can_be_closed(listener: Listener) -> None:
    runner, host = await both_ends(listener)
    assert await sent_until_stuck(host) < 20_000_000
    await asyncio.wait_for(host.aclose(), DEADLINE)
    await runner.aclose()


async def send_on(channel: FrameChannel) -> None:
    while True:
        await channel.send({"type": "x"})
        await asyncio.sleep(0.01)


async def sent_until_stuck(channel: FrameChannel) -> int:
    """Send until it waits; the characters that were sent whole."""
    sent = 0
    try:
        while True:
            await asyncio.wait_for(channel.send({"type": "x", "text": "x" * 100_000}), 0.3)
            sent += 100_000
    except TimeoutError:
        return sent


async def test_nobody_listens(tmp_path: Path) -> None:
    for address in (Address("127.0.0.1", 1), Address(path=tmp_path / "nobody.sock")):
        with pytest.raises(UserError, match=r"cannot connect to a runner at .*: start it there first"):
            await dialed(address).open()


async def test_a_taken_address_is_told_and_a_stale_socket_is_not_in_the_way(tmp_path: Path) -> None:
    path = tmp_path / "runner.sock"
    with socket.socket(socket.AF_UNIX) as killed:
        killed.bind(str(path))
    first, second = Listener(Address(path=path)), Listener(Address(path=path))
    await first.start()
    assert path.stat().st_mode & 0o777 == 0o600
    with pytest.raises(UserError, match="another process listens there"):
        await second.start()
    await first.aclose()
    assert not path.exists()
    taken = Listener(LOCAL)
    await taken.start()
    with pytest.raises(UserError, match="cannot listen at"):
        await Listener(taken.address).start()
    await taken.aclose()


async def test_a_file_is_never_taken_for_a_stale_socket(tmp_path: Path) -> None:
    file = tmp_path / "precious"
    file.write_text("kept")
    with pytest.raises(UserError, match="cannot listen at"):
        await Listener(Address(path=file)).start()
    assert file.read_text() == "kept"


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("127.0.0.1:80", Address("127.0.0.1", 80)),
        ("localhost:0", Address("localhost", 0)),
        ("[::1]:9", Address("::1", 9)),
        ("unix:r.sock", Address(path=Path("r.sock"))),
        ("./r.sock", Address(path=Path("r.sock"))),
    ],
)
def test_addresses(text: str, address: Any) -> None:
    assert parse_address(text) == address


@pytest.mark.parametrize(
    "text", ["", "80", "localhost", "localhost:", ":80", "localhost:x", "localhost:65536"]
)
def test_what_is_no_address(text: str) -> None:
    with pytest.raises(AddressError, match="HOST:PORT"):
        parse_address(text)


@pytest.mark.parametrize("text", ["0.0.0.0:80", "192.168.1.2:80", "[::]:80", "example.org:80"])
def test_only_this_machine_unless_allowed(text: str) -> None:
    with pytest.raises(AddressError, match=r"runner\.remote"):
        parse_address(text)
    assert not parse_address(text, remote=True).is_local
