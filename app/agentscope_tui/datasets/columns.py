"""From a row's columns to a task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any

from agentscope_tui.datasets.chat import Chat, read_chat
from agentscope_tui.datasets.conventions import ANSWERS, CONVENTIONS, guess
from agentscope_tui.datasets.fields import NoField, Steps, as_text, is_missing, kind_of, locate, lookup
from agentscope_tui.datasets.task import RowProblem, SeedFolder, Task
from agentscope_tui.datasets.template import Template
from agentscope_tui.errors import UsageError
from agentscope_tui.grading.spec import parse_spec


@dataclass(frozen=True)
class Columns:
    """The dataset's column (a dotted path) for each part of a task; None: found by its name.

    Only the prompt's column must be there, and every column that is named otherwise than its part:
    somebody asked for it.
    """

    user_prompt: str | None = None
    system_prompt: str | None = None
    ground_truth: str | None = None
    grader: str = "grader"
    files: str = "files"
    prompt: Template | None = None
    """The prompt made of several columns; it replaces `user_prompt`."""
    folder: Template | None = None
    """The folder of files to start with."""
    guessed: Mapping[str, str] = field(default_factory=dict, compare=False)
    """The columns that `resolved` found, by part."""

    def resolved(self, sample: Sequence[Mapping[str, Any]]) -> Columns:
        """The same, with the columns that nobody named found in the first good rows by their names."""
        wanted = [part for part in CONVENTIONS if getattr(self, part) is None]
        if self.prompt is not None and "user_prompt" in wanted:
            wanted.remove("user_prompt")
        found = {part: column for part in wanted if (column := guess(part, sample)) is not None}
        return replace(self, guessed=found)

    @property
    def guesses(self) -> str:
        """What was guessed that a name does not say itself, in one line; empty: nothing."""
        told = [f"{column} → {part}" for part, column in self.guessed.items() if column != part]
        return f"{', '.join(told)} (guessed; --map changes it)" if told else ""

    def task(self, index: int, line: int, row: Mapping[str, Any]) -> Task:
        """The task of a row.

        Raises:
            RowProblem: a column is missing or holds what it may not.
        """
        prompt, chat = self._ask(row)
        truth = self._optional(row, "ground_truth")
        if is_missing(truth) and self.ground_truth is None and chat is not None:
            truth = chat.expected
        return Task(
            index=index,
            line=line,
            prompt=prompt,
            system=self._system(row, chat),
            history=chat.history if chat else (),
            ground_truth=None if is_missing(truth) else as_text(truth),
            grader=_grader(self._optional(row, "grader"), self._column["grader"]),
            files=_files(self._optional(row, "files"), self._column["files"]),
            folder=_seed_folder(self.folder, row) if self.folder else None,
            row=dict(row),
            left_out=tuple(self._left_out(row, chat)),
        )

    @cached_property
    def _column(self) -> Mapping[str, str]:
        """The column of each part."""
        parts = (*CONVENTIONS, "grader", "files")
        return {part: getattr(self, part) or self.guessed.get(part, part) for part in parts}

    def _ask(self, row: Mapping[str, Any]) -> tuple[str, Chat | None]:
        """What the agent is asked, and the chat that it is the last message of."""
        if self.prompt is not None:
            text = self.prompt.fill(row, lambda path, value: as_text(value))
            if not text.strip():
                raise RowProblem(f"the prompt {self.prompt.text!r} cannot be empty")
            return text, None
        column = self._column["user_prompt"]
        value = self._required(row, "user_prompt")
        if is_missing(value):
            raise RowProblem(f"'{column}' cannot be null")
        if isinstance(value, list) and any(isinstance(item, dict) for item in value):
            chat = read_chat(value, column)
            return chat.prompt, chat
        text = "" if value == [] else _text(value, column)
        if not text.strip():
            raise RowProblem(f"'{column}' cannot be empty")
        return text, None

    def _system(self, row: Mapping[str, Any], chat: Chat | None) -> str | None:
        value = self._optional(row, "system_prompt")
        if is_missing(value):
            return chat.system if chat else None
        return _text(value, self._column["system_prompt"])

    def _required(self, row: Mapping[str, Any], part: str) -> Any:
        try:
            return lookup(row, self._column[part])
        except NoField as missing:
            raise RowProblem(f"{missing} (--map {part}=COLUMN names another)") from None

    def _optional(self, row: Mapping[str, Any], part: str) -> Any:
        """The value of a part that a row may leave out, unless its column was asked for."""
        named = getattr(self, part)
        return row.get(self._column[part]) if named in (None, part) else self._required(row, part)

    def _left_out(self, row: Mapping[str, Any], chat: Chat | None) -> list[Steps]:
        """The end of a chat, the ground truth, what is called like one, the grader, which may tell it, and
        the files, which the agent finds as files."""
        fields: list[Steps] = [(column,) for column in row if column.lower() in ANSWERS]
        for part in ("ground_truth", "grader", "files"):
            column = self._column[part]
            if getattr(self, part) not in (None, part) or column in row:
                fields.append(_whole(locate(row, column)))
        if chat is not None:
            way = locate(row, self._column["user_prompt"])
            messages = lookup(row, self._column["user_prompt"])
            fields[:0] = [(*way, place) for place in range(chat.asked + 1, len(messages))]
        return fields


def _whole(steps: Steps) -> Steps:
    """The way to a field or, for an item of a list, to the list: other answers are in it."""
    lists = [place for place, step in enumerate(steps) if isinstance(step, int)]
    return steps[: lists[0]] if lists else steps


def _text(value: object, column: str) -> str:
    if not isinstance(value, str):
        raise RowProblem(f"'{column}' must be a string, got {kind_of(value)}")
    return value


def _grader(value: object, column: str) -> str | None:
    name = "" if is_missing(value) else _text(value, column)
    if not name.strip():
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
    if is_missing(value):
        return {}
    if not isinstance(value, dict):
        raise RowProblem(f"'{column}' must be an object of path and text, got {kind_of(value)}")
    files: dict[str, str] = {}
    for name, text in value.items():
        if not isinstance(text, str):
            raise RowProblem(f"'{column}': the text of {name!r} must be a string, got {kind_of(text)}")
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


def _seed_folder(template: Template, row: Mapping[str, Any]) -> SeedFolder:
    """The row's folder; its root is what the user wrote of the path before the first field."""
    root, _, _ = template.pieces[0].rpartition("/")
    if len(template.pieces) == 1:
        root = template.pieces[0]
    elif template.pieces[0].startswith("/"):
        root = root or "/"
    return SeedFolder(template.fill(row, _folder_name), root or ".")


def _folder_name(path: str, value: Any) -> str:
    """A field's value as one name in a path: it must not lead out of the folder that the user named."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise RowProblem(
            f"'{path}' must be a string or a whole number to name a folder, got {kind_of(value)}"
        )
    name = str(value)
    if name in ("", ".", "..") or "/" in name or "\\" in name or "\0" in name:
        raise RowProblem(f"'{path}' must be the name of a folder and no path, got {name!r}")
    return name
