"""Folders of runs as `agentscope run` leaves them, with results that a test makes up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from agentscope_tui.report.run import Run, load


def result(row: int, reward: float | None = None, rollout: int = 0, **more: Any) -> dict[str, Any]:
    """A rollout that is done, with tokens, calls and time."""
    return {
        "row": row,
        "rollout": rollout,
        "state": "done",
        "session": f"s{row}-{rollout}",
        "reward": reward,
        "calls": 2,
        "input_tokens": 100,
        "output_tokens": 10,
        "seconds": 1.5,
        **more,
    }


def failed(row: int, error: str, rollout: int = 0) -> dict[str, Any]:
    """A rollout that failed."""
    return result(row, rollout=rollout, state="failed", error=error)


def write_run(folder: Path, *results: dict[str, Any] | str, **info: Any) -> Path:
    """A run's folder; results that are texts are written as they are."""
    folder.mkdir(parents=True)
    known = {
        "name": folder.name,
        "version": "0.1.0",
        "created": "2026-11-29T12:00:00+00:00",
        "dataset": "tasks.jsonl",
        "dataset_identity": "d1",
        "runner": "builtin",
        "model": "openai:small",
        "settings": {"grading.grader": "exact"},
    }
    (folder / "run.json").write_text(json.dumps({**known, **info}))
    lines = [one if isinstance(one, str) else json.dumps(one) for one in results]
    (folder / "results.jsonl").write_text("".join(f"{line}\n" for line in lines))
    return folder


def write_recording(sessions: Path, name: str, prompt: str = "How many?") -> Path:
    """A session's folder, enough of one to be found and to tell its task."""
    folder = sessions / name
    folder.mkdir(parents=True)
    (folder / "events.jsonl").write_text("{}\n")
    (folder / "meta.json").write_text(json.dumps({"task": {"prompt": prompt}}))
    return folder


def run_of(folder: Path, *results: dict[str, Any] | str, passes: float = 1.0, **info: Any) -> Run:
    """A run's folder, written and read."""
    return load(write_run(folder, *results, **info), passes)
