"""Batches of rows on a scripted model, for the executors that run sessions in other processes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import yaml

from agentscope_tui.batch.batch import Batch, Executor, Progress
from agentscope_tui.batch.results import RolloutResult
from agentscope_tui.batch.rollout import Job
from agentscope_tui.config import Config, load_settings
from agentscope_tui.datasets.task import Task
from agentscope_tui.session.launch import Launcher

SECRET = "sk-canary-123456789"


class Rows:
    """Rows `task N` that are to be answered with their number, and what came of them."""

    def __init__(
        self, folder: Path, *replies: dict[str, Any], flags: dict[str, Any] | None = None, **grading: str
    ) -> None:
        """The model is one that gives these replies, unless `flags` name another."""
        self.go = folder / "go"
        """What the tools of `waiting` wait for."""
        script = folder / "script.yaml"
        script.write_text(yaml.safe_dump({"scripts": [{"replies": [*replies]}]}))
        environ = {**os.environ, "AGENTSCOPE_HOME": str(folder / "state"), "SECRET_API_KEY": SECRET}
        graded = {f"grading.{name}": value for name, value in ({"grader": "contains"} | grading).items()}
        set_by_flags = {"model.name": f"scripted:{script}", "sandbox.mode": "none", **graded, **(flags or {})}
        self.config: Config = load_settings(set_by_flags, cwd=folder, environ=environ)
        model = set_by_flags["model.name"]
        self.launcher = Launcher(self.config, folder / "rows.jsonl", model=model, identity="d")
        self.results: list[RolloutResult] = []

    def batch(self, count: int, executor: Executor) -> Batch:
        jobs = [Job(Task(row, row + 1, f"task {row}", ground_truth=str(row))) for row in range(count)]
        return Batch(jobs, executor, Progress(count), concurrency=4, keep=self.results.append)


def waiting(folder: Path, *, before: str = "echo made > made.txt") -> dict[str, Any]:
    """A reply whose tool waits for the file `go` in a folder."""
    command = f"{before}; while [ ! -e {folder}/go ]; do sleep 0.02; done; cat {folder}/go"
    return {"text": "I wait", "tool_calls": [{"name": "bash", "arguments": {"command": command}}]}


def kinds(events: list[Any]) -> list[str]:
    """What happened, but for how the stream was cut into pieces."""
    return [event.kind for event in events if event.kind not in ("assistant_delta", "tool_output")]


def commands() -> str:
    """The command lines of all processes."""
    lines = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            lines.append(file.read_text(errors="replace"))
        except OSError:
            continue
    return "\n".join(lines)
