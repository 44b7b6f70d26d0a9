"""From a row's columns to a task."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import PurePosixPath
from typing import Any

from agentscope_tui.datasets.task import RowProblem, Task
from agentscope_tui.errors import UsageError
from agentscope_tui.grading.spec import parse_spec


@dataclass(frozen=True)
class Columns:
    """The dataset's column for each part of a task.

    Only `user_prompt` must be there, and every column that is named otherwise than its part: somebody
    asked for it.
    """

    user_prompt: str = "user_prompt"
    system_prompt: str = "system_prompt"
    ground_truth: str = "ground_truth"
    grader: str = "grader"
    files: str = "files"

    def task(self, index: int, line: int, row: Mapping[str, Any]) -> Task:
        """The task of a row.

        Raises:
            RowProblem: a column is missing or holds what it may not.
        """
        self._require(row)
        return Task(
            index=index,
            line=line,
            prompt=_prompt(row[self.user_prompt], self.user_prompt),
            system=_text(row.get(self.system_prompt), self.system_prompt),
            ground_truth=_as_text(row.get(self.ground_truth)),
            grader=_grader(row.get(self.grader), self.grader),
            files=_files(row.get(self.files), self.files),
            row=dict(row),
        )

    def _require(self, row: Mapping[str, Any]) -> None:
        for part in fields(self):
            column = getattr(self, part.name)
            if column not in row and (part.name == "user_prompt" or column != part.name):
                found = ", ".join(row) or "none"
                raise RowProblem(
                    f"column '{column}' is missing; columns found: {found} "
                    f"(--map {part.name}=COLUMN names another)"
                )


def _prompt(value: object, column: str) -> str:
    if _is_missing(value):
        raise RowProblem(f"'{column}' cannot be null")
    text = _text(value, column)
    if text is None or not text.strip():
        raise RowProblem(f"'{column}' cannot be empty")
    return text


def _text(value: object, column: str) -> str | None:
    if _is_missing(value):
        return None
    if not isinstance(value, str):
        raise RowProblem(f"'{column}' must be a string, got {_kind(value)}")
    return value


def _as_text(value: object) -> str | None:
    """A string as it is, any other value as its JSON text."""
    if _is_missing(value):
        return None
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _grader(value: object, column: str) -> str | None:
    name = _text(value, column)
    if name is None or not name.strip():
        return None
    try:
        spec = parse_spec(name)
    except UsageError as error:
        raise RowProblem(f"'{column}': {error}") from None
    if spec.kind == "python":
        raise RowProblem(
            f"'{column}' names a Python function, which no dataset may: use --grader {spec} if you trust it"
        )
    return str(spec)


def _files(value: object, column: str) -> dict[str, str]:
    if _is_missing(value):
        return {}
    if not isinstance(value, dict):
        raise RowProblem(f"'{column}' must be an object of path and text, got {_kind(value)}")
    files: dict[str, str] = {}
    for name, text in value.items():
        if not isinstance(text, str):
            raise RowProblem(f"'{column}': the text of {name!r} must be a string, got {_kind(text)}")
        path = _inside(name, column)
        if path in files:
            raise RowProblem(f"'{column}': {path!r} is there twice")
        files[path] = text
    folders = {str(folder) for path in files for folder in PurePosixPath(path).parents}
    if clash := folders & files.keys():
        raise RowProblem(f"'{column}': {min(clash)!r} is both a file and a folder")
    return files


def _inside(name: str, column: str) -> str:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not path.name or "\0" in name:
        raise RowProblem(f"'{column}': {name!r} is not a path inside the task's folder")
    return str(path)


def _is_missing(value: object) -> bool:
    """Null, or the NaN that data frames write in its place."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def _kind(value: object) -> str:
    match value:
        case bool():
            return "true or false"
        case int() | float():
            return "a number"
        case list():
            return "a list"
        case dict():
            return "an object"
        case _:
            return type(value).__name__
