"""What the settings' models say about a key: whether it exists, what it takes, who may set it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from agentscope_tui.settings import NeedsTrust, OnlyUserFile, Settings

Path = tuple[str, ...]
"""A setting's key in parts: `("model", "name")` is `model.name`."""


def keys_at(path: Path) -> tuple[str, ...]:
    """The keys of the section at `path`; empty where there is no section."""
    section = _section_at(path)
    return () if section is None else tuple(section.model_fields)


def is_mapping(path: Path) -> bool:
    """Whether the setting at `path` is a section or takes entries of any name (`model.prices`)."""
    if _section_at(path) is not None:
        return True
    field = _last_field(path)
    return field is not None and get_origin(field.annotation) is dict


def exists(path: Path) -> bool:
    """Whether there is a setting or a section at `path`."""
    return _last_field(path) is not None


def needs_trust(path: Path, value: object) -> bool:
    """Whether an untrusted file may not set `path` to `value`: a mark on the way to it says so."""
    return any(mark.when(value) for mark in _marks(path) if isinstance(mark, NeedsTrust))


def only_in_user_file(path: Path) -> bool:
    """Whether only the file in the user's config folder may set `path`."""
    return any(isinstance(mark, OnlyUserFile) for mark in _marks(path))


def is_secret(path: Path) -> bool:
    """Whether a value here may be a secret that is nowhere else."""
    return only_in_user_file(path) or path[:2] == ("tools", "mcp_headers")


def takes_text(path: Path) -> bool:
    """Whether the setting takes text, so that `1234` in the environment stays text."""
    schema = _schema(path)
    return any(part.get("type") == "string" for part in schema.get("anyOf", [schema]))


def allowed(path: Path) -> str:
    """What may stand at `path`, in words: `a number from 0 to 2 or null`."""
    if is_mapping(path):
        keys = keys_at(path)
        return f"a section with {', '.join(keys)}" if keys else "a mapping"
    schema = _schema(path)
    return " or ".join(_in_words(part) for part in schema.get("anyOf", [schema]))


def _section_at(path: Path) -> type[BaseModel] | None:
    if not path:
        return Settings
    field = _last_field(path)
    return None if field is None else _as_section(field.annotation)


def _as_section(annotation: object) -> type[BaseModel] | None:
    return annotation if isinstance(annotation, type) and issubclass(annotation, BaseModel) else None


def _fields(path: Path) -> Iterator[FieldInfo]:
    """The fields on the way to `path`, as far as they exist; entries of a dict have a field of their own."""
    annotation: Any = Settings
    for name in path:
        section = _as_section(annotation)
        if section is not None and name in section.model_fields:
            field = section.model_fields[name]
        elif get_origin(annotation) is dict:
            field = FieldInfo(annotation=get_args(annotation)[1])
        else:
            return
        yield field
        annotation = field.annotation


def _last_field(path: Path) -> FieldInfo | None:
    fields = list(_fields(path))
    return fields[-1] if fields and len(fields) == len(path) else None


def _marks(path: Path) -> Iterator[object]:
    for field in _fields(path):
        yield from field.metadata


def _schema(path: Path) -> dict[str, Any]:
    section = _section_at(path[:-1])
    properties = {} if section is None else section.model_json_schema()["properties"]
    schema: dict[str, Any] = properties.get(path[-1], {})
    return schema


def _in_words(schema: dict[str, Any]) -> str:
    if "enum" in schema:
        return ", ".join(schema["enum"])
    match schema.get("type"):
        case "number" | "integer" as kind:
            noun = "a number" if kind == "number" else "a whole number"
            if "minimum" in schema and "maximum" in schema:
                return f"{noun} from {schema['minimum']:g} to {schema['maximum']:g}"
            if "exclusiveMinimum" in schema:
                return f"{noun} above {schema['exclusiveMinimum']:g}"
            return f"{noun} from {schema['minimum']:g}"
        case "boolean":
            return "true or false"
        case "array":
            items = schema["items"]
            return f"a list of {_in_words(items)}" if "enum" in items else "a list of texts"
        case "null":
            return "null"
        case _:
            return "text"
