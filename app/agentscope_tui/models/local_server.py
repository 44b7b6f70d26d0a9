"""llama.cpp's server as a child process: started by the first call, shared, gone with the last session."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

from agentscope_tui.models.chat import ModelError
from agentscope_tui.secrets import opens_something

_CHILD = Path(__file__).with_name("local_child.py")
_TO_LOAD = 300.0
_TO_END = 5.0
_SLOTS = 2
"""Sessions that it answers at the same time; more wait."""


@dataclass(frozen=True)
class LocalOptions:
    """What runs: `weights` is a GGUF file, `context` the tokens of a session, `python` has xllamacpp."""

    weights: Path
    context: int = 8192
    threads: int | None = None
    python: str = sys.executable


@dataclass(frozen=True)
class Running:
    """Where the server listens, and the key that only this process knows."""

    base_url: str
    key: str


class LocalServer:
    """One server; `shared_server` gives the one for some options."""

    def __init__(self, options: LocalOptions) -> None:
        self._options = options
        self._users = 0
        self._process: asyncio.subprocess.Process | None = None
        self._start: asyncio.Task[Running] | None = None

    async def running(self) -> Running:
        """The server, started if it does not run. A caller that is cancelled does not stop the start.

        Raises:
            ModelError: it did not come up; says why.
        """
        ended = self._process is not None and self._process.returncode is not None
        if self._start is None or ended or (self._start.done() and self._start.exception() is not None):
            self._start = asyncio.create_task(self._launch(), name="local model server")
            # Told to whoever waits; where all were cancelled, nobody has to know.
            self._start.add_done_callback(lambda task: task.cancelled() or task.exception())
        return await asyncio.shield(self._start)

    def acquire(self) -> None:
        """One more model uses it."""
        self._users += 1

    async def release(self) -> None:
        """One model less; the last one ends the process."""
        self._users -= 1
        if self._users > 0:
            return
        _servers.pop(self._options, None)
        if self._start is not None:
            self._start.cancel()
            await asyncio.wait([self._start])
        if self._process is not None:
            await _end(self._process)

    async def _launch(self) -> Running:
        key = secrets.token_hex(16)
        options = {
            "weights": str(self._options.weights),
            "context": self._options.context,
            "slots": _SLOTS,
            "threads": self._options.threads,
            "key": key,
        }
        with TemporaryFile() as log:
            answer = await self._ask(options, log)
            if "address" not in answer:
                said = str(answer.get("error") or _last_line(log) or "it says nothing")
                raise ModelError(
                    f"the local model {self._options.weights.name} did not start ({said}): "
                    "check model.local, and `agentscope models --check`",
                    kind="server",
                    detail=_tail(log),
                )
        return Running(answer["address"], key)

    async def _ask(self, options: dict[str, Any], log: IO[bytes]) -> dict[str, Any]:
        process = await asyncio.create_subprocess_exec(
            self._options.python,
            "-I",
            str(_CHILD),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=log,
            # It runs as the user, so a tool without a sandbox can read what it gets.
            env={name: value for name, value in os.environ.items() if not opens_something(name)},
            start_new_session=True,
        )
        self._process = process
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(options).encode() + b"\n")
        try:
            async with asyncio.timeout(_TO_LOAD):
                line = await process.stdout.readline()
        except TimeoutError:
            await _end(process)
            return {"error": f"not ready within {_TO_LOAD:g} s"}
        answer = json.loads(line or b"{}")
        assert isinstance(answer, dict)
        return answer


_servers: dict[LocalOptions, LocalServer] = {}


def shared_server(options: LocalOptions) -> LocalServer:
    """The one server of this process for these options."""
    return _servers.setdefault(options, LocalServer(options))


async def _end(process: asyncio.subprocess.Process) -> None:
    """The child ends when its input is closed, which the end of this process does too."""
    if process.stdin is not None:
        process.stdin.close()
    try:
        async with asyncio.timeout(_TO_END):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()


def _tail(log: IO[bytes]) -> str:
    log.seek(0)
    return log.read().decode("utf-8", "replace")[-4000:]


def _last_line(log: IO[bytes]) -> str:
    lines = _tail(log).strip().splitlines()
    return lines[-1].strip() if lines else ""
