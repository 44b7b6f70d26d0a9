"""A grader bound to one row: what the session calls with an answer. Either in the session's own folder, or on
a copy of it that is thrown away."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from agentscope_tui.datasets.task import Task
from agentscope_tui.grading.grader import Grade, GradeInput, Grader, GraderError, RunCommand
from agentscope_tui.models.chat import Message
from agentscope_tui.store.folders import SessionFolder
from agentscope_tui.tools.local import LocalTools


@dataclass(frozen=True)
class RowGrader:
    """Grades answers to one task; its commands run where the session's do."""

    grader: Grader
    task: Task
    tools: LocalTools
    folder: SessionFolder

    @property
    def name(self) -> str:
        return self.grader.name

    async def grade(self, answer: str, messages: Sequence[Message]) -> Grade:
        return await self.grader.grade(
            GradeInput(
                answer=answer,
                task=self.task,
                workdir=self.folder.files,
                messages=list(messages),
                run_command=_commands_of(self.tools),
                session=self.folder.path.name,
            )
        )


@dataclass(frozen=True)
class CopyGrader:
    """Grades the same on a copy of the files: the session, which may be at work, notices nothing of it.

    `fill` puts the files into an empty folder, with another one to work in; it is called in a thread. The
    copy is made in a folder of its own in `beside`; `tools` makes the tools that run commands there.
    """

    grader: Grader
    task: Task
    session: str
    beside: Path
    fill: Callable[[Path, Path], None]
    tools: Callable[[Path], LocalTools]

    @property
    def name(self) -> str:
        return self.grader.name

    async def grade(self, answer: str, messages: Sequence[Message]) -> Grade:
        try:
            place = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix=".scoring-", dir=self.beside))
        except OSError as error:
            raise GraderError(f"no copy of the files can be made: {error.strerror or error}") from error
        try:
            return await self._grade_in(place, answer, messages)
        finally:
            await asyncio.to_thread(shutil.rmtree, place, ignore_errors=True)

    async def _grade_in(self, place: Path, answer: str, messages: Sequence[Message]) -> Grade:
        files, work = place / "files", place / "work"
        files.mkdir(mode=0o700)
        copying = asyncio.create_task(asyncio.to_thread(self.fill, files, work), name="copy for a grader")
        try:
            await asyncio.shield(copying)
        except asyncio.CancelledError:
            # A thread cannot be cancelled, and what it writes to is about to be removed.
            await asyncio.wait([copying])
            raise
        except OSError as error:
            raise GraderError(f"the files cannot be copied: {error.strerror or error}") from error
        tools = self.tools(files)
        try:
            return await self.grader.grade(
                GradeInput(
                    answer=answer,
                    task=self.task,
                    workdir=files,
                    messages=list(messages),
                    run_command=_commands_of(tools),
                    session=self.session,
                )
            )
        finally:
            await tools.aclose()


def _commands_of(tools: LocalTools) -> RunCommand:
    async def run_command(command: str, *, timeout: float, env: Mapping[str, str]) -> tuple[int | None, str]:
        status, output = await tools.run_command(command, timeout=timeout, env=env)
        code = status.code if status.signal is None else 128 + status.signal
        return None if status.timed_out else code, output

    return run_command
