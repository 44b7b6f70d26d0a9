"""From the names of graders to the grader."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import assert_never

from agentscope_tui.command_line import find_program
from agentscope_tui.errors import UsageError
from agentscope_tui.grading.command import CommandGrader
from agentscope_tui.grading.composed import ComposedGrader
from agentscope_tui.grading.grader import Grader
from agentscope_tui.grading.isolated import FunctionGrader, RegexGrader
from agentscope_tui.grading.numeric import NumericGrader, Tolerance
from agentscope_tui.grading.rubric import Judge, RubricGrader, load_rubric
from agentscope_tui.grading.spec import GraderSpec, parse_parts
from agentscope_tui.grading.text import ContainsGrader, ExactGrader


@dataclass(frozen=True)
class Means:
    """What graders need beside their names.

    `python` is the interpreter of a Python function (None: our own), looked for from the folder `cwd`, where
    its module is imported and a rubric's file is found; `timeout` is in seconds. `judge` is the model of
    rubrics, None where none is named. Without `reads_files` a rubric is a text, whatever it looks like.
    """

    cwd: Path
    timeout: float
    python: str | None = None
    judge: Judge | None = None
    reads_files: bool = True


def grader_of(names: Sequence[str], means: Means) -> Grader:
    """The grader that one or more names make, as in `grading.spec`.

    Raises:
        UsageError: no such grader, a bad argument, no such interpreter or file, or no judge.
    """
    parts = parse_parts(names)
    if len(parts) == 1 and not parts[0].named:
        return _grader(parts[0].spec, means)
    return ComposedGrader([(part, _grader(part.spec, means)) for part in parts])


def _grader(spec: GraderSpec, means: Means) -> Grader:
    name = str(spec)
    match spec.kind:
        case "exact":
            return ExactGrader()
        case "contains":
            return ContainsGrader()
        case "regex":
            return RegexGrader(name, _checked(spec.argument), means.timeout)
        case "numeric":
            return NumericGrader(name, Tolerance.parse(spec.argument))
        case "command":
            return CommandGrader(name, spec.argument or "", means.timeout)
        case "rubric":
            rubric = load_rubric(spec.argument or "", means.cwd, from_file=means.reads_files)
            if means.judge is None:
                raise UsageError(
                    "grader `rubric` needs a model that judges: name one with --judge PROVIDER:NAME "
                    "(setting grading.judge)"
                )
            return RubricGrader(name, rubric, means.judge)
        case "python":
            return FunctionGrader(name, _interpreter(means.python, means.cwd), means.cwd, means.timeout)
        case _:
            assert_never(spec.kind)


def _checked(pattern: str | None) -> str | None:
    if pattern is None:
        return None
    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise UsageError(f"grader `regex`: {pattern!r} is not a regular expression: {error}") from None
    return pattern


def _interpreter(python: str | None, cwd: Path) -> str:
    if python is None:
        return sys.executable
    # Not resolved: an interpreter knows its virtual environment by the link it was started through.
    found = find_program(os.path.expanduser(python), cwd, os.environ)
    if found is None:
        raise UsageError(
            f"no interpreter {python!r}: --python takes a path or a command, as in .venv/bin/python"
        )
    return found
