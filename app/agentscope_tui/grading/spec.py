"""A grader by name: `exact`, `numeric:0.01`, `command:pytest -q`, `module:func`; cheap to import."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from agentscope_tui.errors import UsageError

Kind = Literal["exact", "contains", "regex", "numeric", "command", "python"]

KINDS = (
    "exact, contains, regex[:PATTERN], numeric[:TOLERANCE], command:COMMAND or a Python function module:func"
)
_FUNCTION = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")


@dataclass(frozen=True)
class GraderSpec:
    """`argument` is what follows the first colon, or the whole `module:func`; None: nothing follows."""

    kind: Kind
    argument: str | None = None

    def __str__(self) -> str:
        if self.kind == "python":
            return self.argument or ""
        return self.kind if self.argument is None else f"{self.kind}:{self.argument}"


def parse_spec(text: str) -> GraderSpec:
    """The grader that `text` names.

    Raises:
        UsageError: no such kind, or an argument missing or too many; lists the kinds.
    """
    word, colon, rest = text.strip().partition(":")
    argument = rest.strip() if colon else None
    match word:
        case "exact" | "contains":
            if argument is None:
                return GraderSpec(word)
            raise UsageError(
                f"grader `{word}` takes nothing after it: it compares with the row's ground truth"
            )
        case "regex" | "numeric":
            return GraderSpec(word, argument or None)
        case "command":
            if argument:
                return GraderSpec(word, argument)
            raise UsageError("grader `command` needs a command: command:pytest -q")
        case _ if _FUNCTION.fullmatch(text.strip()):
            return GraderSpec("python", text.strip())
        case _:
            raise UsageError(f"unknown grader {text!r}: use {KINDS}")


def runs_code(text: str) -> bool:
    """Whether the grader that `text` names runs code of whoever named it: a command or a function.

    True also for text that names no grader, so that nothing slips through.
    """
    try:
        return parse_spec(text).kind in ("command", "python")
    except UsageError:
        return True
