"""Text with a row's fields in it: `Solve: {question}`; `{{` and `}}` stand for braces."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from agentscope_tui.datasets.fields import NoField, is_missing, lookup
from agentscope_tui.datasets.task import RowProblem
from agentscope_tui.errors import UsageError

_PIECE = re.compile(r"(?P<text>(?:[^{}]|\{\{|\}\})+)|\{(?P<field>[^{}]+)\}")


@dataclass(frozen=True)
class Template:
    """`pieces` are literal texts and, in the odd places, dotted paths of fields."""

    text: str
    pieces: tuple[str, ...]

    @classmethod
    def parse(cls, text: str, origin: str) -> Template:
        """The template in `text`; `origin` is the flag or setting, for the message.

        Raises:
            UsageError: braces that do not pair, or empty ones; says where.
        """
        pieces = [""]
        place = 0
        while place < len(text):
            found = _PIECE.match(text, place)
            if found is None or (found["field"] is not None and not found["field"].strip()):
                raise UsageError(
                    f"{origin}: the {text[place]!r} at column {place + 1} is no {{field}}: "
                    f"write {text[place] * 2} for a brace"
                )
            if found["field"] is not None:
                pieces += [found["field"].strip(), ""]
            else:
                pieces[-1] += found["text"].replace("{{", "{").replace("}}", "}")
            place = found.end()
        return cls(text, tuple(pieces))

    @property
    def fields(self) -> tuple[str, ...]:
        """The dotted paths, in order."""
        return self.pieces[1::2]

    def fill(self, row: Mapping[str, Any], show: Callable[[str, Any], str]) -> str:
        """The text for a row; `show` makes a field's value text.

        Raises:
            RowProblem: a field is missing or null.
        """
        filled = list(self.pieces)
        for place, path in enumerate(self.fields):
            try:
                value = lookup(row, path)
            except NoField as missing:
                raise RowProblem(f"'{self.text}': {missing}") from None
            if is_missing(value):
                raise RowProblem(f"'{path}' cannot be null")
            filled[2 * place + 1] = show(path, value)
        return "".join(filled)
