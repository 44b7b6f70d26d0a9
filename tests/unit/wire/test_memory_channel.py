"""The channel in memory: frames in order, bounded, and an end that both sides see."""

from __future__ import annotations

import asyncio

import pytest

from agentscope_tui.wire.channel import ChannelClosed, memory_channel


async def test_frames_arrive_in_order_in_both_directions() -> None:
    host, runner = memory_channel()
    for number in range(3):
        await host.send({"host": number})
        await runner.send({"runner": number})
    assert [await runner.receive() for _ in range(3)] == [{"host": 0}, {"host": 1}, {"host": 2}]
    assert [await host.receive() for _ in range(3)] == [{"runner": 0}, {"runner": 1}, {"runner": 2}]


async def test_a_full_channel_makes_the_sender_wait() -> None:
    host, runner = memory_channel(size=2)
    await host.send({"n": 1})
    await host.send({"n": 2})
    third = asyncio.create_task(host.send({"n": 3}))
    for _ in range(10):
        await asyncio.sleep(0)
    assert not third.done()
    assert await runner.receive() == {"n": 1}
    await asyncio.wait_for(third, 10)
    assert [await runner.receive(), await runner.receive()] == [{"n": 2}, {"n": 3}]


async def test_what_was_sent_before_the_end_is_read_then_none() -> None:
    host, runner = memory_channel()
    await host.send({"n": 1})
    await host.aclose()
    assert await runner.receive() == {"n": 1}
    assert await runner.receive() is None
    assert await runner.receive() is None


@pytest.mark.parametrize("closer", ["host", "runner"])
async def test_nothing_can_be_sent_once_either_end_is_closed(closer: str) -> None:
    host, runner = memory_channel()
    await (host if closer == "host" else runner).aclose()
    for end in (host, runner):
        with pytest.raises(ChannelClosed):
            await end.send({})
        assert await end.receive() is None


async def test_the_end_wakes_whoever_waits() -> None:
    host, runner = memory_channel(size=1)
    await host.send({"n": 1})
    sending = asyncio.create_task(host.send({"n": 2}))
    receiving = asyncio.create_task(host.receive())
    await asyncio.sleep(0)
    await runner.aclose()
    with pytest.raises(ChannelClosed):
        await asyncio.wait_for(sending, 10)
    assert await asyncio.wait_for(receiving, 10) is None


async def test_a_cancelled_receive_loses_no_frame() -> None:
    host, runner = memory_channel()
    receiving = asyncio.create_task(runner.receive())
    await asyncio.sleep(0)
    receiving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await receiving
    await host.send({"n": 1})
    assert await runner.receive() == {"n": 1}
