"""The connection to a running supervisor: starts it, sends it commands, hears how they ended."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO

from agentscope_tui.errors import UserError
from agentscope_tui.tools.limits import NO_LIMITS, WATCHED, CommandLimits, LimitName
from agentscope_tui.tools.pipes import OutputPipe
from agentscope_tui.tools.sandbox import Sandbox
from agentscope_tui.tools.supervisor import EXIT, GONE, KILL, OVER, READY, RECORD, SPAWN

_START_SECONDS = 20.0
_END_SECONDS = 2.0
"""Much longer than starting and ending take; past it, the host goes on without."""
_RETRY_SECONDS = 0.01


class ProcessError(UserError):
    """A command could not be run, or what ran it died."""


class Call:
    """One command: its pipes, its exit value (code, or minus the signal), and whether its tree is gone."""

    def __init__(self, ident: int) -> None:
        self.ident = ident
        loop = asyncio.get_running_loop()
        self.exit: asyncio.Future[int] = loop.create_future()
        self.gone: asyncio.Future[None] = loop.create_future()
        self.pipes: list[OutputPipe] = []
        self.reached: list[LimitName] = []
        """The limits that it reached, in that order."""
        self._released = False

    def open_pipes(self) -> None:
        self.pipes.append(OutputPipe("stdout"))
        self.pipes.append(OutputPipe("stderr"))

    def on_exit(self, value: int) -> None:
        if not self.exit.done():
            self.exit.set_result(value)
            self.finish_pipes()

    def on_gone(self, value: int) -> None:
        self.on_exit(value)
        if not self.gone.done():
            self.gone.set_result(None)
        if self._released:
            self.close_pipes()

    def fail(self, error: ProcessError) -> None:
        """The supervisor is dead, and with it the command."""
        if not self.exit.done():
            self.exit.set_exception(error)
            self.exit.exception()  # a cancelled call never asks for it
        self.on_gone(-signal.SIGKILL)

    def finish_pipes(self) -> None:
        for pipe in self.pipes:
            pipe.finish()

    def release(self) -> None:
        """Nobody wants more output; background processes may still write some."""
        self._released = True
        if self.gone.done():
            self.close_pipes()
        for pipe in self.pipes:
            pipe.discard()

    def close_pipes(self) -> None:
        for pipe in self.pipes:
            pipe.close()


class SupervisorLink:
    """A running supervisor and the socket to it: starts it, then `wait_ready`; `aclose` in any case.

    Raises:
        ProcessError: there is no such program, here or later.
    """

    def __init__(self, sandbox: Sandbox, workdir: Path):
        self._loop = asyncio.get_running_loop()
        self._calls: dict[int, Call] = {}
        self._count = 0
        self._ready: asyncio.Future[None] = self._loop.create_future()
        self._ended = asyncio.Event()
        self._received = bytearray()
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 (closed by aclose)
        self._tmp = sandbox.private_tmp(workdir)
        self._socket, theirs = socket.socketpair()
        with theirs:
            argv = sandbox.wrap(sandbox.module("supervisor", str(theirs.fileno())), workdir)
            try:
                if self._tmp is not None:
                    self._tmp.mkdir(mode=0o700, exist_ok=True)
                self._process = _launch(argv, sandbox.environment(workdir), theirs.fileno(), self._log)
            except OSError as error:
                self._socket.close()
                self._log.close()
                raise ProcessError(f"cannot start {argv[0]}: {error.strerror or error}") from error
        self._socket.setblocking(False)
        self._loop.add_reader(self._socket, self._receive)

    @property
    def dead(self) -> bool:
        return self._ended.is_set()

    async def wait_ready(self) -> None:
        """Raises ProcessError if the supervisor does not start."""
        try:
            await asyncio.wait_for(asyncio.shield(self._ready), _START_SECONDS)
        except TimeoutError:
            raise ProcessError("the tool supervisor hangs at its start; try another `sandbox`") from None

    async def spawn(
        self,
        argv: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        limits: CommandLimits = NO_LIMITS,
        stdin: int | bytes | None = None,
    ) -> Call:
        """Have a command run, with `env` for all its variables.

        `stdin` is a descriptor for the command, which the caller closes here, or what there is to read from
        it; without, its stdin is empty.
        """
        request = {
            "argv": [*argv],
            "cwd": str(cwd),
            "env": {**env},
            "limits": limits.of_each_process,
            "watch": limits.watched,
        }
        self._count += 1
        call = Call(self._count)
        try:
            call.open_pipes()
            with ExitStack() as files:
                fd = files.enter_context(_memory_file(json.dumps(request).encode()))
                if isinstance(stdin, bytes):
                    stdin = files.enter_context(_memory_file(stdin))
                given = [] if stdin is None else [stdin]
                await self._send(SPAWN, call.ident, [fd, *(pipe.write_fd for pipe in call.pipes), *given])
        except BaseException as error:
            call.close_pipes()
            if isinstance(error, OSError):
                raise ProcessError(f"cannot run a command: {error.strerror}") from error
            raise
        finally:
            for pipe in call.pipes:
                pipe.close_write()
        self._calls[call.ident] = call
        return call

    async def end(self, call: Call) -> None:
        """End all that a command started; returns when it is gone, or after two seconds."""
        if not call.gone.done():
            # A supervisor that died just now is heard by `_receive`, which fails the call.
            with suppress(BrokenPipeError, ConnectionResetError):
                await self._send(KILL, call.ident)
        await asyncio.wait({call.gone}, timeout=_END_SECONDS)
        call.finish_pipes()

    async def aclose(self) -> None:
        """End every command and the supervisor; bounded."""
        with suppress(OSError):  # not connected: it is dead already
            self._socket.shutdown(socket.SHUT_WR)
        try:
            await asyncio.wait_for(self._ended.wait(), _END_SECONDS)
        except TimeoutError:
            self._process.kill()
        try:
            await asyncio.to_thread(self._process.wait, _END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
        self._end("the session's tools were closed")
        self._socket.close()
        self._log.close()
        if self._tmp is not None:
            await asyncio.to_thread(shutil.rmtree, self._tmp, ignore_errors=True)

    async def _send(self, kind: int, ident: int, fds: Sequence[int] = ()) -> None:
        record = RECORD.pack(kind, ident, 0)
        while True:
            try:
                socket.send_fds(self._socket, [record], fds)
                return
            except BlockingIOError:
                await asyncio.sleep(_RETRY_SECONDS)

    def _receive(self) -> None:
        try:
            data = self._socket.recv(4096)
        except BlockingIOError:
            return
        except ConnectionResetError:
            data = b""
        if not data:
            self._end(f"the tool supervisor died{self._last_words()}; run the command again")
        self._received += data
        while len(self._received) >= RECORD.size:
            kind, ident, value = RECORD.unpack(self._received[: RECORD.size])
            del self._received[: RECORD.size]
            if kind == READY:
                self._ready.set_result(None)
            elif kind == EXIT:
                self._calls[ident].on_exit(value)
            elif kind == OVER:
                self._calls[ident].reached.append(WATCHED[value])
            elif kind == GONE:
                self._calls.pop(ident).on_gone(value)

    def _end(self, reason: str) -> None:
        if self.dead:
            return
        self._loop.remove_reader(self._socket)
        self._ended.set()
        error = ProcessError(reason)
        if not self._ready.done():
            self._ready.set_exception(error)
            self._ready.exception()  # a cancelled start never asks for it
        for call in self._calls.values():
            call.fail(error)
        self._calls.clear()

    def _last_words(self) -> str:
        self._log.seek(0)
        lines = self._log.read().decode(errors="replace").strip().splitlines()
        return f" ({lines[-1]})" if lines else ""


def _launch(argv: list[str], environment: dict[str, str], fd: int, log: IO[bytes]) -> subprocess.Popen[bytes]:
    nothing = subprocess.DEVNULL
    return subprocess.Popen(
        argv,
        stdin=nothing,
        stdout=nothing,
        stderr=log,
        env=environment,
        pass_fds=(fd,),
        start_new_session=True,
    )


@contextmanager
def _memory_file(data: bytes) -> Iterator[int]:
    """The descriptor of a file with no name, so that nothing else can read it."""
    memory = sys.platform == "linux"
    with os.fdopen(os.memfd_create("request"), "wb") if memory else tempfile.TemporaryFile() as file:
        file.write(data)
        file.flush()
        file.seek(0)
        yield file.fileno()
