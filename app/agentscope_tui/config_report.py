"""The settings in force as YAML, each value with a comment that says where it came from."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

from agentscope_tui import setting_paths as schema
from agentscope_tui.config import Config, Value
from agentscope_tui.printable import printable

_PLAIN = re.compile(r"[A-Za-z][\w./-]*(:[\w./-]+)*", re.ASCII)
_YAML_WORDS = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n"})
_MASK = '"***"'


def report(config: Config) -> str:
    """YAML that `agentscope.yaml` could hold, in the order of the defaults; keys are masked."""
    return "\n".join(_lines(config.values, 0)) + "\n"


def _lines(values: Mapping[schema.Path, Value], depth: int) -> Iterator[str]:
    groups: dict[str, dict[schema.Path, Value]] = {}
    for path, value in values.items():
        groups.setdefault(path[depth], {})[path] = value
    for name, group in groups.items():
        key = "  " * depth + _in_yaml(name)
        deeper = {path: value for path, value in group.items() if len(path) > depth + 1}
        if deeper:
            yield f"{key}:"
            yield from _lines(deeper, depth + 1)
            continue
        (path, value), *_ = group.items()
        secret = schema.only_in_user_file(path) and value.value is not None
        yield f"{key}: {_MASK if secret else _in_yaml(value.value)}  # {printable(value.origin)}"


def _in_yaml(value: object) -> str:
    match value:
        case str() if _PLAIN.fullmatch(value) and value.lower() not in _YAML_WORDS:
            return value
        case str():
            return '"' + printable(value.replace("\\", "\\\\").replace('"', '\\"')) + '"'
        case list():
            return f"[{', '.join(_in_yaml(item) for item in value)}]"
        case _:
            return json.dumps(value)
