"""Waiting for one thing, for so long and no longer; for thousands of sessions that wait."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any


async def set_within(event: asyncio.Event, timeout: float | None) -> bool:
    """Whether it is set before `timeout` seconds are over; returns as soon as it is."""
    # `asyncio.wait_for` would make a task of it.
    if timeout is None or event.is_set():
        return await event.wait()
    with suppress(TimeoutError):
        async with asyncio.timeout(timeout):
            await event.wait()
    return event.is_set()


async def ended(task: asyncio.Task[Any], timeout: float | None = None) -> None:
    """Return when it has ended, however it did, or after `timeout` seconds.

    Cancelling this leaves it alone.
    """
    if task.done():
        return
    # As `asyncio.wait`, which takes several times as long for a single one.
    waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def tell(task: asyncio.Task[Any]) -> None:
        if not waiting.done():
            waiting.set_result(None)

    task.add_done_callback(tell)
    try:
        if timeout is None:
            await waiting
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout):
                await waiting
    finally:
        task.remove_done_callback(tell)
