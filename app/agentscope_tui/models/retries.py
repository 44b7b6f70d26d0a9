"""Sending a failed call again: how often, and after how long. Every wait is told and can be cancelled."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from agentscope_tui.models.chat import ModelError, RetryNotice

_FIRST = 0.5
_LONGEST = 8.0
_LONGEST_ASKED = 60.0
"""Seconds: the first wait of ours, which doubles up to the longest; and the longest a provider may ask."""
_WITHOUT_SERVER = 2
"""Retries where no server answered: a mistyped URL should be told soon."""


@dataclass(frozen=True)
class RetryPolicy:
    """At most `most` retries. `jitter` gives a number from 0 to 1, `sleep` waits for seconds."""

    most: int = 5
    jitter: Callable[[], float] = random.random
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep

    def wait(self, error: ModelError, retry: int) -> float | None:
        """Seconds to wait before retry number `retry` (from 1); None: the error is final."""
        if not error.retryable or retry > self._most(error):
            return None
        if error.retry_after is not None:
            # Never sooner than asked; a little later, so that not all callers come at once.
            asked = error.retry_after * (1 + 0.1 * self.jitter())
            return asked if error.retry_after <= _LONGEST_ASKED else None
        return min(_FIRST * 2.0 ** (retry - 1), _LONGEST) * (1 - 0.25 * self.jitter())

    async def pause(
        self, error: ModelError, retry: int, on_retry: Callable[[RetryNotice], None] | None
    ) -> None:
        """Tell of retry number `retry` and wait for it.

        Raises:
            ModelError: `error` itself, if it is final.
        """
        seconds = self.wait(error, retry)
        if seconds is None:
            raise error
        if on_retry is not None:
            on_retry(RetryNotice(retry + 1, self._most(error) + 1, seconds, str(error)))
        await self.sleep(seconds)

    def _most(self, error: ModelError) -> int:
        unanswered = error.kind == "connection" or (error.kind == "timeout" and error.retry_after is None)
        return min(self.most, _WITHOUT_SERVER) if unanswered else self.most


DEFAULT_POLICY = RetryPolicy()
