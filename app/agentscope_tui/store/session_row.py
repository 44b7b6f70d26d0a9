"""One session as the run index has it: plain values, and the names by which filters ask for them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from agentscope_tui.datasets.expression import ROW, Expression, ExpressionError
from agentscope_tui.session.tally import Word
from agentscope_tui.store.folders import read_meta
from agentscope_tui.store.housekeeping import size_of
from agentscope_tui.store.summary import Summary

CUT_OFF = "cut off"
"""The state of a session that no process runs, and that did not end."""
_LARGEST = 2**63 - 1


@dataclass(frozen=True, slots=True)
class SessionRow:
    """Times are in seconds as `time.time()` gives them, sizes in bytes, costs in US dollars.

    `model` is the last one, `outcome` the last turn's; `row` is an index, `parent` the id of the session that
    this one was forked from. What is not known is empty or None: the end and size of a session that runs.
    """

    id: str
    name: str
    dataset: str
    identity: str
    row: int | None
    model: str
    agent: str
    status: Literal["running", "ended", "failed", "cut off"]
    state: Word | Literal["cut off"]
    outcome: str
    calls: int
    input_tokens: int
    output_tokens: int
    cost: float | None
    reward: float | None
    created: float
    ended: float | None
    parent: str
    parent_call: int | None
    change: str
    prompt: str
    size: int | None
    metrics: str = "{}"
    """What else the graders gave, by name: a JSON object."""

    @property
    def numbers(self) -> dict[str, float]:
        """The metrics."""
        found: dict[str, float] = json.loads(self.metrics)
        return found

    @property
    def tokens(self) -> int:
        """Those in and those out."""
        return self.input_tokens + self.output_tokens

    @property
    def when(self) -> datetime:
        """When it began, in the user's time."""
        return datetime.fromtimestamp(self.created, UTC).astimezone()

    # As the fields of a filter expression

    def fact(self, name: str) -> Any:
        """One of `expression.FACTS`."""
        match name:
            case "index":
                return self.row
            case "duration":
                return None if self.ended is None else self.ended - self.created
            case "state" | "prompt" | "calls" | "tokens" | "reward":
                return getattr(self, name)
            case _:
                return None

    def metric(self, name: str) -> float | None:
        """A number that graders gave beside the reward."""
        return self.numbers.get(name)

    def column(self, path: str) -> Any:
        """The value with this name; for "" the row's index, which is what `row` means here."""
        return getattr(self, path or "row") if path in _NAMES or not path else None


COLUMNS: Mapping[str, str] = {
    field.name: "REAL" if "float" in str(field.type) else "INTEGER" if "int" in str(field.type) else "TEXT"
    for field in fields(SessionRow)
}
"""The columns of the table, in order, and SQLite's types for them."""
_NAMES = frozenset({*COLUMNS, "tokens"})


def check_names(expression: Expression) -> None:
    """See that a filter of sessions asks for what they have.

    Raises:
        ExpressionError: it names something else; says what there is.
    """
    if unknown := sorted(expression.columns - _NAMES):
        known = ", ".join(sorted({*_NAMES, "duration", ROW}))
        raise ExpressionError(f"sessions have no {unknown[0]}: there are {known}")


def values_of(folder: Path, summary: Summary, *, is_live: bool) -> Sequence[object]:
    """The values of `COLUMNS` for the session in a folder, which a process still writes or does not."""
    tally, meta = summary.tally, read_meta(folder)
    status = tally.status if summary.is_over else "running" if is_live else CUT_OFF
    return [
        folder.name,
        _text(meta.get("name")),
        _text(meta.get("dataset")) or summary.dataset,
        _text(meta.get("dataset_identity")),
        _whole(summary.row),
        tally.model,
        summary.agent,
        status,
        CUT_OFF if status == CUT_OFF else tally.word,
        tally.outcome or "",
        _whole(tally.call),
        _whole(tally.input_tokens),
        _whole(tally.output_tokens),
        tally.cost,
        tally.reward,
        _seconds(summary.created) or 0.0,
        None if status == "running" else _seconds(summary.newest),
        summary.parent,
        _whole(summary.parent_call),
        summary.change,
        summary.prompt,
        None if is_live else size_of(folder),
        json.dumps(tally.metrics),
    ]


def row_of(values: Sequence[Any]) -> SessionRow:
    """The session with these values, in the order of `COLUMNS`; more may follow them."""
    return SessionRow(*values[: len(COLUMNS)])


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _whole(value: int | None) -> int | None:
    """A number that SQLite can keep."""
    return None if value is None else max(-_LARGEST, min(value, _LARGEST))


def _seconds(at: datetime | None) -> float | None:
    if at is None:
        return None
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
