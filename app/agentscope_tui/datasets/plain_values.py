"""Values of columnar files as JSON has them."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa


def plain_types(schema: pa.Schema) -> bool:
    """Whether every value of these columns is already one that JSON has."""
    return all(_is_plain(field.type) for field in schema)


def plain(value: Any) -> Any:
    """The value as JSON has it: times as ISO 8601, decimals as text, bytes as UTF-8 or else base64."""
    match value:
        case None | bool() | int() | float() | str():
            return value
        case bytes():
            return _text(value)
        case Mapping():
            return {str(key): plain(item) for key, item in value.items()}
        case list() | tuple():
            return [plain(item) for item in value]
        case _:
            return value.isoformat() if hasattr(value, "isoformat") else str(value)


def _text(value: bytes) -> str:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return base64.b64encode(value).decode("ascii")


def _is_plain(kind: pa.DataType) -> bool:
    import pyarrow as pa

    types = pa.types
    if types.is_struct(kind):
        return all(_is_plain(field.type) for field in kind)
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        return _is_plain(kind.value_type)
    return bool(
        types.is_string(kind)
        or types.is_large_string(kind)
        or types.is_integer(kind)
        or types.is_floating(kind)
        or types.is_boolean(kind)
        or types.is_null(kind)
    )
