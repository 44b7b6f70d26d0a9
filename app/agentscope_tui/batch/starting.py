"""What a new run is, what it is called, and the jobs of its rollouts: for the command line and the app."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path

from agentscope_tui import __version__
from agentscope_tui.batch.results import Key
from agentscope_tui.batch.rollout import Job
from agentscope_tui.batch.run_folder import RunInfo
from agentscope_tui.datasets.dataset import Dataset
from agentscope_tui.session.launch import Launcher


def run_info(launcher: Launcher, name: str, now: datetime, *, rows: str = "", rollouts: int = 1) -> RunInfo:
    """The run that begins `now`; `rows` as in `options.rows_text`, empty: all."""
    return RunInfo(
        name=name,
        version=__version__,
        created=now,
        dataset=str(launcher.dataset),
        dataset_identity=launcher.identity,
        runner=launcher.runner,
        model=launcher.model_name,
        rows=rows,
        rollouts=rollouts,
        settings=launcher.chosen,
    )


def new_name(launcher: Launcher, runs: Path, now: datetime) -> str:
    """The name of a run that begins `now`, which none in the folder `runs` has."""
    name = f"{now:%Y%m%d-%H%M%S}-{launcher.dataset.stem}"
    number = 1
    while (runs / (found := name if number == 1 else f"{name}-{number}")).exists():
        number += 1
    return found


def jobs_of(dataset: Dataset, keys: Iterable[Key]) -> Iterator[Job]:
    """A job for each, whose row is read when it is taken."""
    for index, rollout in keys:
        yield Job(dataset.row(index), rollout)
