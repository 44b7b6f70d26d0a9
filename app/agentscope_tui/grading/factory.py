"""From a grader's name to the grader."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import assert_never

from agentscope_tui.command_line import find_program
from agentscope_tui.errors import UsageError
from agentscope_tui.grading.command import CommandGrader
from agentscope_tui.grading.grader import Grader
from agentscope_tui.grading.isolated import FunctionGrader, RegexGrader
from agentscope_tui.grading.numeric import NumericGrader, Tolerance
from agentscope_tui.grading.spec import parse_spec
from agentscope_tui.grading.text import ContainsGrader, ExactGrader


def parse_grader(text: str, *, python: str | None, timeout: float, cwd: Path) -> Grader:
    """The grader that `text` names, as in `grading.spec`.

    `python` is the interpreter of a Python function (None: our own), looked for from the folder `cwd`,
    where its module is imported too; `timeout` is in seconds.

    Raises:
        UsageError: no such grader, a bad argument, or no such interpreter.
    """
    spec = parse_spec(text)
    name = str(spec)
    match spec.kind:
        case "exact":
            return ExactGrader()
        case "contains":
            return ContainsGrader()
        case "regex":
            return RegexGrader(name, _checked(spec.argument), timeout)
        case "numeric":
            return NumericGrader(name, Tolerance.parse(spec.argument))
        case "command":
            return CommandGrader(name, spec.argument or "", timeout)
        case "python":
            return FunctionGrader(name, _interpreter(python, cwd), cwd, timeout)
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
