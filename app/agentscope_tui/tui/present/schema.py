"""A tool's JSON Schema in words: one line a parameter, nested ones indented."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

_BOUNDS = (
    ("minimum", "≥ {}"),
    ("exclusiveMinimum", "> {}"),
    ("maximum", "≤ {}"),
    ("exclusiveMaximum", "< {}"),
    ("minLength", "at least {} characters"),
    ("maxLength", "at most {} characters"),
    ("minItems", "at least {} items"),
    ("maxItems", "at most {} items"),
    ("pattern", "matches {}"),
    ("format", "format {}"),
)
_DEEPEST = 8


def schema_lines(schema: Mapping[str, Any], depth: int = 0) -> Iterator[str]:
    """A line for each property of an object schema, as deep as it goes (at most 8 levels)."""
    properties = schema.get("properties")
    required = schema["required"] if isinstance(schema.get("required"), list) else ()
    for name, part in properties.items() if isinstance(properties, Mapping) else ():
        part = part if isinstance(part, Mapping) else {}
        needed = "required" if name in required else "optional"
        facts = [type_word(part), needed, *_facts(part)]
        description = str(part.get("description") or "")
        indent = "  " * depth
        yield f"{indent}{name} · {' · '.join(facts)}{f' · {description}' if description else ''}"
        inner = part.get("items") if isinstance(part.get("items"), Mapping) else part
        if depth < _DEEPEST and isinstance(inner, Mapping):
            yield from schema_lines(inner, depth + 1)


def type_word(schema: Mapping[str, Any]) -> str:
    """The type in a word or a few: `string`, `list of integer`, `"a" | "b"`, `string or null`."""
    if "const" in schema:
        return json.dumps(schema["const"], ensure_ascii=False)
    if isinstance(values := schema.get("enum"), list):
        return " | ".join(json.dumps(value, ensure_ascii=False) for value in values)
    for key in ("anyOf", "oneOf"):
        if isinstance(parts := schema.get(key), list):
            return " or ".join(type_word(part) for part in parts if isinstance(part, Mapping))
    if isinstance(reference := schema.get("$ref"), str):
        return reference.rpartition("/")[2]
    kind = schema.get("type", "any")
    if isinstance(kind, list):
        return " or ".join(map(str, kind))
    if kind == "array" and isinstance(items := schema.get("items"), Mapping):
        return f"list of {type_word(items)}"
    return str(kind)


def _facts(schema: Mapping[str, Any]) -> Iterator[str]:
    for key, words in _BOUNDS:
        if key in schema:
            yield words.format(schema[key])
    if "default" in schema:
        yield f"default {json.dumps(schema['default'], ensure_ascii=False, default=str)}"
