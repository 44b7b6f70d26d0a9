"""One line of a JSON lines file: bytes to an object, or the reason why not."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from agentscope_tui.datasets.task import RowProblem


def parse_row(line: bytes, number: int, *, cut_off: bool) -> dict[str, Any]:
    """The object in a line of the file.

    `number` is the line's, for the message; `cut_off` says that the file ends without a line end here.
    NaN and Infinity, which many writers let through, are taken as they are. Halves of surrogate pairs
    become U+FFFD: nothing could encode them later.

    Raises:
        RowProblem: not UTF-8, not JSON, not an object, or a key that is there twice.
    """
    try:
        value = json.loads(line.decode("utf-8"), object_pairs_hook=_object)
        if b"\\ud" in line or b"\\uD" in line:
            value = _well_formed(value)
    except UnicodeDecodeError as error:
        raise RowProblem(f"not UTF-8: byte 0x{line[error.start]:02x} at column {error.start + 1}") from None
    except json.JSONDecodeError as error:
        hint = " (the file ends in the middle of this line)" if cut_off else ""
        raise RowProblem(
            f"invalid JSON at line {number}: {error.msg} at column {error.pos + 1}{hint}"
        ) from None
    except RecursionError:
        raise RowProblem(f"invalid JSON at line {number}: nested too deeply") from None
    except ValueError:
        # What is left is Python's own limit on the digits of a whole number.
        raise RowProblem(f"invalid JSON at line {number}: a number with too many digits") from None
    if not isinstance(value, dict):
        raise RowProblem(f"expected an object, got {_kind(value)}")
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        (twice, _), *_ = Counter(key for key, _ in pairs).most_common(1)
        raise RowProblem(f"the key {twice!r} is there twice")
    return value


def _well_formed(value: Any) -> Any:
    match value:
        case str():
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        case dict():
            return {_well_formed(key): _well_formed(item) for key, item in value.items()}
        case list():
            return [_well_formed(item) for item in value]
        case _:
            return value


def _kind(value: object) -> str:
    return {list: "a list", str: "a string", type(None): "null"}.get(type(value), "a number or a truth value")
