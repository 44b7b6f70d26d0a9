"""The results of a run's folder as a report needs them: what is long of them stays in the file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter, ValidationError

from agentscope_tui.batch.results import RESULTS, Key, RolloutResult
from agentscope_tui.errors import UserError

Figure = Annotated[float, Field(gt=-1e100, lt=1e100, allow_inf_nan=False)]
"""A number whose square is one too; a line with another is no result."""
_TOLD_EVERY = 2_000
"""Lines between two tellings of how far it is."""


@dataclass(frozen=True, slots=True)
class Rollout:
    """A `RolloutResult` without its texts that may be long."""

    row: int
    state: Literal["done", "failed", "stopped"]
    rollout: int = 0
    session: str = ""
    reward: Figure | None = None
    metrics: Mapping[str, Figure] = field(default_factory=dict)
    error: str = ""
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: Figure | None = None
    seconds: Figure = 0.0

    @property
    def key(self) -> Key:
        return self.row, self.rollout

    @property
    def graded(self) -> float | None:
        """The reward, where it counts: of a rollout that is done."""
        return self.reward if self.state == "done" else None


class Results:
    """The newest result of each rollout, in the order of rows."""

    def __init__(self, folder: Path, tell: Callable[[int, int], None] = lambda done, of: None) -> None:
        """Reads `results.jsonl`, and tells how many bytes of how many it has read. Lines that were cut off,
        or are none, are left out.

        Raises:
            UserError: it cannot be read.
        """
        self._path = folder / RESULTS
        self._places: dict[Key, int] = {}
        newest: dict[Key, Rollout] = {}
        adapter = TypeAdapter(Rollout)
        place = 0
        try:
            size = self._path.stat().st_size
            with self._path.open("rb") as file:
                for number, line in enumerate(file):
                    try:
                        rollout = adapter.validate_json(line)
                    except ValidationError:
                        pass
                    else:
                        newest[rollout.key] = rollout
                        self._places[rollout.key] = place
                    place += len(line)
                    if number % _TOLD_EVERY == 0:
                        tell(place, size)
        except FileNotFoundError:
            pass
        except OSError as error:
            raise UserError(f"cannot read {self._path}: {error.strerror}") from error
        self.rollouts: Sequence[Rollout] = [newest[key] for key in sorted(newest)]

    def whole(self, keys: Iterator[Key]) -> Iterator[RolloutResult]:
        """The results with all that is known of them, read one by one.

        Raises:
            UserError: the file is not what it was.
        """
        try:
            with self._path.open("rb") as file:
                for key in keys:
                    file.seek(self._places[key])
                    yield RolloutResult.model_validate_json(file.readline())
        except (OSError, ValidationError) as error:
            raise UserError(f"{self._path} has changed since it was read: {error}") from error
