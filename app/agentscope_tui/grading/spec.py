"""A grader by name: `exact`, `numeric:0.01`, `command:pytest -q`, `module:func`, `rubric:rubric.md`; several
have names and weights of their own: `correct@3=exact`. Cheap to import."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from agentscope_tui.errors import UsageError

Kind = Literal["exact", "contains", "regex", "numeric", "command", "rubric", "python"]

KINDS = (
    "exact, contains, regex[:PATTERN], numeric[:TOLERANCE], command:COMMAND, rubric:FILE, rubric:TEXT "
    "or a Python function module:func"
)
_FUNCTION = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")
_PREFIX = re.compile(r"(?P<name>[\w-]+)(@(?P<weight>[0-9.]+))?=")


@dataclass(frozen=True)
class GraderSpec:
    """`argument` is what follows the first colon, or the whole `module:func`; None: nothing follows."""

    kind: Kind
    argument: str | None = None

    def __str__(self) -> str:
        if self.kind == "python":
            return self.argument or ""
        return self.kind if self.argument is None else f"{self.kind}:{self.argument}"

    @property
    def short_name(self) -> str:
        """What it is called among others where nobody named it: the kind, or the function."""
        return str(self).rpartition(":")[2] if self.kind == "python" else self.kind


@dataclass(frozen=True)
class GraderPart:
    """One of several graders: what it is called, and how much its reward counts. `named` by the user."""

    name: str
    weight: float
    spec: GraderSpec
    named: bool = True

    def __str__(self) -> str:
        if not self.named:
            return str(self.spec)
        weight = "" if self.weight == 1 else f"@{self.weight:g}"
        return f"{self.name}{weight}={self.spec}"


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
        case "rubric":
            if argument:
                return GraderSpec(word, argument)
            raise UsageError("grader `rubric` needs a file or a text: rubric:rubric.md")
        case _ if _FUNCTION.fullmatch(text.strip()):
            return GraderSpec("python", text.strip())
        case _:
            raise UsageError(f"unknown grader {text!r}: use {KINDS}")


def parse_part(text: str) -> GraderPart:
    """A grader with the name and the weight that it may have: `NAME=SPEC`, `NAME@WEIGHT=SPEC`, or `SPEC`.

    Raises:
        UsageError: no such grader, or a weight that is no number.
    """
    prefix = _PREFIX.match(text.strip())
    if prefix is None:
        spec = parse_spec(text)
        return GraderPart(spec.short_name, 1.0, spec, named=False)
    return GraderPart(
        prefix["name"], _weight(prefix["weight"], text), parse_spec(text.strip()[prefix.end() :])
    )


def parse_parts(texts: Sequence[str]) -> list[GraderPart]:
    """All of the graders that together make one; their names differ, and one of them has a weight above 0.

    Raises:
        UsageError: they do not.
    """
    parts = [parse_part(text) for text in texts]
    names = [part.name for part in parts]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise UsageError(
            f"two graders are called {twice!r}: give them names, as in first={parts[names.index(twice)].spec}"
        )
    if parts and not any(part.weight for part in parts):
        raise UsageError(f"no grader gives the reward: a weight of 0 makes {names[0]!r} a metric only")
    return parts


def runs_code(text: str) -> bool:
    """Whether the grader that `text` names runs code of whoever named it: a command or a function.

    True also for text that names no grader, so that nothing slips through.
    """
    return _is(text, "command", "python")


def needs_trust(text: str) -> bool:
    """Whether a stranger may not choose it: it runs code, or reads a file and asks a model about it."""
    return _is(text, "command", "python", "rubric")


def _is(text: str, *kinds: Kind) -> bool:
    try:
        return parse_part(text).spec.kind in kinds
    except UsageError:
        return True


def _weight(text: str | None, whole: str) -> float:
    try:
        weight = 1.0 if text is None else float(text)
    except ValueError:
        weight = math.nan
    if not math.isfinite(weight):
        raise UsageError(
            f"grader {whole!r}: {text!r} is no weight: use a number from 0, as in correct@3=exact"
        )
    return weight
