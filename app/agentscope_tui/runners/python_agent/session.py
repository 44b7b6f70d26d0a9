"""A session of a user's agent: turns one after the other in the main thread, frames in a thread beside it.

The main thread is the user's alone, as if they had started their program: an interrupt cancels the task of an
async agent, and breaks into a sync one (or one that blocks the loop) by a signal.
"""

from __future__ import annotations

import asyncio
import inspect
import os
import platform
import queue
import signal
import sys
import threading
import time
from collections.abc import Coroutine
from types import FrameType
from typing import Any

from .context import AsyncContext, Context, SyncContext
from .conversation import Conversation
from .link import Frame, Interrupted, Link
from .load import Agent, load_agent, one_line, stack_of, traceback_of
from .replies import AgentError, ModelCallError


class _TooLong(BaseException):
    """The import of the user's module took too long; `where` tells what it was doing."""

    def __init__(self, message: str, where: str) -> None:
        super().__init__(message)
        self.where = where


class Turn:
    """One turn, from the user's message to the idle."""

    def __init__(self, frame: Frame) -> None:
        self.msg_id: str = frame["msg_id"]
        self.text: str = frame["text"]
        self.task: asyncio.Task[Any] | None = None
        self.loading_until: float | None = None
        self.breakable = False
        """Whether a signal may still raise in the main thread."""
        self.stop: BaseException | None = None
        """Why the turn has to stop, if it has."""


class AgentSession:
    """Serves one session over a link."""

    def __init__(self, link: Link, agent: str, start_timeout: float, stop_timeout: float) -> None:
        """How many seconds the import of the agent's module may take, and how many an agent has to stop
        before its process ends."""
        self._link = link
        self._name = agent
        self._start_timeout = start_timeout
        self._stop_timeout = stop_timeout
        self._start: Frame = {}
        self._agent: Agent | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._conversation = Conversation()
        self._turns: queue.SimpleQueue[Turn | None] = queue.SimpleQueue()
        self._turn: Turn | None = None
        self._lock = threading.Lock()
        self._count = 0
        self._msg_id: str | None = None

    def serve(self) -> None:
        """Run turns until the host shuts the session down."""
        signal.signal(signal.SIGUSR1, self._on_signal)
        version = platform.python_version()
        self._link.send("hello", name="python", mode="session", python=version, agent=self._name)
        threading.Thread(target=self._read, name="agentscope frames", daemon=True).start()
        while True:
            turn = self._turns.get()
            if turn is None:
                break
            with self._lock:
                self._turn, self._msg_id = turn, turn.msg_id
                if turn.stop is None:
                    self._link.resume()
            fields = self._perform(turn)
            with self._lock:
                self._turn = None
                self._conversation.end_turn(fields.get("answer"))
                self._state("idle", **fields)
        if self._loop is not None:
            self._loop.run_until_complete(_end_tasks())
            self._loop.close()

    # The thread of the frames

    def _read(self) -> None:
        self._link.read(self._on_frame)
        self._turns.put(None)

    def _on_frame(self, frame: Frame) -> None:
        kind = frame["type"]
        if kind == "session_start":
            self._start = frame
            self._state("idle")
        elif kind == "user_message":
            self._on_message(frame)
        elif kind == "abort":
            if where := _where():
                self._link.send("note", text=f"The agent was in:\n{where}")
            self._stop(Interrupted("interrupted by the user"))
        elif kind == "ping":
            self._link.send("pong", nonce=frame["nonce"])
        elif kind == "shutdown":
            self._turns.put(None)

    def _on_message(self, frame: Frame) -> None:
        """Begin a turn, now or when the one that runs is over. What the user says while it runs does not come
        here: the host puts it into the agent's requests."""
        turn = Turn(frame)
        with self._lock:
            self._turn = self._turn or turn
            self._turns.put(turn)

    def _stop(self, why: BaseException) -> None:
        with self._lock:
            turn = self._turn
            if turn is None or turn.stop is not None:
                return
            turn.stop = why
        self._link.interrupt()
        if turn.task is not None and self._loop is not None:
            self._loop.call_soon_threadsafe(turn.task.cancel)
        threading.Thread(target=self._insist, args=(turn,), name="agentscope stops", daemon=True).start()

    def _insist(self, turn: Turn) -> None:
        """Break into what does not stop, and end the process if that does not help either."""
        deadline = time.monotonic() + self._stop_timeout
        # An async agent may end by itself, now that its task is cancelled.
        pause = 0.0 if turn.task is None else self._stop_timeout / 5
        while time.monotonic() < deadline:
            time.sleep(pause)
            if self._turn is not turn:
                return
            signal.pthread_kill(_main_thread(), signal.SIGUSR1)
            pause = self._stop_timeout / 5
        print(f"The agent is still in:\n{_where()}", file=sys.stderr, flush=True)
        limit = f"{self._stop_timeout:g} s"
        note = f"the agent did not stop within {limit} ({turn.stop}): its process was ended"
        self._link.send("episode_error", note=note)
        os._exit(1)

    def _watch_import(self, turn: Turn) -> None:
        """Stop a turn whose module is still being imported after the start timeout."""
        while turn.loading_until is not None and turn.stop is None:
            left = turn.loading_until - time.monotonic()
            if left <= 0:
                module, limit = self._name.partition(":")[0], f"{self._start_timeout:g} s"
                message = f"importing {module} took longer than {limit} (setting runner.start_timeout)"
                self._stop(_TooLong(message, f"It was in:\n{_where()}"))
                return
            time.sleep(min(left, 0.1))

    # The main thread

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        turn = self._turn
        if turn is None or not turn.breakable or turn.stop is None or self._link.writer == _main_thread():
            return
        if turn.task is not None and (self._loop is None or asyncio.current_task(self._loop) is None):
            return  # The loop itself is at work, not the user's code: it will cancel the task.
        raise turn.stop

    def _perform(self, turn: Turn) -> dict[str, Any]:
        """Run one turn; the fields of the idle that ends it."""
        self._count += 1
        self._state("running")
        context: Context | None = None
        try:
            try:
                turn.breakable = True
                if turn.stop is not None:
                    raise turn.stop
                agent = self._load(turn)
                context = (AsyncContext if agent.is_async else SyncContext)(
                    self._link, self._conversation, self._start, self._begin(turn)
                )
                result = self._call(turn, agent, context)
                fields = context.finish(result)
            finally:
                turn.breakable = False
                if context is not None:
                    context.over = True
        except BaseException as error:
            turn.breakable = False
            fields = self._failure(turn, error)
        if isinstance(turn.stop, Interrupted):
            return {"reason": "aborted"}
        return fields

    def _begin(self, turn: Turn) -> list[Frame]:
        if self._start.get("conversation_scope") == "turn":
            self._conversation.forget()
        system = self._start.get("system")
        start = [{"role": "system", "content": system}] if system else []
        return self._conversation.begin_turn(start, turn.text)

    def _load(self, turn: Turn) -> Agent:
        if self._agent is None:
            turn.loading_until = time.monotonic() + self._start_timeout
            threading.Thread(target=self._watch_import, args=(turn,), daemon=True).start()
            try:
                self._agent = load_agent(self._name)
            finally:
                turn.loading_until = None
        return self._agent

    def _call(self, turn: Turn, agent: Agent, context: Context) -> Any:
        result = agent.call(context)
        if not inspect.isawaitable(result):
            return result
        if not agent.is_async or not inspect.iscoroutine(result):
            raise AgentError(f"{self._name} returned a coroutine: declare it `async def`")
        return self._run_async(turn, result)

    def _run_async(self, turn: Turn, coroutine: Coroutine[Any, Any, Any]) -> Any:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            asyncio.set_event_loop(self._loop)
        with self._lock:
            turn.task = self._loop.create_task(coroutine)
            if turn.stop is not None:
                turn.task.cancel()
        return self._loop.run_until_complete(turn.task)

    def _failure(self, turn: Turn, error: BaseException) -> dict[str, Any]:
        if isinstance(turn.stop, _TooLong):
            return {"reason": "error", "error": str(turn.stop), "detail": turn.stop.where}
        if isinstance(error, (ModelCallError, AgentError)):
            return {"reason": "error", "error": str(error)}
        if isinstance(error, SystemExit):
            message = f"the agent called sys.exit({error.code if error.code is not None else ''})"
            return {"reason": "error", "error": message, "detail": traceback_of(error)}
        return {"reason": "error", "error": one_line(error), "detail": traceback_of(error)}

    def _state(self, status: str, **fields: Any) -> None:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        said = {} if self._msg_id is None else {"msg_id": self._msg_id}
        self._link.send("state", status=status, turns=self._count, **said, **fields)


def _main_thread() -> int:
    return threading.main_thread().ident or 0


def _where() -> str:
    """Where the user's code is in the main thread."""
    return stack_of(sys._current_frames().get(_main_thread()))


async def _end_tasks() -> None:
    """Cancel what the user's code left running in the loop."""
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await asyncio.get_running_loop().shutdown_asyncgens()
