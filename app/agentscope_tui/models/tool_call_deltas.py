"""Putting streamed tool calls together, in every dialect that servers speak.

Meant is: a piece names its call by `index`, and only the first piece has id and name. Servers leave the
index out, or give 0 to all; repeat the name, or split it; send no id, or a new one in each piece; write
arguments a token at a time, whole, as an object, or not at all.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from agentscope_tui.models.chat import ToolCallDelta, ToolCallPart


class ToolCallReader:
    """The tool calls of one completion. Calls are numbered from 0 in the order they began."""

    def __init__(self) -> None:
        self._calls: list[_Call] = []

    def add(self, pieces: list[Any]) -> tuple[ToolCallDelta, ...]:
        """Take the `tool_calls` of one chunk; what each adds, without what only repeats."""
        seen: list[_Call] = []
        deltas: list[ToolCallDelta] = []
        for value in pieces:
            piece = _read_piece(value)
            if piece is None:
                continue
            call = self._find(piece, seen)
            if call is None:
                call = _Call(len(self._calls), piece.index)
                self._calls.append(call)
            seen.append(call)
            delta = call.add(piece)
            if delta is not None:
                deltas.append(delta)
        return tuple(deltas)

    def parts(self) -> tuple[ToolCallPart, ...]:
        """The calls as they stand. One without an id gets `call_1`, `call_2` ... by its place."""
        return tuple(call.part() for call in self._calls)

    def _find(self, piece: _Piece, seen: list[_Call]) -> _Call | None:
        """The call that a piece belongs to; None: it begins a new one."""
        calls = [call for call in self._calls if piece.index is None or call.index == piece.index]
        if not calls:
            return None
        last = calls[-1]
        if piece.id:
            same = next((call for call in calls if call.id == piece.id), None)
            return same or (None if piece.name and last.id else last)
        if piece.index is None and piece.name and (last in seen or last.is_whole()):
            return None
        return last


@dataclass(frozen=True)
class _Piece:
    index: int | None
    id: str
    name: str
    arguments: str
    extra: dict[str, Any]


@dataclass(eq=False)
class _Call:
    place: int
    index: int | None
    id: str = ""
    name: str = ""
    arguments: str = ""
    extra: dict[str, Any] = field(default_factory=dict)

    def add(self, piece: _Piece) -> ToolCallDelta | None:
        new_id = "" if self.id else piece.id
        # A name that comes after the arguments began, or again as it was, is a repetition.
        new_name = "" if self.arguments or piece.name == self.name else piece.name
        self.id += new_id
        self.name += new_name
        self.arguments += piece.arguments
        self.extra.update(piece.extra)
        if not (new_id or new_name or piece.arguments):
            return None
        return ToolCallDelta(index=self.place, id=new_id, name=new_name, arguments=piece.arguments)

    def is_whole(self) -> bool:
        try:
            return isinstance(json.loads(self.arguments), dict)
        except (ValueError, RecursionError):
            return False

    def part(self) -> ToolCallPart:
        return ToolCallPart.model_validate(
            {
                **self.extra,
                "id": self.id or f"call_{self.place + 1}",
                "function": {"name": self.name, "arguments": self.arguments},
            }
        )


def _read_piece(value: Any) -> _Piece | None:
    if not isinstance(value, dict):
        return None
    function = value.get("function")
    function = function if isinstance(function, dict) else {}
    index, arguments = value.get("index"), function.get("arguments")
    return _Piece(
        index=index if isinstance(index, int) else None,
        id=_string(value.get("id")),
        name=_string(function.get("name")),
        arguments=json.dumps(arguments) if isinstance(arguments, dict | list) else _string(arguments),
        # Fields of a provider's own, such as a signature, go back to it with the call.
        extra={name: item for name, item in value.items() if name not in _KNOWN},
    )


_KNOWN = frozenset({"index", "id", "type", "function"})


def _string(value: Any) -> str:
    return value if isinstance(value, str) else ""
