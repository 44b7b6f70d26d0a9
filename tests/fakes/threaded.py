"""A `RawServer` on a loop of its own, for code that brings its own loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from fakes.raw_server import DEADLINE, RawServer


@contextmanager
def in_thread(server: RawServer) -> Iterator[RawServer]:
    """Serve until the block ends."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="raw server")
    thread.start()

    def run(work: object) -> None:
        asyncio.run_coroutine_threadsafe(work, loop).result(DEADLINE)  # type: ignore[arg-type]

    try:
        run(server.__aenter__())
        yield server
        run(server.__aexit__())
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(DEADLINE)
        loop.close()
