"""Work on files, kept off the event loop, where it would hold up a screen.

To wake a thread costs more than to write a few lines: small pieces of many sessions are done together; while
the thread is at one round, those of the next gather. Where nobody looks at a screen, and hundreds of sessions
keep the loop busy, small pieces are done in the loop: there a thread takes more time than it gives.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar, TypeVarTuple, Unpack
from weakref import WeakKeyDictionary

T = TypeVar("T")
Given = TypeVarTuple("Given")
Work = Callable[[], object]

_FEW = 16
_LITTLE = 64 * 1024
"""Files, and bytes, that are read or written in the time that a thread takes to wake."""

_threads = True


def stay_in_the_loop() -> None:
    """From now on do small pieces of work on files in this process's event loop."""
    global _threads
    _threads = False


@contextmanager
def in_the_loop() -> Iterator[None]:
    """The same for the time of a block."""
    global _threads
    before, _threads = _threads, False
    try:
        yield
    finally:
        _threads = before


async def off_the_loop(work: Callable[[Unpack[Given]], T], *given: *Given, small: bool) -> T:
    """Do this in a thread of its own; it may take long unless it is `small`.

    Raises:
        Exception: what `work` raised.
    """
    return work(*given) if small and not _threads else await asyncio.to_thread(work, *given)


def is_small(folder: Path) -> bool:
    """Whether a folder holds few files, small ones, and no other folder."""
    size = count = 0
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                count += 1
                size += entry.stat(follow_symlinks=False).st_size
                if count > _FEW or size > _LITTLE or entry.is_dir(follow_symlinks=False):
                    return False
    except OSError:
        return False
    return True


_rounds: WeakKeyDictionary[asyncio.AbstractEventLoop, _Rounds] = WeakKeyDictionary()


async def together(work: Work) -> None:
    """Do this in a thread, with what else is to be done there; returns when it is done.

    Raises:
        Exception: what `work` raised.
    """
    if not _threads:
        work()
        return
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
