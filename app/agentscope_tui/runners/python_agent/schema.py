"""A typed Python function as a tool: its declaration for the model, and its call with what the model wrote.

Types come from the signature, descriptions from the docstring (Google, NumPy or `:param name:`).
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import inspect
import re
import sys
import typing
from collections.abc import Callable
from typing import Any

_PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}
_LISTS = ("list", "tuple", "set", "frozenset", "Sequence", "Iterable", "MutableSequence")
_OBJECTS = ("dict", "Mapping", "MutableMapping")
_DATES = {"date": "date", "datetime": "date-time", "time": "time"}
_GOOGLE = re.compile(r"^(args|arguments|parameters|params):$", re.IGNORECASE)
_SECTION = re.compile(r"^[A-Z][A-Za-z ]*:$")
_SPHINX = re.compile(r"^:param\s+(?:[^:]*\s)?(\w+):\s*(.*)$")

Schema = dict[str, Any]


def declare(function: Callable[..., Any]) -> Schema:
    """`{"name", "description", "parameters"}` of a function.

    Raises:
        TypeError: it is no function with a name.
    """
    name = getattr(function, "__name__", None)
    if not callable(function) or name is None or name == "<lambda>":
        raise TypeError(f"a tool is a function with a name, or a declaration, not {function!r:.80}")
    about, texts = read_docstring(inspect.getdoc(function) or "")
    properties: dict[str, Schema] = {}
    required = []
    for parameter, hint in _parameters(function):
        schema = {**schema_of(hint)}
        if parameter.name in texts:
            schema["description"] = texts[parameter.name]
        if parameter.default is inspect.Parameter.empty:
            required.append(parameter.name)
        elif _is_json(parameter.default):
            schema["default"] = parameter.default
        properties[parameter.name] = schema
    parameters: Schema = {"type": "object", "properties": properties}
    if required:
        parameters["required"] = required
    return {"name": name, "description": about, "parameters": parameters}


def bind(function: Callable[..., Any], arguments: dict[str, Any]) -> Callable[[], Any]:
    """The call of a function with the arguments of a model.

    Raises:
        TypeError: an argument is missing, or is not one of the function's.
    """
    signature = inspect.signature(function)
    try:
        bound = signature.bind(**arguments)
    except TypeError as error:
        raise TypeError(f"{function.__name__}: {error}") from None
    for parameter, hint in _parameters(function):
        if parameter.name in bound.arguments:
            bound.arguments[parameter.name] = convert(bound.arguments[parameter.name], hint)
    return functools.partial(function, *bound.args, **bound.kwargs)


def schema_of(hint: Any) -> Schema:
    """The JSON Schema of a type; `{}`, which allows all, for what has none."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is not None and hasattr(hint, "__metadata__"):
        notes = [note for note in hint.__metadata__ if isinstance(note, str)]
        return {**schema_of(arguments[0]), **({"description": notes[0]} if notes else {})}
    if hint in _PLAIN:
        return {"type": _PLAIN[hint]}
    if origin is typing.Literal:
        return _choice(arguments)
    if _is_union(origin):
        return _union(arguments)
    name = getattr(origin or hint, "__name__", "")
    if name in _LISTS:
        items = schema_of(arguments[0]) if arguments else {}
        return {"type": "array", **({"items": items} if items else {})}
    if name in _OBJECTS:
        values = schema_of(arguments[1]) if len(arguments) == 2 else {}
        return {"type": "object", **({"additionalProperties": values} if values else {})}
    if isinstance(hint, type):
        return _class(hint)
    return {}


def convert(value: Any, hint: Any) -> Any:
    """A JSON value as the type that the function wants: dataclasses, enums and pydantic models are built."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is not None and hasattr(hint, "__metadata__"):
        return convert(value, arguments[0])
    if _is_union(origin):
        wanted = [option for option in arguments if option is not type(None)]
        return convert(value, wanted[0]) if len(wanted) == 1 and value is not None else value
    name = getattr(origin, "__name__", "")
    if name in _LISTS and arguments and isinstance(value, list):
        items = [convert(item, arguments[0]) for item in value]
        return origin(items) if origin in (tuple, set, frozenset) else items
    if name in _OBJECTS and len(arguments) == 2 and isinstance(value, dict):
        return {key: convert(item, arguments[1]) for key, item in value.items()}
    if not isinstance(hint, type):
        return value
    if hasattr(hint, "model_validate"):
        return hint.model_validate(value)
    if issubclass(hint, enum.Enum):
        return hint(value)
    if dataclasses.is_dataclass(hint) and isinstance(value, dict):
        hints = _hints(hint)
        return hint(**{key: convert(item, hints.get(key)) for key, item in value.items()})
    return value


def read_docstring(text: str) -> tuple[str, dict[str, str]]:
    """What a docstring says of the function, and of each parameter."""
    about: list[str] = []
    texts: dict[str, list[str]] = {}
    lines = text.splitlines()
    inside, current = "about", ""
    for number, line in enumerate(lines):
        bare = line.strip()
        below = lines[number + 1].strip() if number + 1 < len(lines) else ""
        sphinx = _SPHINX.match(bare)
        if sphinx:
            inside, current = "sphinx", sphinx.group(1)
            texts[current] = [sphinx.group(2)]
        elif bare.startswith(":") and inside in ("sphinx", "about") and re.match(r"^:\w+", bare):
            inside = "other"
        elif _GOOGLE.match(bare):
            inside = "google"
        elif bare and re.match(r"^-{3,}$", below):
            inside = "numpy" if bare.lower() in ("parameters", "other parameters") else "other"
        elif _SECTION.match(bare) and line == bare:
            inside = "other"
        elif inside == "about":
            about.append(line)
        elif inside in ("google", "numpy", "sphinx") and bare and not re.match(r"^-{3,}$", bare):
            current = _read_parameter(line, bare, inside, current, texts)
    described = {name: " ".join(" ".join(parts).split()) for name, parts in texts.items()}
    return "\n".join(about).strip(), {name: said for name, said in described.items() if said}


def _read_parameter(line: str, bare: str, style: str, current: str, texts: dict[str, list[str]]) -> str:
    """Take one line of a parameters section; the parameter that it belongs to."""
    found = None
    if style == "google" and not line.startswith("        "):
        found = re.match(r"^\*{0,2}(\w+)\s*(?:\([^)]*\))?\s*:\s*(.*)$", bare)
    elif style == "numpy" and line == bare:
        found = re.match(r"^\*{0,2}(\w+)()\s*(?::.*)?$", bare)
    if found:
        texts[found.group(1)] = [found.group(2)]
        return found.group(1)
    if current:
        texts[current].append(bare)
    return current


def _parameters(function: Callable[..., Any]) -> list[tuple[inspect.Parameter, Any]]:
    """Each named parameter and its type; `Any` where it has none that can be known."""
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    hints = _hints(inspect.unwrap(function))
    parameters = inspect.signature(function).parameters.values()
    return [(each, hints.get(each.name, Any)) for each in parameters if each.kind not in kinds]


def _hints(owner: Any) -> dict[str, Any]:
    """The annotations, evaluated one by one: one that this Python cannot read leaves the others."""
    names = dict(vars(sys.modules.get(owner.__module__, typing)))
    hints = {}
    for base in reversed(owner.__mro__) if isinstance(owner, type) else (owner,):
        for name, hint in dict(getattr(base, "__annotations__", None) or {}).items():
            hint = getattr(hint, "__forward_arg__", hint)
            if isinstance(hint, str):
                try:
                    hint = eval(hint, names)
                except Exception:
                    hint = Any
            hints[name] = hint
    return hints


def _is_union(origin: Any) -> bool:
    return origin is typing.Union or getattr(origin, "__name__", "") == "UnionType"


def _union(options: tuple[Any, ...]) -> Schema:
    schemas = [schema_of(option) for option in options]
    if all(set(schema) == {"type"} and isinstance(schema["type"], str) for schema in schemas):
        return {"type": [schema["type"] for schema in schemas]}
    return {"anyOf": schemas}


def _choice(values: typing.Iterable[Any]) -> Schema:
    values = list(values)
    kinds = {_PLAIN.get(type(value)) for value in values}
    kind = kinds.pop() if len(kinds) == 1 else None
    return {**({"type": kind} if kind else {}), "enum": values}


def _class(kind: type) -> Schema:
    if hasattr(kind, "model_json_schema"):
        return dict(kind.model_json_schema())
    if issubclass(kind, enum.Enum):
        return _choice(member.value for member in kind)
    if kind.__module__ == "datetime" and kind.__name__ in _DATES:
        return {"type": "string", "format": _DATES[kind.__name__]}
    if dataclasses.is_dataclass(kind):
        needed = [
            field.name
            for field in dataclasses.fields(kind)
            if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        ]
        return _object(kind, needed)
    if hasattr(kind, "__required_keys__"):
        return _object(kind, [name for name in _hints(kind) if name in kind.__required_keys__])
    return {}


def _object(kind: type, required: list[str]) -> Schema:
    properties = {name: schema_of(hint) for name, hint in _hints(kind).items()}
    schema: Schema = {"type": "object", "properties": properties}
    return {**schema, "required": required} if required else schema


def _is_json(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return all(map(_is_json, value))
    return value is None or isinstance(value, (str, int, float, bool))
