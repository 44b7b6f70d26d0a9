"""The file of a scripted model: its format and its errors. `docs/scripted-models.md` explains it to users."""

from __future__ import annotations

import os
import re
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from agentscope_tui.errors import UsageError
from agentscope_tui.models.failures import ErrorKind


class ScriptError(UsageError):
    """A script that cannot be used: names the file, the place in it and what is allowed there."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Call(_Part):
    """A tool call. A string as `arguments` is sent as it stands, valid JSON or not."""

    name: str = Field(min_length=1)
    arguments: dict[str, Any] | str = Field(default_factory=dict[str, Any])


class Fault(_Part):
    """How a call fails, after what else the reply has was streamed."""

    kind: ErrorKind = "server"
    message: str = "the script lets this call fail"


class Stall(_Part):
    """A silence of `seconds` after some tokens; then the reply goes on."""

    after: int = Field(default=0, ge=0)
    seconds: float = Field(default=3600.0, ge=0)


class Failure(_Part):
    """A failed attempt that the client answers by waiting `seconds` and trying again."""

    message: str = "the script lets this attempt fail"
    seconds: float = Field(default=2.0, ge=0)


class When(_Part):
    """Conditions on the last message of the request; all that are given must hold."""

    role: Literal["system", "user", "assistant", "tool"] | None = None
    contains: str | None = None
    matches: str | None = None

    @field_validator("matches")
    @classmethod
    def _is_regex(cls, value: str | None) -> str | None:
        _check_regex(value)
        return value

    @model_validator(mode="after")
    def _says_something(self) -> When:
        if self.role is None and self.contains is None and self.matches is None:
            raise ValueError("a condition has role, contains or matches")
        return self

    def holds(self, role: str, text: str) -> bool:
        """Whether a message of this role and text meets every condition."""
        return (
            (self.role is None or self.role == role)
            and (self.contains is None or self.contains in text)
            and (self.matches is None or re.search(self.matches, text) is not None)
        )


class Reply(_Part):
    """One answer of the model. `then` replaces all replies that are left when this one is taken."""

    text: str = ""
    reasoning: str = ""
    tool_calls: tuple[Call, ...] = ()
    when: When | None = None
    delay: float = Field(default=0.0, ge=0)
    """Seconds before the first token."""
    tokens_per_second: float = Field(default=120.0, gt=0)
    stall: Stall | None = None
    retries: tuple[Failure, ...] = ()
    finish_reason: str | None = None
    error: Fault | None = None
    then: tuple[Reply, ...] | None = None

    @model_validator(mode="after")
    def _says_something(self) -> Reply:
        if not (self.text or self.reasoning or self.tool_calls or self.error):
            raise ValueError("a reply has text, reasoning, tool_calls or error")
        return self


class Script(_Part):
    """The replies for sessions whose first user message has `match` in it: a substring, or a `/regex/`."""

    match: str | None = None
    replies: tuple[Reply, ...] = Field(min_length=1)

    @field_validator("match")
    @classmethod
    def _is_pattern(cls, value: str | None) -> str | None:
        _check_regex(_regex_in(value))
        return value

    def fits(self, prompt: str) -> bool:
        """Whether this script is for sessions that begin with this message."""
        if self.match is None:
            return True
        regex = _regex_in(self.match)
        return self.match in prompt if regex is None else re.search(regex, prompt) is not None


class ScriptFile(_Part):
    """A whole file; the first script that fits is played."""

    scripts: tuple[Script, ...] = Field(min_length=1)


def load_script(file: str | Path) -> ScriptFile:
    """Read and check a script.

    Raises:
        UsageError: it cannot be read, is not YAML, or has something that the format does not allow.
    """
    try:
        state = os.stat(file)
        return _read(file, state.st_mtime_ns, state.st_size)
    except OSError as error:
        raise ScriptError(
            f"cannot read the script {file} ({error.strerror}): scripted: takes the path of a YAML file"
        ) from error


@lru_cache(maxsize=8)
def _read(file: str | Path, modified: int, size: int) -> ScriptFile:
    """Thousands of sessions may play the same script, and YAML is slow to read."""
    from agentscope_tui.yaml_file import parse_yaml

    try:
        return ScriptFile.model_validate(parse_yaml(Path(file).read_bytes(), str(file)))
    except ValidationError as error:
        raise ScriptError(f"{file}: {_first_fault(error)}") from None


_PARTS: dict[str, type[_Part]] = {
    "": ScriptFile,
    "scripts": Script,
    "replies": Reply,
    "then": Reply,
    "tool_calls": Call,
    "when": When,
    "error": Fault,
    "stall": Stall,
    "retries": Failure,
}
"""What the objects under a key are, to say which keys they may have."""


def _first_fault(error: ValidationError) -> str:
    fault = error.errors(include_url=False)[0]
    *parents, last = fault["loc"] or ("",)
    if fault["type"] == "extra_forbidden":
        owner = next((name for name in reversed(parents) if isinstance(name, str)), "")
        allowed = ", ".join(_PARTS[owner].model_fields)
        return f"{_path(parents)}unknown key {last!r}; allowed are {allowed}"
    message = fault["msg"].removeprefix("Value error, ")
    if fault["type"] == "missing":
        message = "this key is required"
    if fault["type"] in ("model_type", "model_attributes_type"):
        message = "an object was expected here"
    return f"{_path(fault['loc'])}{message}"


def _path(loc: Any) -> str:
    """`scripts[0].replies[2]: `; empty for the file itself. Branches of a union are no place in a file."""
    path = ""
    for part in loc:
        if isinstance(part, int):
            path += f"[{part}]"
        elif part not in ("dict[str,any]", "str"):
            path += f".{part}" if path else str(part)
    return f"{path}: " if path else ""


def _regex_in(match: str | None) -> str | None:
    if match is not None and len(match) > 2 and match.startswith("/") and match.endswith("/"):
        return match[1:-1]
    return None


def _check_regex(regex: str | None) -> None:
    try:
        re.compile(regex or "")
    except re.error as error:
        raise ValueError(f"not a regular expression: {error}") from None
