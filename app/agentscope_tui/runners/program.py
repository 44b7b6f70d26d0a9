"""Any program as a runner: it runs once for each turn, and what it prints is its answer.

It calls the model through the loopback endpoint and speaks no frames; this end speaks them for it.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, assert_never

from agentscope_tui.command_line import command_words, find_program
from agentscope_tui.datasets.fields import as_text
from agentscope_tui.datasets.task import RowProblem
from agentscope_tui.datasets.template import Template
from agentscope_tui.errors import UsageError
from agentscope_tui.runners.home import Home
from agentscope_tui.runners.program_run import Ended, ProgramRun
from agentscope_tui.tools.link import SupervisorLink
from agentscope_tui.wire.frame_channel import OnLog
from agentscope_tui.wire.frames import (
    Abort,
    Frame,
    FrameData,
    Hello,
    LlmResponse,
    Ping,
    Pong,
    RunnerFrame,
    RunnerState,
    SessionStart,
    Shutdown,
    ToolResponse,
    UserMessage,
    parse_host_frame,
)

INTERRUPT_GRACE = 2.0
"""Seconds that a program has to end once its call was answered with `interrupted`."""
PROMPT = "user_prompt"
"""The field of the row that is always the message of this turn."""


@dataclass(frozen=True)
class Command:
    """A command line with the row's fields in it: split into arguments first, filled in then."""

    text: str
    words: tuple[Template, ...]

    @classmethod
    def parse(cls, text: str, cwd: Path, environ: Mapping[str, str]) -> Command:
        """The command in `text`, to be run in the folder `cwd`.

        Raises:
            UsageError: it is no command line, or there is no such program.
        """
        words = command_words(text, f"--command {text}")
        if not words:
            raise UsageError("--command names no program")
        templates = tuple(Template.parse(word, "--command") for word in words)
        if not templates[0].fields and find_program(words[0], cwd, environ) is None:
            raise UsageError(f"--command {text}: there is no program {words[0]}")
        return cls(text, templates)

    def fill(self, row: Mapping[str, Any]) -> list[str]:
        """The arguments for a row.

        Raises:
            RowProblem: a field is missing, or what no argument can hold.
        """
        words = [word.fill(row, lambda path, value: as_text(value)) for word in self.words]
        if any("\0" in word for word in words):
            raise RowProblem("a field in --command has a NUL character, which no argument can have")
        return words


class ProgramChannel:
    """The host's end of a session whose agent is a program."""

    def __init__(self, command: Command, *, home: Home, env: Mapping[str, str], on_log: OnLog) -> None:
        self._command = command
        self._home = home
        self._env = home.environment(env)
        self._on_log = on_log
        self._frames: asyncio.Queue[FrameData | None] = asyncio.Queue()
        self._row: dict[str, Any] = {}
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._link: SupervisorLink | None = None
        self._turn: asyncio.Task[None] | None = None
        self._turns = 0
        self._stop = asyncio.Event()

    async def open(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix=".agentscope-", dir=self._home.folder)
        self._link = SupervisorLink(self._home.sandbox, self._home.writable)
        await self._link.wait_ready()
        self._put(Hello(name="program"))

    async def send(self, frame: Frame | FrameData) -> None:
        parsed = parse_host_frame(frame)
        match parsed:
            case SessionStart():
                self._row = parsed.row or {}
                self._put(RunnerState(status="idle"))
            case UserMessage() if self._turn is None:
                self._stop.clear()
                self._turn = asyncio.create_task(self._run(parsed), name="program")
            case Abort():
                self._stop.set()
            case Ping():
                self._put(Pong(nonce=parsed.nonce))
            case UserMessage() | LlmResponse() | ToolResponse() | Shutdown() | None:
                pass
            case _:
                assert_never(parsed)

    async def receive(self) -> FrameData | None:
        return await self._frames.get()

    async def ending(self) -> str:
        return "the program was ended"

    async def aclose(self) -> None:
        if self._turn is not None:
            self._turn.cancel()
            await asyncio.wait({self._turn})
        if self._link is not None:
            await self._link.aclose()
        if self._folder is not None:
            self._folder.cleanup()
        self._frames.put_nowait(None)

    async def _run(self, message: UserMessage) -> None:
        self._turns += 1
        self._put(RunnerState(status="running", turns=self._turns, msg_id=message.msg_id))
        try:
            ended = await self._run_program({**self._row, PROMPT: message.text})
        except (RowProblem, OSError) as problem:
            ended = Ended(error=f"this row cannot be run: {problem}")
        self._turn = None
        reason = "aborted" if self._stop.is_set() else "error" if ended.error else "completed"
        self._put(
            RunnerState(
                status="idle",
                turns=self._turns,
                msg_id=message.msg_id,
                reason=reason,
                answer=ended.answer if reason == "completed" else None,
                error=ended.error if reason == "error" else None,
                detail=ended.detail if reason == "error" else None,
            )
        )

    async def _run_program(self, row: dict[str, Any]) -> Ended:
        argv = self._command.fill(row)
        assert self._link is not None
        assert self._folder is not None
        file = Path(self._folder.name) / "row.json"
        file.write_text(json.dumps(row, ensure_ascii=False, default=str), "utf-8", "replace")
        env = {**self._env, "AGENTSCOPE_ROW": str(file)}
        run = ProgramRun(self._link, on_log=self._on_log)
        return await run.to_end(
            argv, cwd=self._home.cwd, env=env, stdin=file, stop=self._stop, grace=INTERRUPT_GRACE
        )

    def _put(self, frame: RunnerFrame) -> None:
        self._frames.put_nowait(frame.model_dump(mode="json", exclude_none=True))
