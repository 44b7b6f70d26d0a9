"""Rows that an agent really runs on, graded as the test says: dataset, scripts and graders."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

import yaml

from agentscope_tui.config import Config, load_settings
from agentscope_tui.datasets.task import Task
from agentscope_tui.events import SessionEvent
from agentscope_tui.options import Options
from agentscope_tui.session.launch import Launcher, open_rows
from agentscope_tui.session.open_session import OpenSession

SUBMIT = {"name": "submit", "arguments": {"answer": "4"}}


class GradedRows:
    """`agent` and `judge` are scripted models; `rows` are those of the dataset."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.rows: list[dict[str, Any]] = [{"user_prompt": "2 + 2?", "ground_truth": "4"}]
        self.agent: list[dict[str, Any]] = [{"text": "It is 4.", "tool_calls": [SUBMIT]}]
        self.judge: list[dict[str, Any]] = []

    @property
    def state(self) -> Path:
        return self.folder / "state"

    def config(self, *graders: str, **settings: object) -> Config:
        """The settings for these graders; `a__b` is the setting `a.b`."""
        for name, replies in (("agent", self.agent), ("judge", self.judge)):
            scripts = {"scripts": [{"replies": replies}]}
            (self.folder / f"{name}.yaml").write_text(yaml.safe_dump(scripts), encoding="utf-8")
        flags = {
            "model.name": f"scripted:{self.folder / 'agent.yaml'}",
            "grading.judge": f"scripted:{self.folder / 'judge.yaml'}" if self.judge else None,
            "sandbox.mode": "none",
            **({"grading.grader": [*graders]} if graders else {}),
            **{name.replace("__", "."): value for name, value in settings.items()},
        }
        environ = {**os.environ, "AGENTSCOPE_HOME": str(self.state)}
        return load_settings(flags, cwd=self.folder, environ=environ)

    def dataset(self) -> Path:
        """The rows, written."""
        path = self.folder / "rows.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in self.rows), encoding="utf-8")
        return path

    def launcher(self, *graders: str, **settings: object) -> tuple[Launcher, Task]:
        """What opens the rows, and the first of them."""
        launcher, dataset = open_rows(self.config(*graders, **settings), Options(self.dataset()))
        task = dataset.row(0)
        dataset.close()
        assert isinstance(task, Task)
        return launcher, task

    @asynccontextmanager
    async def opened(
        self, *graders: str, mode: Any = "run", **settings: object
    ) -> AsyncIterator[tuple[OpenSession, list[SessionEvent]]]:
        """A session on the first row, started, with its events as they come."""
        launcher, task = self.launcher(*graders, **settings)
        events: list[SessionEvent] = []
        async with aclosing(launcher), aclosing(await launcher.open(task, mode=mode)) as session:
            session.bus.subscribe(events.append)
            await session.start()
            yield session, events

    async def ran(self, *graders: str, **settings: object) -> tuple[Path, list[SessionEvent]]:
        """The folder and the events of a session that ran to its end."""
        async with self.opened(*graders, **settings) as (session, events):
            await session.session.settled()
        return session.folder.path, events
