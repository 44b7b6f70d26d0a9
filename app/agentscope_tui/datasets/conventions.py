"""The columns that hold a task by convention: found in the first rows where nobody names them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

CONVENTIONS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "user_prompt": ("user_prompt", "prompt", "question", "input", "instruction", "problem", "messages"),
        "system_prompt": ("system_prompt", "system"),
        "ground_truth": ("ground_truth", "answer", "label", "target", "expected"),
    }
)
"""For each part of a task, names of columns; an earlier one wins."""

ANSWERS = frozenset(CONVENTIONS["ground_truth"])

_MOST_BLANK = 0.25
"""A column that is blank in a larger part of the rows is not what they ask: it adds to another one that is,
as `input` does to `instruction`."""


def guess(part: str, sample: Sequence[Mapping[str, Any]]) -> str | None:
    """The column of these rows that holds a part of the task; None: none has a conventional name.

    A name in the conventional case wins over one in another case.
    """
    there = dict.fromkeys(column for row in sample for column in row)
    names = CONVENTIONS[part]
    exact = [name for name in names if name in there]
    similar = [column for name in names for column in there if column.lower() == name]
    found = list(dict.fromkeys([*exact, *similar]))
    if part == "user_prompt" and part not in found:
        found = [column for column in found if _is_filled(column, sample)] or found
    return found[0] if found else None


def _is_filled(column: str, sample: Sequence[Mapping[str, Any]]) -> bool:
    blank = sum(1 for row in sample if _is_blank(row.get(column)))
    return blank <= _MOST_BLANK * len(sample)


def _is_blank(value: object) -> bool:
    return not value or (isinstance(value, str) and not value.strip())
