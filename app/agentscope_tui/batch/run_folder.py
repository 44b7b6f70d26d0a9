"""A run's folder: `run.json` says what was run with which settings, `results.jsonl` what came of it.

A run that goes on must be the same one: the same dataset, agent, model and settings.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from agentscope_tui.batch.results import RESULTS, Key, RolloutResult, read_results
from agentscope_tui.errors import UserError
from agentscope_tui.store.line_file import LineFile
from agentscope_tui.store.lock import FolderLock, SessionInUse

RUN = "run.json"
SESSIONS = "sessions"
"""The folder of its sessions, in a run's folder."""
_IDENTITY = ("dataset_identity", "runner", "model", "settings")


@dataclass(frozen=True)
class RunInfo:
    """What a run is. `settings` are those that somebody chose; `rows` as the user named them, "" all."""

    name: str
    version: str
    created: datetime
    dataset: str
    dataset_identity: str
    runner: str
    model: str
    rows: str = ""
    rollouts: int = 1
    settings: dict[str, Any] = field(default_factory=dict)
    regraded: list[dict[str, Any]] = field(default_factory=list)
    """When results were graded again since, and by which grader: `{"at", "grader", "judge"}`."""

    def differences(self, other: RunInfo) -> list[str]:
        """What makes this another run than `other`, in words; empty where one can go on as the other."""
        return [
            word for name in _IDENTITY for word in _differences(name, vars(self)[name], vars(other)[name])
        ]


class RunFolder:
    """The folder of one run, which this process writes."""

    def __init__(self, path: Path, info: RunInfo, *, goes_on: bool = False) -> None:
        """Makes the folder, or opens that of the same run.

        Raises:
            UserError: it cannot be written, holds a run although this is not to go on, or holds another one.
        """
        self.path = path
        before = read_run(path)
        if before is not None and not goes_on:
            raise UserError(
                f"{path} holds a run already: go on with --resume, or name another folder with --out"
            )
        if before is not None and (differences := info.differences(before)):
            raise UserError(f"{path} holds another run, it cannot be resumed: {'; '.join(differences)}")
        self.info = before or info
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.mkdir(mode=0o700, exist_ok=True)
            self._lock = FolderLock(path)
            if before is None:
                (path / RUN).touch(mode=0o600)
                (path / RUN).write_text(_as_text(info), encoding="utf-8")
            self.results = read_results(path)
            self._file = LineFile(path / RESULTS, goes_on=True)
        except SessionInUse:
            raise UserError(f"another agentscope writes the run in {path} now: end it there first") from None
        except OSError as error:
            raise UserError(f"cannot write the run to {path}: {error.strerror or error}") from error

    def add(self, result: RolloutResult) -> None:
        """Keep a result.

        Raises:
            UserError: the disk does not take it.
        """
        try:
            self._file.append(result.model_dump_json(exclude_none=True).encode() + b"\n")
        except OSError as error:
            raise UserError(f"cannot write results to {self.path}: {error.strerror}") from error
        self.results[result.key] = result

    def note_regraded(self, at: datetime, grader: str | list[str] | None, judge: str | None) -> None:
        """Keep that results were graded again; `grader` None: each as it was.

        Raises:
            UserError: the disk does not take it.
        """
        entry = {"at": at.isoformat(), "grader": grader, "judge": judge}
        self.info = replace(self.info, regraded=[*self.info.regraded, entry])
        new = self.path / f"{RUN}.new"
        try:
            new.touch(mode=0o600)
            new.write_text(_as_text(self.info), encoding="utf-8")
            new.replace(self.path / RUN)
        except OSError as error:
            raise UserError(f"cannot write {self.path / RUN}: {error.strerror}") from error

    def due(self, keys: Iterable[Key], *, retry_failed: bool = False) -> Iterable[Key]:
        """Those of `keys` that are still to be run; with `retry_failed` also those that failed."""
        for key in keys:
            result = self.results.get(key)
            if result is None or result.state == "stopped" or (retry_failed and result.state == "failed"):
                yield key

    def close(self) -> None:
        self._file.close()
        self._lock.release()


def _as_text(info: RunInfo) -> str:
    return json.dumps(asdict(info), indent=2, default=str) + "\n"


def read_run(path: Path) -> RunInfo | None:
    """What the folder's run is; None where there is none.

    Raises:
        UserError: its `run.json` is damaged.
    """
    try:
        data = json.loads((path / RUN).read_bytes())
        known = {name: data[name] for name in RunInfo.__dataclass_fields__ if name in data}
        return RunInfo(**{**known, "created": datetime.fromisoformat(data["created"])})
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(f"{path / RUN} cannot be read: {error}") from error


def newest_like(info: RunInfo, runs: Path) -> Path:
    """The folder in `runs` of the newest run that can go on as this one.

    Raises:
        UserError: there is none.
    """
    for path in sorted(runs.glob("*"), reverse=True):
        before = read_run(path)
        if before is not None and not info.differences(before):
            return path
    raise UserError(
        f"no run in {runs} has the same dataset, agent, model and settings: name its folder with --out"
    )


def _differences(name: str, now: Any, before: Any) -> list[str]:
    if isinstance(now, dict) and isinstance(before, dict):
        keys = [key for key in {**before, **now} if now.get(key) != before.get(key)]
        return [f"{key} was {_shown(before.get(key))} and is {_shown(now.get(key))}" for key in keys]
    if now == before:
        return []
    if name == "dataset_identity":
        return ["the dataset has changed"]
    return [f"the {name} was {_shown(before)} and is {_shown(now)}"]


def _shown(value: Any) -> str:
    text = "not set" if value is None else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else f"{text[:59]}…"
