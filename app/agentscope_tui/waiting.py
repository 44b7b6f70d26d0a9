"""Waiting for an event, for so long and no longer."""

from __future__ import annotations

import asyncio
from contextlib import suppress


async def set_within(event: asyncio.Event, timeout: float | None) -> bool:
    """Whether it is set before `timeout` seconds are over; returns as soon as it is."""
    # `asyncio.wait_for` would make a task of it, for each of thousands of sessions.
    with suppress(TimeoutError):
        async with asyncio.timeout(timeout):
            await event.wait()
    return event.is_set()
