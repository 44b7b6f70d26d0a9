"""A command that prints a key that soon expires: run without a shell, and again when the key is refused."""

from __future__ import annotations

import asyncio
import os
import shlex
import signal
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import cache

from agentscope_tui.command_line import command_words
from agentscope_tui.errors import UserError
from agentscope_tui.models.chat import ModelError
from agentscope_tui.models.endpoint import ApiKey, checked_key
from agentscope_tui.secrets import MASKER

_TO_PRINT = 60.0
"""Seconds that a command has: some ask the user in a browser."""
_TO_END = 1.0
"""Seconds that it has to be gone once it is killed."""

Ask = Callable[[str, str, ApiKey | None], Awaitable[ApiKey]]
"""Gets a key from elsewhere: for a command line, its setting's name, and the key that was refused. Raises
ModelError as `KeyCommand.key`."""

_ask: Ask | None = None


def ask_elsewhere(ask: Ask) -> None:
    """From now on get this process's keys so: of processes that belong together one runs the command."""
    global _ask
    _ask = ask


class KeyCommand:
    """One command and the key that it last printed."""

    def __init__(self, command: Sequence[str], source: str) -> None:
        """`source` is the setting's name, for errors."""
        self._command = list(command)
        self._source = source
        self._key: ApiKey | None = None
        self._refused: ApiKey | None = None
        self._failures = 0
        self._failed_last = ""
        self._runs = asyncio.Lock()

    async def key(self) -> ApiKey:
        """The key; runs the command when there is none. Sessions that ask at the same time wait for one run,
        also for one that fails.

        Raises:
            ModelError: it failed, printed no key, or took too long.
        """
        failures = self._failures
        async with self._runs:
            if self._key is None:
                if self._failures > failures:
                    raise ModelError(self._failed_last, kind="authentication")
                try:
                    self._key = await self._new_key()
                except ModelError as error:
                    self._failures += 1
                    self._failed_last = str(error)
                    raise
                MASKER.learn([self._key.value])
            return self._key

    def forget(self, key: ApiKey | None) -> None:
        """That key was refused: the next one is printed anew, unless another session has done so."""
        if self._key == key:
            self._key, self._refused = None, key

    async def _new_key(self) -> ApiKey:
        if _ask is not None:
            return await _ask(shlex.join(self._command), self._source, self._refused)
        return await self._run()

    async def _run(self) -> ApiKey:
        try:
            process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                # ctrl+c is not for it, and what it starts ends with it. It has no terminal to ask in.
                start_new_session=True,
            )
        except OSError as error:
            raise self._failed(f"cannot be run ({error.strerror})") from error
        try:
            async with asyncio.timeout(_TO_PRINT):
                printed, complaints = await process.communicate()
        except TimeoutError:
            raise self._failed(f"printed no key within {_TO_PRINT:g} s") from None
        finally:
            if process.returncode is None:
                await _end(process)
        if process.returncode:
            words = complaints.decode("utf-8", "replace").strip().splitlines()
            said = f": {words[-1]}" if words else ""
            raise self._failed(f"ended with exit code {process.returncode}{said}")
        try:
            key = checked_key(printed.decode("utf-8", "replace"), self._source)
        except UserError as error:
            raise ModelError(str(error), kind="authentication") from None
        if key is None:
            raise self._failed("printed nothing")
        return key

    def _failed(self, what: str) -> ModelError:
        program = os.path.basename(self._command[0])
        message = f"the command of {self._source}, {program}, {what}: run it in a terminal to see why"
        return ModelError(message, kind="authentication")


async def _end(process: asyncio.subprocess.Process) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    # What has left its session may hold the pipes open, and is not waited for.
    with suppress(TimeoutError):
        async with asyncio.timeout(_TO_END):
            await process.wait()


@cache
def shared_key_command(command: str, source: str) -> KeyCommand:
    """The one `KeyCommand` of this process for a command line, so that sessions share its key.

    Raises:
        UserError: it is no command line.
    """
    words = command_words(command, f"{source} is not a command line")
    if not words:
        raise UserError(f"{source} is empty: give a command that prints a key, or null")
    return KeyCommand(words, source)
