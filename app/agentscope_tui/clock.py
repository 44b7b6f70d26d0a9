"""Time and ids, given to the engine rather than taken by it, so that tests can fix them."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime


def _now() -> datetime:
    return datetime.now(UTC)


def _new_id() -> str:
    return uuid.uuid4().hex[:12]


@dataclass(frozen=True)
class Clock:
    """`now` is the wall clock (UTC), `monotonic` seconds that only grow, `new_id` a fresh id."""

    now: Callable[[], datetime] = _now
    monotonic: Callable[[], float] = time.monotonic
    new_id: Callable[[], str] = _new_id
