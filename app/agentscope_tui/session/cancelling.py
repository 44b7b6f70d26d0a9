"""Cancellation that holds, whatever the cancelled code makes of it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

T = TypeVar("T")


async def cancellable(work: Awaitable[T]) -> T:
    """Await code of others: once this task was cancelled, a late result or error of `work` counts no more."""
    try:
        return await work
    finally:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise asyncio.CancelledError
