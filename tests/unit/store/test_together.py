"""Pieces of work on files are done together, in order, and each has its own end."""

from __future__ import annotations

import asyncio
import threading

import pytest

from agentscope_tui.store.together import in_the_loop, off_the_loop, together


async def test_what_comes_while_a_round_is_on_is_done_in_the_next_one() -> None:
    began, go_on, threads, order = threading.Event(), threading.Event(), set[int](), list[int]()

    def wait() -> None:
        began.set()
        assert go_on.wait(10)

    def note(number: int) -> None:
        threads.add(threading.get_ident())
        order.append(number)

    first = asyncio.create_task(together(wait))
    await asyncio.to_thread(began.wait, 10)
    others = [asyncio.create_task(together(lambda number=number: note(number))) for number in range(100)]
    await asyncio.sleep(0)
    go_on.set()
    await asyncio.wait_for(asyncio.gather(first, *others), 10)
    assert order == [*range(100)]
    assert len(threads) == 1
    assert threading.get_ident() not in threads


async def test_each_gets_its_own_error() -> None:
    def fail() -> None:
        raise OSError("no room")

    results = await asyncio.gather(
        together(lambda: None), together(fail), together(lambda: None), return_exceptions=True
    )
    assert [type(result) for result in results] == [type(None), OSError, type(None)]


async def test_one_that_is_not_waited_for_any_more_holds_up_nobody() -> None:
    go_on = threading.Event()
    first = asyncio.create_task(together(lambda: go_on.wait(10)))
    left, stays = asyncio.create_task(together(lambda: None)), asyncio.create_task(together(lambda: None))
    await asyncio.sleep(0)
    left.cancel()
    go_on.set()
    await asyncio.wait_for(asyncio.gather(first, stays), 10)
    with pytest.raises(asyncio.CancelledError):
        await left
    await asyncio.wait_for(together(lambda: None), 10)


async def test_where_nobody_looks_small_pieces_are_done_in_the_loop() -> None:
    here = threading.get_ident()

    async def ran_here() -> list[bool]:
        threads: list[int] = []
        await together(lambda: threads.append(threading.get_ident()))
        for small in (True, False):
            threads.append(await off_the_loop(threading.get_ident, small=small))
        return [thread == here for thread in threads]

    with in_the_loop():
        assert await ran_here() == [True, True, False]
    assert await ran_here() == [False, False, False]
