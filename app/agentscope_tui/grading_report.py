"""`agentscope grade`: finds what is to be graded, grades it some at a time, and prints what changed."""

from __future__ import annotations

import asyncio
import json
import shutil
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentscope_tui.batch.regrading import Regrade, Regrader
from agentscope_tui.batch.results import RolloutResult, read_results
from agentscope_tui.batch.run_folder import RUN, SESSIONS, RunFolder, RunInfo, read_run
from agentscope_tui.clock import Clock
from agentscope_tui.config import Config
from agentscope_tui.errors import UsageError, UserError
from agentscope_tui.folders import runs_dir, sessions_dir
from agentscope_tui.grade_command import GradeRequest
from agentscope_tui.progress import progress_bar
from agentscope_tui.session.graders import check_grader
from agentscope_tui.store.find import find_session
from agentscope_tui.store.folders import JUDGE_OF, read_meta
from agentscope_tui.text_table import Column, table_of

FAILED, INTERRUPTED = 1, 130
"""Exit codes: a grader failed; ctrl+c ended it."""


@dataclass(frozen=True)
class _Target:
    """A session to grade, and the result of a run that it is of."""

    folder: Path
    result: RolloutResult | None = None


@dataclass(frozen=True)
class _Line:
    """What came of a target."""

    target: _Target
    found: Regrade

    @property
    def before(self) -> float | None:
        result = self.target.result
        return self.found.before if result is None else result.reward

    @property
    def after(self) -> float | None:
        return None if self.found.grade is None else self.found.grade.reward

    @property
    def changed(self) -> bool:
        return self.found.grade is not None and self.after != self.before

    @property
    def rollout(self) -> int:
        return 0 if self.target.result is None else self.target.result.rollout

    @property
    def row(self) -> int | None:
        return self.found.row if self.target.result is None else self.target.result.row

    @property
    def why(self) -> str:
        grade = self.found.grade
        return self.found.error or self.found.skipped or (grade.reason if grade else "")


def grade(config: Config, request: GradeRequest, *, trust: bool = False) -> int:
    """Grade what is asked for, and print it; gives the exit code.

    Raises:
        UserError: there is nothing like that, or a run's folder cannot be written.
    """
    run = _run_of(request.names[0], config) if len(request.names) == 1 else None
    if request.writes and run is None:
        raise UsageError("--write keeps rewards as results of a run: name one run's folder")
    check_grader(config, sessions_dir(config.state), Clock())
    targets = [target for name in request.names for target in _targets(name, config)]
    if not targets:
        raise UserError(f"there is no session in {', '.join(request.names)}")
    writing = RunFolder(run, _info(run), goes_on=True) if request.writes and run is not None else None
    with closing(writing) if writing is not None else nullcontext():
        done, stopped = asyncio.run(_Work(config, request, targets, writing, trust).run())
        if writing is not None and any(line.found.grade for line in done):
            writing.note_regraded(Clock().now(), _chosen(config), config.settings.grading.judge)
    done.sort(key=lambda line: (line.row if line.row is not None else -1, line.rollout, line.found.session))
    if request.as_json:
        print(json.dumps(_in_json(done, len(targets)), indent=2))
    else:
        for text in _told(done, len(targets)):
            print(text)
    sys.stdout.flush()
    if stopped:
        return INTERRUPTED
    return FAILED if any(line.found.error for line in done) else 0


class _Work:
    """Grades the targets, some at a time."""

    def __init__(
        self,
        config: Config,
        request: GradeRequest,
        targets: Sequence[_Target],
        writing: RunFolder | None,
        trust: bool,
    ) -> None:
        self._regrader = Regrader(config, Clock(), trust=trust)
        self._request = request
        self._left = iter(targets)
        self._total = len(targets)
        self._writing = writing
        self._done: list[_Line] = []

    async def run(self) -> tuple[list[_Line], bool]:
        """What was graded, and whether ctrl+c ended it before all was."""
        with progress_bar() as tell:
            self._tell = tell
            tell(0, self._total, "grading")
            workers = [asyncio.create_task(self._work()) for _ in range(self._request.concurrency)]
            whole = asyncio.gather(*workers)
            asyncio.get_running_loop().add_signal_handler(signal.SIGINT, whole.cancel)
            try:
                await whole
            except asyncio.CancelledError:
                await asyncio.wait(workers)
                return self._done, True
            except BaseException:
                for worker in workers:
                    worker.cancel()
                await asyncio.wait(workers)
                raise
            finally:
                asyncio.get_running_loop().remove_signal_handler(signal.SIGINT)
        return self._done, False

    async def _work(self) -> None:
        for target in self._left:
            line = _Line(target, await self._regrader.grade(target.folder))
            self._done.append(line)
            if self._writing is not None and (result := _new_result(line)) is not None:
                self._writing.add(result)
            count = len(self._done)
            self._tell(count, self._total, f"{count:,} of {self._total:,} graded")


def _new_result(line: _Line) -> RolloutResult | None:
    """The result with what the grader says now; None: there was nothing to grade."""
    result, found = line.target.result, line.found
    if result is None or found.skipped:
        return None
    reward, metrics = (found.grade.reward, {**found.grade.metrics}) if found.grade else (None, {})
    state = "done" if found.grade else "failed"
    given = {"state": state, "reward": reward, "metrics": metrics, "error": found.error, "code": ""}
    return result.model_copy(update=given)


def _run_of(name: str, config: Config) -> Path | None:
    """The folder of the run that a name means; None: it means a session."""
    for path in (Path(name).expanduser(), runs_dir(config.state) / name):
        if (path / RUN).is_file():
            return path
    return None


def _info(run: Path) -> RunInfo:
    info = read_run(run)
    assert info is not None
    return info


def _targets(name: str, config: Config) -> Iterator[_Target]:
    path = Path(name).expanduser()
    run = _run_of(name, config)
    if run is not None:
        try:
            results = read_results(run)
        except OSError as error:
            raise UserError(f"{run} cannot be read: {error.strerror}") from error
        for _, result in sorted(results.items()):
            if result.session:
                own = run / SESSIONS / result.session
                folder = own if own.is_dir() else sessions_dir(config.state) / result.session
                yield _Target(folder, result)
    elif path.is_dir() and not (path / "events.jsonl").is_file():
        for events in sorted(path.glob("*/events.jsonl")):
            if JUDGE_OF not in read_meta(events.parent):
                yield _Target(events.parent)
    else:
        yield _Target(find_session(name, sessions_dir(config.state)))


def _chosen(config: Config) -> str | list[str] | None:
    """The grader that a flag names, as settings have it."""
    graders = config.graders_of(None)
    return graders[0] if len(graders) == 1 else list(graders) or None


def _told(lines: Sequence[_Line], total: int) -> Iterator[str]:
    columns: Sequence[Column[_Line]] = (
        Column("row", 1, lambda line: _row(line), right=True),
        Column("before", 2, lambda line: _number(line.before), right=True),
        Column("after", 0, lambda line: "error" if line.found.error else _number(line.after), right=True),
        Column("changed", 3, _change),
        Column("session", 4, lambda line: line.found.session, most=40),
        Column("why", 5, lambda line: " ".join(line.why.split()), most=200),
    )
    yield from table_of(lines, columns, shutil.get_terminal_size().columns if sys.stdout.isatty() else None)
    figures = _figures(lines, total)
    words = [f"{figures['graded']:,} graded", f"{figures['changed']:,} changed"]
    words += [f"{figures[key]:,} {word}" for key, word in _REST.items() if figures[key]]
    if figures["mean_after"] is not None:
        words.append(f"mean reward {_number(figures['mean_before']) or 'none'} → {figures['mean_after']:.3g}")
    yield " · ".join(words)


_REST = {"errors": "grader errors", "skipped": "with nothing to grade", "left": "not looked at"}


def _figures(lines: Sequence[_Line], total: int) -> dict[str, Any]:
    graded = [line for line in lines if line.after is not None]
    return {
        "graded": len(graded),
        "changed": sum(line.changed for line in lines),
        "errors": sum(bool(line.found.error) for line in lines),
        "skipped": sum(bool(line.found.skipped) for line in lines),
        "left": total - len(lines),
        "mean_before": _mean([line.before for line in graded if line.before is not None]),
        "mean_after": _mean([line.after for line in graded if line.after is not None]),
    }


def _in_json(lines: Sequence[_Line], total: int) -> dict[str, Any]:
    sessions = [
        {
            "session": line.found.session,
            "row": line.row,
            "rollout": line.rollout,
            "before": line.before,
            "after": line.after,
            "changed": line.changed,
            "metrics": {**line.found.grade.metrics} if line.found.grade else {},
            "reason": line.found.grade.reason if line.found.grade else "",
            "judged_in": [*line.found.grade.sessions] if line.found.grade else [],
            "error": line.found.error,
            "skipped": line.found.skipped,
        }
        for line in lines
    ]
    return {**_figures(lines, total), "sessions": sessions}


def _row(line: _Line) -> str:
    row = "" if line.row is None else str(line.row)
    return f"{row}.{line.rollout}" if line.rollout else row


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"


def _change(line: _Line) -> str:
    if line.after is None:
        return "" if line.found.error else "–"
    if line.before is None:
        return "new"
    return f"{line.after - line.before:+.4g}" if line.changed else "="


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
