"""Time and ids, given to the engine rather than taken by it, so that tests can fix them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime


def _now() -> datetime:
    return datetime.now(UTC)


def _new_id() -> str:
    return os.urandom(6).hex()


@dataclass(frozen=True)
class Clock:
    """`now` is the wall clock (UTC), `monotonic` seconds that only grow, `new_id` a fresh id."""

    now: Callable[[], datetime] = _now
    monotonic: Callable[[], float] = time.monotonic
    new_id: Callable[[], str] = _new_id
