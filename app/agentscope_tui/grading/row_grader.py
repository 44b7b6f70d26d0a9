"""A grader bound to one row: what the session calls with an answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agentscope_tui.datasets.task import Task
from agentscope_tui.grading.grader import Grade, GradeInput, Grader
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
                run_command=self._run_command,
            )
        )

    async def _run_command(
        self, command: str, *, timeout: float, env: Mapping[str, str]
    ) -> tuple[int | None, str]:
        status, output = await self.tools.run_command(command, timeout=timeout, env=env)
        code = status.code if status.signal is None else 128 + status.signal
        return None if status.timed_out else code, output
