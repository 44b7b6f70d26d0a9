"""The grader `command:COMMAND`: a shell command in the row's folder, confined like a tool; exit 0 is 1.0.

The command finds in its environment `AGENTSCOPE_ANSWER` and `AGENTSCOPE_GROUND_TRUTH`, both without NUL and
cut after 64 KiB, since the environment cannot carry more. Only an answer that had to be cut is also in a
file, `AGENTSCOPE_ANSWER_FILE`: it lies in the row's folder, where a command that searches would find it.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from agentscope_tui.grading.grader import Grade, GradeInput, GraderError, shorten

_MOST_BYTES = 64 << 10
_CANNOT_START = (126, 127)
"""The shell's exit codes for a command that cannot be executed or found."""


@dataclass(frozen=True)
class CommandGrader:
    """1.0 where the command exits with 0, else 0.0."""

    name: str
    command: str
    timeout: float

    async def grade(self, given: GradeInput) -> Grade:
        env = {
            "AGENTSCOPE_ANSWER": _for_environment(given.answer),
            "AGENTSCOPE_GROUND_TRUTH": _for_environment(given.task.ground_truth or ""),
        }
        with _answer_file(given) if _is_cut(given.answer) else nullcontext() as file:
            if file is not None:
                env["AGENTSCOPE_ANSWER_FILE"] = str(file)
            code, output = await given.run_command(self.command, timeout=self.timeout, env=env)
        if code is None:
            raise GraderError(
                f"grader `{shorten(self.name)}` ran longer than {self.timeout:g} s (setting grading.timeout)",
                detail=output,
            )
        if code in _CANNOT_START:
            raise GraderError(
                f"grader `{shorten(self.name)}` cannot run (exit {code}): {_last_line(output)}", detail=output
            )
        return Grade(1.0 if code == 0 else 0.0, f"exit {code}: {_last_line(output)}".rstrip(": "))


@contextmanager
def _answer_file(given: GradeInput) -> Iterator[Path]:
    # The agent wrote to this folder: a name that it could guess may be a link that it left there.
    try:
        handle, name = tempfile.mkstemp(prefix=".answer-", suffix=".txt", dir=given.workdir)
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace", newline="") as file:
            file.write(given.answer)
    except OSError as error:
        raise GraderError(f"the answer cannot be written to {given.workdir}: {error.strerror}") from error
    try:
        yield Path(name)
    finally:
        Path(name).unlink(missing_ok=True)


def _is_cut(text: str) -> bool:
    return len(text.encode("utf-8", "replace")) > _MOST_BYTES


def _for_environment(text: str) -> str:
    data = text.replace("\0", "").encode("utf-8", "replace")
    return data[:_MOST_BYTES].decode("utf-8", "ignore")


def _last_line(output: str) -> str:
    lines = output[-4000:].strip().splitlines()
    return shorten(lines[-1], 200) if lines else ""
