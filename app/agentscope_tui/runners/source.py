"""Where a session's runner comes from: the built-in loop, a process, or a socket."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from agentscope_tui.config import Config
from agentscope_tui.errors import UsageError
from agentscope_tui.model_choice import known_keys
from agentscope_tui.runners.builtin import BuiltinRunner
from agentscope_tui.runners.environment import runner_environment
from agentscope_tui.runners.process import ProcessStream
from agentscope_tui.wire.channel import Channel, FrameData, memory_channel
from agentscope_tui.wire.frame_channel import FrameChannel, OnLog
from agentscope_tui.wire.framing import MAX_FRAME, Base64Lines, LengthPrefixed
from agentscope_tui.wire.sockets import Listener, dialed, parse_address

_MOST_FILES = 16 << 20
"""Bytes of text that a runner gets at the start."""


@dataclass(frozen=True)
class RunnerChoice:
    """What the user chose: at most one of `command`, `listen` and `connect`; none: the built-in loop.

    `start_timeout` is in seconds, `max_frame` in bytes; `remote` allows addresses of other machines.
    """

    command: str | None = None
    listen: str | None = None
    connect: str | None = None
    remote: bool = False
    start_timeout: float = 60.0
    max_frame: int = MAX_FRAME
    cwd: Path = field(default_factory=Path.cwd)
    environ: Mapping[str, str] = field(default_factory=dict)
    secrets: Collection[str] = ()
    """Values that no runner may see, beside what is named like one."""


def choice_of(config: Config) -> RunnerChoice:
    """What the settings choose."""
    runner = config.settings.runner
    return RunnerChoice(
        command=runner.command,
        listen=runner.listen,
        connect=runner.connect,
        remote=runner.remote,
        start_timeout=runner.start_timeout,
        max_frame=runner.max_frame << 20,
        cwd=config.cwd,
        environ=config.environ,
        secrets=known_keys(config),
    )


class RunnerSource:
    """Makes the channel of each session. One `Listener` serves all of them."""

    def __init__(self, choice: RunnerChoice) -> None:
        """Raises UsageError: more than one is chosen, or what is chosen cannot be used."""
        self._choice = choice
        chosen = {
            flag: value
            for flag, value in (
                ("--runner", choice.command),
                ("--listen", choice.listen),
                ("--connect", choice.connect),
            )
            if value is not None
        }
        if len(chosen) > 1:
            raise UsageError(f"{' and '.join(chosen)} exclude each other: name one runner")
        dialed_name = next((f"{flag.strip('-')} {value}" for flag, value in chosen.items()), "builtin")
        self.name = choice.command or dialed_name
        """For the first event and the status line: `builtin`, `node r.ts`, `listen HOST:PORT` ..."""
        self._argv = _split(choice.command) if choice.command is not None else []
        address = choice.listen or choice.connect
        self._address = parse_address(address, remote=choice.remote) if address is not None else None
        self._listener: Listener | None = None
        self._lock = asyncio.Lock()

    async def start(self) -> None:
        """Begin to listen, if that is what was chosen.

        Raises:
            UserError: the address cannot be listened at.
        """
        async with self._lock:
            if self._choice.listen is not None and self._listener is None:
                assert self._address is not None
                listener = Listener(self._address)
                await listener.start()
                self._listener = listener

    def channel(self, on_log: OnLog) -> Channel:
        """The host's end of a new session's channel, not yet open; `start` comes before."""
        choice = self._choice
        if self._argv:
            env = runner_environment(choice.environ, choice.secrets)
            stream = ProcessStream(self._argv, cwd=choice.cwd, env=env, on_log=on_log)
            return FrameChannel(stream, Base64Lines(choice.max_frame), on_log)
        if self._address is None:
            return BuiltinChannel()
        if self._listener is not None:
            socket = self._listener.next(choice.start_timeout)
        else:
            socket = dialed(self._address)
        return FrameChannel(socket, LengthPrefixed(choice.max_frame), on_log)

    async def aclose(self) -> None:
        """Stop listening. Sessions close their own channels."""
        if self._listener is not None:
            await self._listener.aclose()


class BuiltinChannel:
    """The host's end of a pipe to the built-in loop, which runs from `open` to `aclose`."""

    def __init__(self) -> None:
        self._ours, theirs = memory_channel()
        self._runner = BuiltinRunner(theirs)
        self._running: asyncio.Task[None] | None = None

    async def open(self) -> None:
        self._running = asyncio.create_task(self._runner.run(), name="builtin runner")

    async def send(self, frame: FrameData) -> None:
        await self._ours.send(frame)

    async def receive(self) -> FrameData | None:
        return await self._ours.receive()

    async def ending(self) -> str:
        return "the built-in loop ended"

    async def aclose(self) -> None:
        await self._ours.aclose()
        if self._running is not None:
            await asyncio.wait([self._running])


def read_files(folder: Path) -> dict[str, str]:
    """The text files below a folder, by relative path with `/`, for `session_start`.

    Raises:
        UsageError: no such folder, nothing in it, no text, or more than 16 MiB.
    """
    if not folder.is_dir():
        raise UsageError(f"runner.files: there is no folder {folder}")
    files: dict[str, str] = {}
    left = _MOST_FILES
    for path in sorted(folder.rglob("*")):
        if not path.is_file():
            continue
        try:
            content = path.read_bytes()
            files[path.relative_to(folder).as_posix()] = content.decode()
        except OSError as error:
            raise UsageError(f"runner.files: cannot read {path}: {error.strerror}") from error
        except UnicodeDecodeError:
            raise UsageError(f"runner.files: {path} is no UTF-8 text") from None
        left -= len(content)
        if left < 0:
            raise UsageError(f"runner.files: {folder} has more than {_MOST_FILES >> 20} MiB")
    if not files:
        raise UsageError(f"runner.files: {folder} has no files")
    return files


def _split(command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UsageError(f"--runner {command}: {error}".rstrip(".").lower()) from None
    if not words:
        raise UsageError("--runner names no program")
    return words
