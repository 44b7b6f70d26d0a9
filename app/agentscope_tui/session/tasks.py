"""The background tasks of one session: none is lost, none fails unseen."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any

from agentscope_tui.waiting import ended

log = logging.getLogger(__name__)


class Tasks:
    """Tasks that run beside the requests; `on_failure` is told in one line when one fails."""

    def __init__(self, on_failure: Callable[[str], None]) -> None:
        self._on_failure = on_failure
        self._tasks: set[asyncio.Task[None]] = set()

    def spawn(self, work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    async def cancel(self) -> None:
        """Cancel all and return when they have ended."""
        tasks = tuple(self._tasks)
        for task in tasks:
            task.cancel()
        for task in tasks:
            await ended(task)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("the task `%s` failed", task.get_name(), exc_info=error)
            self._on_failure(f"agentscope failed: {type(error).__name__}: {error}")


def nothing_to_do(*args: object) -> asyncio.Future[None]:
    """What stands for work that need not be done: it is done."""
    done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    done.set_result(None)
    return done


async def nothing(*args: object) -> None:
    """Stands for what need not be done."""
