"""What a grader is given: an answer, a task, a folder, and a shell in that folder."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from agentscope_tui.datasets.task import Task
from agentscope_tui.grading.grader import GradeInput

GivenFactory = Callable[..., GradeInput]


@pytest.fixture
def given(tmp_path: Path) -> GivenFactory:
    workdir = tmp_path / "work"
    workdir.mkdir()

    async def run_command(command: str, *, timeout: float, env: Mapping[str, str]) -> tuple[int | None, str]:
        process = await asyncio.create_subprocess_exec(
            "bash",
            "-c",
            command,
            cwd=workdir,
            env={"PATH": os.environ["PATH"], **env},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        try:
            async with asyncio.timeout(timeout):
                output, _ = await process.communicate()
        except TimeoutError:
            process.kill()
            await process.communicate()
            return None, ""
        return process.returncode, output.decode("utf-8", "replace")

    def make(answer: str, truth: str | None = None, **more: Any) -> GradeInput:
        task = Task(index=3, line=4, prompt="do", ground_truth=truth, row=more.pop("row", {}))
        return GradeInput(answer=answer, task=task, workdir=workdir, run_command=run_command, **more)

    return make
