"""Where a session's runner comes from: the built-in loop, the user's Python, a process, or a socket."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from agentscope_tui.command_line import command_words
from agentscope_tui.config import Config
from agentscope_tui.errors import UsageError
from agentscope_tui.model_choice import known_keys
from agentscope_tui.runners.builtin import SUBMIT, BuiltinRunner
from agentscope_tui.runners.environment import runner_environment
from agentscope_tui.runners.home import Home, confined_home
from agentscope_tui.runners.loopback.channel import (
    ENDPOINT_VARIABLES,
    EndpointChannel,
    endpoint_environment,
)
from agentscope_tui.runners.loopback.server import LoopbackServer
from agentscope_tui.runners.process import ProcessStream
from agentscope_tui.runners.program import Command, ProgramChannel
from agentscope_tui.runners.python import agent_command
from agentscope_tui.runners.token import runner_token
from agentscope_tui.tools.sandbox import Sandbox
from agentscope_tui.waiting import ended
from agentscope_tui.wire.channel import Channel, MemoryChannel, Pipe
from agentscope_tui.wire.frame_channel import FrameChannel, OnLog
from agentscope_tui.wire.framing import MAX_FRAME, Base64Lines, LengthPrefixed
from agentscope_tui.wire.sockets import Address, Listener, dialed, parse_address

_MOST_FILES = 16 << 20
"""Bytes of text that a runner gets at the start."""


@dataclass(frozen=True)
class RunnerChoice:
    """What the user chose: one of `agent`, `program`, `command`, `listen` and `connect`, or none for the
    built-in loop.

    `agent` is `module:attribute` of a Python agent, `python` the interpreter that runs it (None: ours).
    `start_timeout` is in seconds, `max_frame` in bytes; `remote` allows addresses of other machines.
    """

    agent: str | None = None
    python: str | None = None
    program: str | None = None
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
    pass_env: Collection[str] = ()
    """Variables that it may see all the same."""


def choice_of(config: Config) -> RunnerChoice:
    """What the settings choose."""
    runner = config.settings.runner
    return RunnerChoice(
        agent=runner.agent,
        python=runner.python,
        program=runner.program,
        command=runner.command,
        listen=runner.listen,
        connect=runner.connect,
        remote=runner.remote,
        start_timeout=runner.start_timeout,
        max_frame=runner.max_frame << 20,
        cwd=config.cwd,
        environ=config.environ,
        secrets=known_keys(config),
        pass_env=runner.pass_env,
    )


class RunnerSource:
    """Makes the channel of each session. One `Listener` serves all of them."""

    def __init__(self, choice: RunnerChoice) -> None:
        """Raises UsageError: more than one is chosen, or what is chosen cannot be used."""
        self._choice = choice
        chosen = {
            flag: value
            for flag, value in (
                ("--agent", choice.agent),
                ("--command", choice.program),
                ("--runner", choice.command),
                ("--listen", choice.listen),
                ("--connect", choice.connect),
            )
            if value is not None
        }
        if len(chosen) > 1:
            raise UsageError(f"{' and '.join(chosen)} exclude each other: name one runner")
        dialed_name = next((f"{flag.strip('-')} {value}" for flag, value in chosen.items()), "builtin")
        self.name = choice.agent or choice.program or choice.command or dialed_name
        """For the first event and the status line: `builtin`, `node r.ts`, `listen HOST:PORT` ..."""
        self._program = _program(choice)
        self._argv = _argv(choice)
        self._endpoint = LoopbackServer(max_body=choice.max_frame)
        address = choice.listen or choice.connect
        self._address = parse_address(address, remote=choice.remote) if address is not None else None
        self._listener: Listener | None = None
        self._lock = asyncio.Lock()

    async def start(self) -> None:
        """Begin to listen, if what was chosen needs that.

        Raises:
            UserError: the address cannot be listened at, or no token for its runners can be kept.
        """
        async with self._lock:
            if self.uses_endpoint:
                await self._endpoint.start()
            if self._choice.listen is not None and self._listener is None:
                assert self._address is not None
                local = self._address.path is not None
                listener = Listener(self._address, None if local else runner_token(self._choice.environ))
                await listener.start()
                self._listener = listener

    def channel(self, on_log: OnLog, home: Home | None = None) -> Channel:
        """The host's end of a new session's channel, not yet open; `start` comes before.

        `home` is where the agent's program runs; None: as the user, in the user's working folder.
        """
        choice = self._choice
        home = home or Home(choice.cwd)
        if self.uses_endpoint:
            env = self.environment()
            channel = EndpointChannel(self._endpoint)
            env |= endpoint_environment(self._endpoint, channel.token, env)
            return channel.beside(self._process(env, on_log, home))
        if self._argv:
            return self._process(self.environment(), on_log, home)
        if self._address is None:
            return BuiltinChannel()
        if self._listener is not None:
            socket = self._listener.next(choice.start_timeout)
        else:
            socket = dialed(self._address)
        return FrameChannel(socket, LengthPrefixed(choice.max_frame), on_log)

    def environment(self) -> dict[str, str]:
        """The variables for the user's own programs: without credentials."""
        choice = self._choice
        return runner_environment(choice.environ, choice.secrets, choice.pass_env)

    @property
    def listening(self) -> Address | None:
        """Where runners dial in, since `start`."""
        return self._listener.address if self._listener is not None else None

    @property
    def runs_program(self) -> bool:
        """Whether the agent is a program that speaks no frames."""
        return self._program is not None

    @property
    def uses_endpoint(self) -> bool:
        """Whether the agent may call the model over HTTP."""
        return self.runs_program or self._choice.agent is not None

    def confined(self, sandbox: Sandbox, folder: Path) -> Home:
        """The home of an agent's program that may write only to `folder`."""
        choice = self._choice
        argv = [self._program.words[0].text] if self._program is not None else self._argv
        return confined_home(
            sandbox,
            argv,
            cwd=choice.cwd,
            folder=folder,
            environ=choice.environ,
            network=self.uses_endpoint,
        )

    @property
    def is_builtin(self) -> bool:
        """Whether the agent is our own loop."""
        return self._address is None and not self.starts_process

    @property
    def starts_process(self) -> bool:
        """Whether the agent is a process that we start."""
        return self.runs_program or bool(self._argv)

    def _process(self, env: Mapping[str, str], on_log: OnLog, home: Home) -> Channel:
        if self._program is not None:
            return ProgramChannel(self._program, home=home, env=env, on_log=on_log)
        stream = ProcessStream(self._argv, home=home, env=env, on_log=on_log)
        return FrameChannel(stream, Base64Lines(self._choice.max_frame), on_log)

    async def aclose(self) -> None:
        """Stop listening. Sessions close their own channels."""
        await self._endpoint.aclose()
        if self._listener is not None:
            await self._listener.aclose()


class BuiltinChannel(MemoryChannel):
    """The host's end of a pipe to the built-in loop, which runs from `open` to `aclose`."""

    def __init__(self, *, last_tool: str = SUBMIT) -> None:
        """A call of `last_tool` that succeeds ends the turn."""
        to_runner, to_host = Pipe(), Pipe()
        super().__init__(to_host, to_runner, shares=True)
        theirs = MemoryChannel(to_runner, to_host, shares=True)
        self._runner = BuiltinRunner(theirs, last_tool=last_tool)
        self._running: asyncio.Task[None] | None = None

    async def open(self) -> None:
        self._running = asyncio.create_task(self._runner.run(), name="builtin runner")

    async def ending(self) -> str:
        return "the built-in loop ended"

    async def aclose(self) -> None:
        await super().aclose()
        if self._running is not None:
            await ended(self._running)


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


def _program(choice: RunnerChoice) -> Command | None:
    for name in ENDPOINT_VARIABLES:
        if name in choice.pass_env:
            raise UsageError(f"--pass-env {name}: agentscope sets this one, to see what the agent does")
    return None if choice.program is None else Command.parse(choice.program, choice.cwd, choice.environ)


def _argv(choice: RunnerChoice) -> list[str]:
    """The program to start; empty if none is."""
    if choice.agent is not None:
        return agent_command(choice.agent, choice.python, choice.cwd, choice.environ, choice.start_timeout)
    return _split(choice.command) if choice.command is not None else []


def _split(command: str) -> list[str]:
    words = command_words(command, f"--runner {command}")
    if not words:
        raise UsageError("--runner names no program")
    return words
