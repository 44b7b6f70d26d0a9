"""A tool call's arguments: from the JSON text that a model wrote to the object that frames carry."""

from __future__ import annotations

import json
from typing import Any

MAX_DEPTH = 64
"""Levels of nesting; what is much deeper cannot be carried in a frame or an event."""

_NESTING = (dict, list)


class BadArguments(ValueError):
    """Arguments that no tool can be called with; says why, for the model to read."""


def parse_arguments(text: str) -> dict[str, Any]:
    """The arguments as an object; no text at all is an empty one.

    Raises:
        BadArguments: no JSON, no object, or nested too deeply.
    """
    try:
        arguments = json.loads(text) if text.strip() else {}
    except ValueError as problem:
        raise BadArguments(f"The arguments are not valid JSON: {problem}.") from problem
    except RecursionError:
        raise BadArguments("The arguments are nested too deeply.") from None
    if not isinstance(arguments, dict):
        raise BadArguments("The arguments must be a JSON object.")
    if deeper_than(MAX_DEPTH, arguments):
        raise BadArguments("The arguments are nested too deeply.")
    return arguments


def deeper_than(levels: int, value: object) -> bool:
    """Whether JSON data has more levels of nesting than this."""
    level: list[Any] = [value] if isinstance(value, _NESTING) else []
    for _ in range(levels):
        if not level:
            return False
        level = [
            child
            for item in level
            for child in (item.values() if isinstance(item, dict) else item)
            if isinstance(child, _NESTING)
        ]
    return bool(level)
