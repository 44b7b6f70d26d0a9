"""Graders that run in a process of their own: a Python function, and `regex`.

A regular expression may take for ever, and nothing in our own process could stop it.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentscope_tui.grading.grader import Grade, GradeInput, GraderError, ground_truth_of, shorten
from agentscope_tui.grading.runner_process import Reply, run_job
from agentscope_tui.grading.transcript import transcript_of


@dataclass(frozen=True)
class FunctionGrader:
    """A function `module:func` of the user, imported from `folder` by the interpreter `python`.

    It gets what it names among its parameters: `answer` (str), `ground_truth` (str or None), `row` (the
    dataset's row, a dict), `messages` (the conversation, a list of chat messages), `transcript` (the same
    as a text), `workdir` (str: the agent's folder). It may be async. It returns a number, a truth value (1.0
    or 0.0), or an object with `reward` and, if it likes, `reason` and `metrics` (numbers by name).
    """

    name: str
    python: str
    folder: Path
    timeout: float

    async def grade(self, given: GradeInput) -> Grade:
        values = {
            "answer": given.answer,
            "ground_truth": given.task.ground_truth,
            "row": given.task.row,
            "messages": given.messages,
            "transcript": transcript_of(given.messages),
            "workdir": str(given.workdir),
        }
        job = {"function": self.name, "folder": str(self.folder), "values": values}
        return await _grade(self.name, job, python=self.python, folder=self.folder, timeout=self.timeout)


@dataclass(frozen=True)
class RegexGrader:
    """1.0 where Python's `re.search` finds the pattern (None: the row's ground truth) in the answer."""

    name: str
    pattern: str | None
    timeout: float

    async def grade(self, given: GradeInput) -> Grade:
        pattern = ground_truth_of(given.task, self.name) if self.pattern is None else self.pattern
        job = {"pattern": pattern, "values": {"answer": given.answer}}
        return await _grade(self.name, job, python=sys.executable, folder=Path("/"), timeout=self.timeout)


async def _grade(name: str, job: dict[str, Any], *, python: str, folder: Path, timeout: float) -> Grade:
    shown = shorten(name)
    try:
        reply = await run_job(job, python=python, folder=folder, timeout=timeout)
    except TimeoutError:
        raise GraderError(
            f"grader `{shown}` ran longer than {timeout:g} s (setting grading.timeout)"
        ) from None
    if reply.result is None:
        raise GraderError(f"grader `{shown}` died without a result", detail=reply.printed)
    if "error" in reply.result:
        raise GraderError(f"grader `{shown}` failed: {reply.result['error']}", detail=_detail(reply))
    result = reply.result
    return Grade(result["reward"], str(result.get("reason", "")), result.get("metrics", {}))


def _detail(reply: Reply) -> str:
    assert reply.result is not None
    parts = [str(reply.result.get("detail", ""))]
    if reply.printed:
        parts.append(f"It printed:\n{reply.printed}")
    return "\n\n".join(part for part in parts if part)
