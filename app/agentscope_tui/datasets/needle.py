"""A text that rows are searched for, and where in a row it is looked for."""

from __future__ import annotations

from typing import Any


class Needle:
    """Case counts when the text has capitals; where it does not, `text` is folded."""

    def __init__(self, text: str) -> None:
        self.fold = text == text.lower()
        self.text = text.casefold() if self.fold else text

    def is_in(self, value: Any) -> bool:
        """Whether any text or number in a JSON value has it; keys are not looked at."""
        # No `match` and no generators: many rows of a large file come through here.
        kind = type(value)
        if kind is str:
            return self.text in (value.casefold() if self.fold else value)
        if kind is dict:
            value = value.values()
        elif kind is not list:
            return kind is not bool and value is not None and self.text in str(value)
        for item in value:  # noqa: SIM110
            if self.is_in(item):
                return True
        return False
