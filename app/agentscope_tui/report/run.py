"""One run as a report sees it: its rows with their rollouts, and what they come to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from pathlib import Path

from agentscope_tui.batch.run_folder import SESSIONS, RunInfo, read_run
from agentscope_tui.errors import UserError
from agentscope_tui.report.bins import Bin, bins_of
from agentscope_tui.report.measures import REWARD, Measure, measures_of
from agentscope_tui.report.reading import Results, Rollout
from agentscope_tui.report.statistics import Interval, Spread, share_interval, spread
from agentscope_tui.session.rollouts import pass_at

LAST = "last"
"""The newest run."""
_EVERY_K = 16
"""Up to this number of rollouts pass@k is had for each k, beyond for powers of two."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row with its rollouts, in their order."""

    index: int
    rollouts: Sequence[Rollout]
    mean: float | None
    """Of the rewards; None without any."""
    graded: int
    passed: int

    @property
    def failed(self) -> int:
        return sum(rollout.state == "failed" for rollout in self.rollouts)

    @property
    def passes(self) -> bool:
        """Whether most of its rollouts passed."""
        return self.passed * 2 > self.graded

    def figure(self, measure: Measure) -> float | None:
        """The mean over the rollouts that have one."""
        values = self.figures(measure)
        return sum(values) / len(values) if values else None

    def figures(self, measure: Measure) -> list[float]:
        return [value for one in self.rollouts if (value := measure.of(one)) is not None]

    @property
    def worst(self) -> Rollout:
        """The rollout to look at first: one that failed, else the least reward; one that was stopped last."""
        order = {"failed": 0, "done": 1, "stopped": 2}
        return min(self.rollouts, key=lambda one: (order[one.state], one.reward or 0.0))

    @property
    def best(self) -> Rollout:
        """The greatest reward of those that are done, if any is."""
        return max(self.rollouts, key=lambda one: (one.state == "done", one.reward or 0.0))


@dataclass(frozen=True, slots=True)
class PassAt:
    """The chance that one of `k` rollouts passes, the mean over the `rows` that have so many."""

    k: int
    chance: float
    rows: int


class Run:
    """A run's folder, read. A rollout passes whose reward is at least `passes`."""

    def __init__(self, folder: Path, info: RunInfo, results: Results, passes: float) -> None:
        self.folder = folder
        self.info = info
        self.results = results
        self.passes = passes
        self.rollouts = results.rollouts
        self.rows: Sequence[Row] = [
            self._row(index, [*rollouts])
            for index, rollouts in groupby(self.rollouts, key=lambda rollout: rollout.row)
        ]
        self.states: Counter[str] = Counter(rollout.state for rollout in self.rollouts)
        self.measures = measures_of(self.rollouts)

    def _row(self, index: int, rollouts: Sequence[Rollout]) -> Row:
        rewards = [reward for one in rollouts if (reward := one.graded) is not None]
        mean = sum(rewards) / len(rewards) if rewards else None
        return Row(index, rollouts, mean, len(rewards), sum(reward >= self.passes for reward in rewards))

    @property
    def most_rollouts(self) -> int:
        """Rollouts of the row that has most of them."""
        return max((len(row.rollouts) for row in self.rows), default=0)

    @cached_property
    def spreads(self) -> dict[str, Spread]:
        """By the name of their measure, those that there are figures of."""
        found = {
            measure.name: spread([row.figures(measure) for row in self.rows]) for measure in self.measures
        }
        return {name: one for name, one in found.items() if one is not None}

    @property
    def reward(self) -> Spread | None:
        return self.spreads.get(REWARD)

    @cached_property
    def interval(self) -> tuple[Interval, str] | None:
        """Where the mean reward lies with 95 % confidence, and the name of the method."""
        rewards = [row.mean for row in self.rows if row.mean is not None]
        if rewards and all(reward in (0, 1) for reward in rewards) and self.most_rollouts == 1:
            return share_interval(sum(map(int, rewards)), len(rewards)), "Wilson"
        if self.reward is None or self.reward.interval is None:
            return None
        return self.reward.interval, "Student's t"

    @cached_property
    def failed_as_nothing(self) -> float | None:
        """The mean reward if those that failed had got 0; None where that changes nothing."""
        if self.reward is None or not self.states["failed"]:
            return None
        means = [
            row.mean * row.graded / (row.graded + row.failed) if row.mean is not None else 0.0
            for row in self.rows
            if row.graded + row.failed
        ]
        return sum(means) / len(means)

    @cached_property
    def pass_at(self) -> Sequence[PassAt]:
        """For each k up to the most rollouts that a row has a reward of."""
        counts = Counter((row.graded, row.passed) for row in self.rows if row.graded)
        most = max((graded for graded, _ in counts), default=0)
        every = range(1, most + 1) if most <= _EVERY_K else {*_powers(most), most}
        found = []
        for k in sorted(every):
            enough = {key: rows for key, rows in counts.items() if key[0] >= k}
            rows = sum(enough.values())
            chance = sum(pass_at(graded, passed, k) * n for (graded, passed), n in enough.items()) / rows
            found.append(PassAt(k, chance, rows))
        return found

    def bins(self, measure: Measure) -> Sequence[Bin]:
        """How the figures of the rollouts are spread."""
        return bins_of([value for one in self.rollouts if (value := measure.of(one)) is not None])

    @cached_property
    def worst(self) -> Sequence[Row]:
        """All rows: those that all failed first, then by their mean reward; those that were only stopped, or
        have no reward, last."""
        return sorted(self.rows, key=_row_badness)

    @cached_property
    def failed(self) -> Sequence[Rollout]:
        return [rollout for rollout in self.rollouts if rollout.state == "failed"]

    @cached_property
    def reasons(self) -> Sequence[tuple[str, int]]:
        """Why rollouts failed, with how many did, most often first."""
        return Counter(rollout.error for rollout in self.failed).most_common()

    def recording(self, rollout: Rollout, sessions: Path) -> Path | None:
        """The folder of its session: in the run's own, or in `sessions`; None if it is not there any more."""
        name = rollout.session
        if not name or Path(name).name != name:
            return None
        places = (self.folder / SESSIONS / name, sessions / name)
        return next((place for place in places if (place / "events.jsonl").is_file()), None)


def find_run(name: str, runs: Path) -> Path:
    """The folder of the run that `name` names: a path, or the name in `runs` or its beginning, or `last`.

    Raises:
        UserError: there is none, or several begin like that.
    """
    path = Path(name).expanduser()
    if read_run(path) is not None:
        return path
    known = sorted(folder.name for folder in runs.glob("*") if read_run(folder) is not None)
    if name == LAST and known:
        return runs / known[-1]
    found = [name] if name in known else [one for one in known if one.startswith(name)]
    match found:
        case [one]:
            return runs / one
        case []:
            raise UserError(
                f"there is no run {name!r}: name the folder that `agentscope run` wrote, or `last`"
            )
        case _:
            raise UserError(f"{len(found)} runs begin with {name!r}: {', '.join(found[:5])} …")


def load(folder: Path, passes: float, tell: Callable[[int, int], None] = lambda done, of: None) -> Run:
    """Read a run.

    Raises:
        UserError: it is none, or cannot be read, or nothing has come of it yet.
    """
    info = read_run(folder)
    if info is None:
        raise UserError(f"there is no run in {folder}")
    results = Results(folder, tell)
    if not results.rollouts:
        raise UserError(f"the run in {folder} has no results yet")
    return Run(folder, info, results, passes)


def _powers(most: int) -> Iterator[int]:
    k = 1
    while k < most:
        yield k
        k *= 2


def _row_badness(row: Row) -> tuple[int, float, int, int]:
    if row.mean is not None:
        return 1, row.mean, -row.failed, row.index
    return (0 if row.failed else 2), 0.0, -row.failed, row.index
