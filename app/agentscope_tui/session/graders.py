"""The grader that the settings and a row name, with what it needs of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from agentscope_tui.clock import Clock
from agentscope_tui.config import Config
from agentscope_tui.datasets.task import Task
from agentscope_tui.grading.factory import Means, grader_of
from agentscope_tui.grading.grader import Grader
from agentscope_tui.grading.row_grader import CopyGrader
from agentscope_tui.grading.spec import parse_part, parse_parts
from agentscope_tui.session.judging import ModelJudge
from agentscope_tui.store.folders import SessionFolder
from agentscope_tui.store.snapshots import Snapshots
from agentscope_tui.tools.local import LocalTools


def named_grader(config: Config, of_row: str | None, sessions: Path, clock: Clock) -> Grader | None:
    """The grader for a row that names `of_row` itself, or none; None: nobody names one. What judges is
    recorded in the folder `sessions`.

    Raises:
        UserError: it cannot be had.
    """
    names = config.graders_of(of_row)
    if not names:
        return None
    means = _means(config, sessions, clock)
    # A row may come from anywhere: what looks like a file of the user's is none there.
    return grader_of(names, replace(means, reads_files=names != (of_row,)))


def scorer_of(
    grader: Grader | None, task: Task, folder: SessionFolder, tools: Callable[[Path], LocalTools]
) -> CopyGrader | None:
    """What grades a session that may be at work, on a copy of its files as they are by then."""
    if grader is None:
        return None
    return CopyGrader(grader, task, folder.path.name, folder.path, partial(copy_files, folder.files), tools)


def copy_files(source: Path, target: Path, work: Path) -> None:
    """Fill a folder with what is in another one, also while that is written to; `work` is for the work.

    Raises:
        UserError: it is too much.
        OSError: it cannot be read or written.
    """
    work.mkdir(mode=0o700)
    copy = Snapshots(work)
    copy.take(source, 0)
    copy.restore(0, target)


def check_grader(config: Config, sessions: Path, clock: Clock) -> None:
    """Find out before any session whether the grader that the settings name can be had, and its judge.

    Raises:
        UserError: it cannot.
    """
    names = config.graders_of(None)
    parse_parts(names)
    if any(parse_part(name).spec.kind == "rubric" for name in names):
        grader_of(names, _means(config, sessions, clock))
        if (judge := _judge(config, sessions, clock)) is not None:
            judge.check()


def _means(config: Config, sessions: Path, clock: Clock) -> Means:
    grading = config.settings.grading
    return Means(
        config.cwd,
        grading.timeout,
        grading.python or config.settings.runner.python,
        _judge(config, sessions, clock),
    )


def _judge(config: Config, sessions: Path, clock: Clock) -> ModelJudge | None:
    name = config.settings.grading.judge
    return None if name is None else ModelJudge(config, name, sessions, clock)
