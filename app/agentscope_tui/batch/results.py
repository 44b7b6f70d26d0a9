"""What came of each rollout of a run: one line of `results.jsonl` each, appended as they end."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agentscope_tui.events import TurnOutcome

RESULTS = "results.jsonl"

Key = tuple[int, int]
"""A row's index, and the number of the rollout, from 0."""


class RolloutResult(BaseModel):
    """One rollout: a session on a row, from its start to its end.

    `done`: the turn completed, and its grader, if there is one, gave a reward. `stopped`: it was cut off, by
    the user or with the whole run, which tells nothing of the agent. `failed`: all else; `error` says why.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    row: int
    rollout: int = 0
    state: Literal["done", "failed", "stopped"]
    session: str = ""
    """The name of its folder among the run's sessions; empty: it was not opened."""
    outcome: TurnOutcome | None = None
    reward: float | None = None
    metrics: dict[str, float] = Field(default_factory=dict)
    answer: str | None = None
    error: str = ""
    code: str = ""
    """The kind of a model's error, as in `ErrorOccurred`."""
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None
    seconds: float = 0.0
    ended: datetime | None = None

    @property
    def key(self) -> Key:
        return self.row, self.rollout


def read_results(folder: Path) -> dict[Key, RolloutResult]:
    """The newest result of each rollout. A line that was cut off, or is none, is left out: it is run again.

    Raises:
        OSError: the file is there and cannot be read.
    """
    try:
        data = (folder / RESULTS).read_bytes()
    except FileNotFoundError:
        return {}
    return {result.key: result for result in _parsed(data.splitlines())}


def _parsed(lines: Iterable[bytes]) -> Iterable[RolloutResult]:
    for line in lines:
        try:
            yield RolloutResult.model_validate_json(line)
        except ValidationError:
            continue
