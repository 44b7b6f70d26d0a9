"""Two runs beside each other: rows matched by their index, and how the right one differs from the left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from agentscope_tui.batch.run_folder import RunInfo
from agentscope_tui.report.measures import Measure
from agentscope_tui.report.run import PassAt, Row, Run
from agentscope_tui.report.statistics import Paired, paired


@dataclass(frozen=True, slots=True)
class Change:
    """A row whose mean reward is another one: `difference` is right less left."""

    left: Row
    right: Row
    difference: float

    @property
    def index(self) -> int:
        return self.left.index

    @property
    def flipped(self) -> bool:
        """Whether it passes in one run, by most of its rollouts, and not in the other."""
        return self.left.passes != self.right.passes

    @property
    def mark(self) -> str:
        if self.flipped:
            return "passes now" if self.right.passes else "passes no more"
        return "better" if self.difference > 0 else "worse"


class Pair:
    """Two runs, read, and what differs between them."""

    def __init__(self, left: Run, right: Run) -> None:
        self.left = left
        self.right = right
        others = {row.index: row for row in right.rows}
        self.rows: Sequence[tuple[Row, Row]] = [
            (row, others[row.index]) for row in left.rows if row.index in others
        ]
        """The rows that both have."""

    @property
    def same_dataset(self) -> bool:
        return self.left.info.dataset_identity == self.right.info.dataset_identity

    @property
    def graded_alike(self) -> bool:
        """Whether both were graded again by the same grader at last, or neither was."""
        last = [run.info.regraded[-1] if run.info.regraded else {} for run in (self.left, self.right)]
        left, right = ([one.get("grader"), one.get("judge")] for one in last)
        return left == right

    @property
    def settings(self) -> Sequence[str]:
        """What was run otherwise, in words, but for the dataset."""
        return _but_dataset(self.right.info).differences(_but_dataset(self.left.info))

    @property
    def alone(self) -> tuple[int, int]:
        """How many rows only the left one has, and only the right one."""
        return len(self.left.rows) - len(self.rows), len(self.right.rows) - len(self.rows)

    @cached_property
    def ungraded(self) -> tuple[Sequence[int], Sequence[int]]:
        """The rows of both that have a reward only in the left run, and only in the right one."""
        left = [a.index for a, b in self.rows if a.mean is not None and b.mean is None]
        right = [a.index for a, b in self.rows if a.mean is None and b.mean is not None]
        return left, right

    @cached_property
    def measures(self) -> Sequence[tuple[Measure, Paired]]:
        """What both measured, with its difference over the rows that have it in both."""
        known = {measure.name for measure in self.right.measures}
        found = []
        for measure in self.left.measures:
            if measure.name in known and (one := paired(self._pairs(measure))) is not None:
                found.append((measure, one))
        return found

    def _pairs(self, measure: Measure) -> list[tuple[float, float]]:
        return [
            (a, b)
            for left, right in self.rows
            if (a := left.figure(measure)) is not None and (b := right.figure(measure)) is not None
        ]

    @cached_property
    def reward(self) -> Paired | None:
        """The rows' mean rewards."""
        return paired([(a.mean, b.mean) for a, b in self.rows if a.mean is not None and b.mean is not None])

    @cached_property
    def changes(self) -> Sequence[Change]:
        """The rows with another mean reward: those that got worse first, the most first."""
        found = [
            Change(left, right, right.mean - left.mean)
            for left, right in self.rows
            if left.mean is not None and right.mean is not None and left.mean != right.mean
        ]
        return sorted(found, key=lambda change: (change.difference, change.index))

    @cached_property
    def failures(self) -> tuple[int, int]:
        """Rollouts that failed, of the rows that both have."""
        return sum(left.failed for left, _ in self.rows), sum(right.failed for _, right in self.rows)

    @property
    def pass_at(self) -> Sequence[tuple[PassAt, PassAt]]:
        """For each k that both know; each run's is of all its rows."""
        known = {one.k: one for one in self.right.pass_at}
        return [(one, known[one.k]) for one in self.left.pass_at if one.k in known]


def _but_dataset(info: RunInfo) -> RunInfo:
    """Without the dataset; the model's name is a setting too, and told once."""
    settings = {name: value for name, value in info.settings.items() if name != "model.name"}
    return replace(info, dataset_identity="", settings=settings)
