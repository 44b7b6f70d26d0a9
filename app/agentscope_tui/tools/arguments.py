"""The check of a call's arguments against the tool's declaration, with an error the model can act on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentscope_tui.errors import UserError

_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}


class ArgumentError(UserError):
    """Arguments that do not fit: names the tool and the argument."""


def check_arguments(spec: Mapping[str, Any], arguments: Mapping[str, Any]) -> None:
    """Check names and JSON types, not nested schemas.

    Raises:
        ArgumentError: the first argument that is missing, unknown or of the wrong type.
    """
    name, parameters = spec["name"], spec["parameters"]
    properties = parameters.get("properties", {})
    for argument in parameters.get("required", ()):
        if argument not in arguments:
            raise ArgumentError(f"{name}: argument {argument!r} is missing")
    for argument, value in arguments.items():
        if argument not in properties:
            known = ", ".join(properties) or "none"
            raise ArgumentError(f"{name}: unknown argument {argument!r} (it takes: {known})")
        schema = properties[argument]
        wanted = schema.get("type") if isinstance(schema, Mapping) else None
        types = _TYPES.get(wanted) if isinstance(wanted, str) else None
        if types and (not isinstance(value, types) or (isinstance(value, bool) and bool not in types)):
            raise ArgumentError(f"{name}: argument {argument!r} must be of type {wanted}, not {_name(value)}")


def _name(value: object) -> str:
    return next((name for name, types in _TYPES.items() if type(value) in types), type(value).__name__)
