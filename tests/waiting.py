"""Waiting for something to become true, with a deadline instead of a guess."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable


async def wait_until(predicate: Callable[[], object], what: str = "", *, seconds: float = 10) -> None:
    """Return as soon as `predicate()` is true.

    Raises:
        AssertionError: it was not within `seconds`; says `what` was waited for.
    """
    deadline = time.monotonic() + seconds
    while not predicate():
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds} s: {what or 'the condition'}")
        await asyncio.sleep(0.005)
