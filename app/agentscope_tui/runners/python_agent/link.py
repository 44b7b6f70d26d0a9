"""Frames over two file descriptors: requests with futures for their answers, from any thread.

One thread reads; it never runs the user's code, so a ping and an interrupt are handled while that is busy.
"""

from __future__ import annotations

import base64
import json
import os
import threading
from collections.abc import Callable
from concurrent.futures import Future
from itertools import count
from typing import Any

Frame = dict[str, Any]


class Interrupted(BaseException):
    """The user stopped the turn. No `Exception`, so that an agent that catches all of those still stops."""


class Link:
    """The runner's end of the channel."""

    def __init__(self, frames_in: int, frames_out: int) -> None:
        self._in = frames_in
        self._out = frames_out
        self._lock = threading.Lock()
        self._numbers = count(1)
        self._guard = threading.Lock()
        self._waiting: dict[str, Future[Frame]] = {}
        self._stopped = False
        self.writer: int | None = None
        """The thread that is writing a frame: it must not be broken off."""
        self.usable = True
        """False in a child that was forked: frames are the parent's."""
        os.register_at_fork(after_in_child=self._forked)

    def send(self, type: str, **fields: Any) -> None:
        """Write one frame.

        Raises:
            TypeError, ValueError: a field is no JSON.
        """
        body = json.dumps({"type": type, **fields}, allow_nan=False)
        data = memoryview(base64.b64encode(body.encode()) + b"\n")
        with self._lock:
            self.writer = threading.get_ident()
            try:
                while data:
                    data = data[os.write(self._out, data) :]
            except BrokenPipeError:
                # Without a host there is nobody to work for.
                os._exit(0)
            finally:
                self.writer = None

    def ask(self, type: str, **fields: Any) -> Future[Frame]:
        """Send a request; the future gives the frame that answers it, or is `Interrupted`.

        Raises:
            Interrupted: the turn is being stopped.
            TypeError, ValueError: a field is no JSON.
        """
        if not self.usable:
            raise RuntimeError("ctx works only in the process that agentscope started, not in a forked one")
        req_id = f"r{next(self._numbers)}"
        answer: Future[Frame] = Future()
        with self._guard:
            if self._stopped:
                raise Interrupted("interrupted by the user")
            self._waiting[req_id] = answer
        try:
            self.send(type, req_id=req_id, **fields)
        except (TypeError, ValueError):
            self._waiting.pop(req_id, None)
            raise
        answer.add_done_callback(lambda future: self._gave_up(type, req_id) if future.cancelled() else None)
        return answer

    def interrupt(self) -> None:
        """Nobody may wait for an answer until `resume`; those that come are for nobody."""
        with self._guard:
            self._stopped = True
            waiting, self._waiting = self._waiting, {}
        for answer in waiting.values():
            if answer.set_running_or_notify_cancel():
                answer.set_exception(Interrupted("interrupted by the user"))

    def resume(self) -> None:
        """A new turn begins."""
        self._stopped = False

    def read(self, on_frame: Callable[[Frame], None]) -> None:
        """Take frames until there are no more; answers go to their futures, all else to `on_frame`."""
        with os.fdopen(self._in, "rb") as lines:
            for line in lines:
                frame = json.loads(base64.b64decode(line))
                if frame["type"] in ("llm_response", "tool_response"):
                    answer = self._waiting.pop(frame["req_id"], None)
                    if answer is not None and answer.set_running_or_notify_cancel():
                        answer.set_result(frame)
                else:
                    on_frame(frame)

    def _gave_up(self, type: str, req_id: str) -> None:
        """The agent waits no more, for example after a timeout of its own: a model call need not go on."""
        if self._waiting.pop(req_id, None) is not None and type == "llm_request":
            self.send("llm_cancel", req_id=req_id)

    def _forked(self) -> None:
        self.usable = False
        self._lock, self._guard = threading.Lock(), threading.Lock()
        os.close(self._out)
