"""Small pieces of work on files, of many sessions at once, done together in a thread.

To wake a thread costs more than to write a few lines: while the thread is at one round, the pieces of the
next gather.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from weakref import WeakKeyDictionary

Work = Callable[[], object]

_rounds: WeakKeyDictionary[asyncio.AbstractEventLoop, _Rounds] = WeakKeyDictionary()


async def together(work: Work) -> None:
    """Do this in a thread, with what else is to be done there; returns when it is done.

    Raises:
        Exception: what `work` raised.
    """
    loop = asyncio.get_running_loop()
    if loop not in _rounds:
        _rounds[loop] = _Rounds()
    await _rounds[loop].add(work)


class _Rounds:
    """The work of one event loop, round after round."""

    def __init__(self) -> None:
        self._waiting: list[tuple[Work, asyncio.Future[None]]] = []
        self._working: asyncio.Task[None] | None = None

    def add(self, work: Work) -> asyncio.Future[None]:
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((work, done))
        if self._working is None or self._working.done():
            self._working = asyncio.create_task(self._work(), name="work on files")
        return done

    async def _work(self) -> None:
        while self._waiting:
            now, self._waiting = self._waiting, []
            for (_, done), error in zip(now, await asyncio.to_thread(_do, now), strict=True):
                if done.cancelled():
                    continue
                if error is None:
                    done.set_result(None)
                else:
                    done.set_exception(error)


def _do(pieces: list[tuple[Work, asyncio.Future[None]]]) -> list[Exception | None]:
    """What each of them raised."""
    raised: list[Exception | None] = []
    for work, _ in pieces:
        try:
            work()
        except Exception as error:
            raised.append(error)
        else:
            raised.append(None)
    return raised
