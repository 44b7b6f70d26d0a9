"""Reading a settings file: YAML, with errors of one line that say where."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from agentscope_tui.errors import UsageError, UserError

_LARGEST = 1 << 20
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_settings_file(file: Path) -> tuple[Mapping[Any, object], bytes] | None:
    """The sections in `file` and its bytes; None where there is no such file.

    Raises:
        UserError: it cannot be read.
        UsageError: it is not a YAML mapping.
    """
    try:
        if not file.exists():
            return None
        if not file.is_file():
            raise UserError(f"{file} is not a regular file: move it away or make it a settings file")
        with file.open("rb") as stream:
            content = stream.read(_LARGEST + 1)
    except OSError as error:
        raise UserError(f"cannot read {file}: {error.strerror}") from error
    if len(content) > _LARGEST:
        raise UsageError(f"{file} is larger than 1 MiB, too large for a settings file")
    tree = parse_yaml(content, str(file))
    if tree is None:
        return {}, content
    if not isinstance(tree, Mapping):
        raise UsageError(f"{file}: sections like `model:` were expected, not {type(tree).__name__}")
    return tree, content


def parse_yaml(text: str | bytes, origin: str) -> object:
    """The value of one YAML document.

    Raises:
        UsageError: not YAML; names `origin`, line and column.
    """
    try:
        return yaml.load(text, _Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        raise UsageError(f"{origin}: not valid YAML: {where}{error.problem}") from None
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        reason = str(error).splitlines()[0] if str(error) else "nested too deeply"
        raise UsageError(f"{origin}: not valid YAML: {reason}") from None
