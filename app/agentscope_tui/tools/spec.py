"""What a tool is: its declaration, what a call gives back, and the check before a session starts."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict

from agentscope_tui.errors import UserError

Stream = Literal["stdout", "stderr"]
OnOutput = Callable[[Stream, bytes], Awaitable[None]]
"""Awaited with each piece of output as it comes (bytes that may contain anything): while it waits, no more
is read, so that a flood is slowed down at its source."""

TOOL_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""What OpenAI and Anthropic both accept as a function name."""


class LimitHit(BaseModel):
    """A limit on what a tool may use that it reached: the setting's name, its value, and what happened."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    name: str
    value: float
    reason: str


class ToolOutcome(BaseModel):
    """What a tool call gave.

    `content` goes to the model, already cut to the cap. `side_effects` tells whether the call may have
    changed something outside itself, so that an interrupt can say so.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    content: str
    is_error: bool = False
    truncated: bool = False
    exit_code: int | None = None
    side_effects: bool = False
    limits: tuple[LimitHit, ...] = ()


class Toolset(Protocol):
    """The tools of one session. The host calls them; a runner only asks."""

    @property
    def specs(self) -> Sequence[dict[str, Any]]:
        """The declarations, `[{"name", "description", "parameters"}]`, as `session_start` carries them."""

    @property
    def confinement(self) -> str:
        """What holds the tools in, for the status line: `bwrap`, `none` ..."""

    async def call(self, name: str, arguments: dict[str, Any], on_output: OnOutput) -> ToolOutcome:
        """Run one tool. Cancelling the task kills all that the call started before it returns.

        Raises:
            UserError: the call could not be made; its text becomes the error result.
        """

    async def aclose(self) -> None:
        """End everything that the tools left running. Called once, at the end of the session."""


class ToolSpecError(UserError):
    """A bad tool declaration: says which tool (index and name) and why."""


def validate_tools(specs: Sequence[Mapping[str, Any]]) -> None:
    """Check declarations before a session starts: `{"name", "description", "parameters"}`, bare or in
    OpenAI's envelope `{"type": "function", "function": {...}}`.

    Raises:
        ToolSpecError: the first bad one, by its index from 0, its name and the reason.
    """
    if not isinstance(specs, list | tuple):
        raise ToolSpecError(f"the tools are a list of declarations, not {_kind(specs)}")
    taken: dict[str, int] = {}
    for index, spec in enumerate(specs):
        declaration, reason = _declaration(spec)
        name = declaration.get("name")
        reason = reason or _name_fault(name) or _parameters_fault(declaration)
        if not reason and name in taken:
            reason = f"tool {taken[name]} has the same name"
        if reason:
            called = f" ({name!r})" if isinstance(name, str) and name else ""
            raise ToolSpecError(f"tool {index}{called}: {reason}")
        taken[str(name)] = index


def weaknesses(spec: Mapping[str, Any]) -> list[str]:
    """What is allowed in a declaration and yet makes a tool hard to use, in words; best first."""
    declaration, fault = _declaration(spec)
    fault = fault or _name_fault(declaration.get("name")) or _parameters_fault(declaration)
    if fault:
        return [fault]
    found = [] if declaration.get("description") else ["no description: the model has only the name to go by"]
    properties = declaration["parameters"].get("properties", {})
    for name, schema in properties.items():
        if isinstance(schema, Mapping):
            if not schema.keys() & {"type", "enum", "const", "anyOf", "oneOf", "allOf", "$ref"}:
                found.append(f"{name} has no type: any value is allowed")
            if not schema.get("description"):
                found.append(f"{name} has no description")
    return found


def _declaration(spec: object) -> tuple[Mapping[str, Any], str]:
    """The bare declaration, and what is wrong with the envelope."""
    if not isinstance(spec, Mapping):
        return {}, f"a declaration is an object, not {_kind(spec)}"
    if "function" not in spec and spec.get("type") != "function":
        return spec, ""
    function = spec.get("function")
    if function is None:
        return {}, "function is missing"
    if not isinstance(function, Mapping):
        return {}, f"function is an object, not {_kind(function)}"
    return function, ""


def _name_fault(name: object) -> str:
    if name is None:
        return "name is missing"
    if not isinstance(name, str):
        return f"name is a string, not {_kind(name)}"
    if not name:
        return "name is empty"
    if not TOOL_NAME.fullmatch(name):
        return "a name has 1 to 64 letters, digits, _ or -"
    return ""


def _parameters_fault(declaration: Mapping[str, Any]) -> str:
    description = declaration.get("description", "")
    if not isinstance(description, str):
        return f"description is a string, not {_kind(description)}"
    parameters = declaration.get("parameters")
    if not isinstance(parameters, Mapping) or parameters.get("type") != "object":
        return 'parameters is a JSON Schema object: {"type": "object", "properties": {...}}'
    properties = parameters.get("properties", {})
    if not isinstance(properties, Mapping):
        return f"properties is an object, not {_kind(properties)}"
    for key, schema in properties.items():
        if not isinstance(schema, Mapping | bool):
            return f"property {key!r} is a JSON Schema, not {_kind(schema)}"
    required = parameters.get("required", [])
    if not isinstance(required, list | tuple) or not all(isinstance(key, str) for key in required):
        return "required is a list of property names"
    for key in required:
        if key not in properties:
            return f"required names {key!r}, which is no property"
    return ""


def _kind(value: object) -> str:
    return "null" if value is None else type(value).__name__
