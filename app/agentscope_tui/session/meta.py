"""What `meta.json` keeps beside the events: the task and the settings, for a session that goes on when its
dataset is gone. Secrets are masked in it, as everywhere in a recording."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from agentscope_tui.config import Config, KeptSettings
from agentscope_tui.datasets.dataset import Dataset
from agentscope_tui.datasets.task import Task
from agentscope_tui.errors import UsageError, UserError
from agentscope_tui.events import UserMessageSent
from agentscope_tui.grading.spec import parse_part
from agentscope_tui.secrets import MASKER
from agentscope_tui.store.folders import SessionFolder
from agentscope_tui.store.past import PastSession
from agentscope_tui.trust import digest_of

META = "meta.json"
_PASSWORD = re.compile(r"://[^/@\s]*:[^/@\s]*@")
"""A name and a password in a URL."""
_OF_FILES = ("scripted", "replay")
"""Models that are named by a path."""


def kept_tree(config: Config) -> dict[str, Any]:
    """What is kept of the settings, nested as in a settings file."""
    return _unmasked(config.chosen_tree())


def kept_facts(task: Task, config: Config, settings: Mapping[str, Any]) -> dict[str, Any]:
    """What is kept of a task, and of the `settings` as `kept_tree` gives them."""
    return {
        "cwd": str(config.cwd),
        "task": {
            "prompt": task.prompt,
            "system": task.system,
            "history": list(task.history),
            "ground_truth": task.ground_truth,
            "grader": _of_row(config.graders_of(task.grader), task.grader),
            "row": task.row,
        },
        "settings": settings,
    }


def _unmasked(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings without those that have a secret in them: masked they would be wrong."""
    return {
        name: _unmasked(value) if isinstance(value, Mapping) else value
        for name, value in settings.items()
        if isinstance(value, Mapping) or not (MASKER.masked(value) != value or _PASSWORD.search(str(value)))
    }


def kept_settings(folder: SessionFolder) -> KeptSettings | None:
    """The settings that a session was run with; None: it keeps none."""
    file = folder.path / META
    try:
        content = file.read_bytes()
        meta = json.loads(content)
    except (OSError, ValueError):
        return None
    if not isinstance(meta, dict):
        return None
    settings, cwd, model = meta.get("settings"), meta.get("cwd"), meta.get("model")
    tree: dict[str, Any] = settings if isinstance(settings, dict) else {}
    if isinstance(model, str) and model:
        named = tree.get("model")
        name = _found_from(model, cwd) if isinstance(cwd, str) else model
        tree = {**tree, "model": {**(named if isinstance(named, dict) else {}), "name": name}}
    return KeptSettings(file, digest_of(content), tree, Path(cwd) if isinstance(cwd, str) else None)


def _found_from(model: str, cwd: str) -> str:
    """The model's name, so that a file that it names from the folder `cwd` is found from any other."""
    kind, _, file = model.partition(":")
    if kind not in _OF_FILES or not file or Path(file).expanduser().exists():
        return model
    path = Path(cwd) / file
    return f"{kind}:{path}" if path.exists() else model


def config_of(config: Config, folder: SessionFolder, *, trust: bool = False) -> Config:
    """The settings for going on with a session: those that it was run with, where no flag and no variable
    says otherwise.

    Raises:
        UserError: what it keeps is not allowed here.
    """
    kept = kept_settings(folder)
    return config if kept is None else config.with_kept(kept, trust=trust)


def task_of(past: PastSession, dataset: Dataset | None = None) -> Task:
    """The task that a session was about: the dataset's row where that is the same, else as its recording has
    it. Without a row of a dataset its index is 0.

    Raises:
        UserError: the recording does not say what was asked.
    """
    row = _row_of(past, dataset)
    kept = past.meta.get("task")
    if isinstance(kept, dict):
        grader = _text(kept.get("grader"))
        grader = None if grader is None else _of_row((grader,), grader)
        return _kept_task(past, kept, grader) if row is None else replace(row, grader=grader)
    return row or _told_task(past)


def _row_of(past: PastSession, dataset: Dataset | None) -> Task | None:
    identity, index = past.meta.get("dataset_identity"), past.meta.get("row")
    if dataset is None or not identity or identity != dataset.identity() or not isinstance(index, int):
        return None
    try:
        row = dataset.row(index)
    except UserError:
        return None
    return row if isinstance(row, Task) else None


def _kept_task(past: PastSession, kept: Mapping[str, Any], grader: str | None) -> Task:
    row, history = kept.get("row"), kept.get("history")
    return Task(
        index=_index(past),
        line=1,
        prompt=_text(kept.get("prompt")) or _told_task(past).prompt,
        system=_text(kept.get("system")),
        history=tuple(history) if isinstance(history, list) else (),
        ground_truth=_text(kept.get("ground_truth")),
        grader=grader,
        row=row if isinstance(row, dict) else {},
    )


def _told_task(past: PastSession) -> Task:
    for event in past.events:
        if isinstance(event, UserMessageSent):
            return Task(index=_index(past), line=1, prompt=event.text)
    raise UserError(f"nothing was asked in {past.session_id}: there is nothing to go on with")


def _index(past: PastSession) -> int:
    index = past.started.row
    return index if index is not None and index >= 0 else 0


def _of_row(graders: Sequence[str], own: str | None) -> str | None:
    """A grader that a row may name, as `own` is; a Python function, a rubric's file and several together are
    the user's own and stand in the settings."""
    try:
        kinds = [parse_part(grader).spec.kind for grader in graders]
    except UsageError:
        return None
    if len(kinds) != 1 or kinds == ["python"] or (kinds == ["rubric"] and graders[0] != own):
        return None
    return graders[0]


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
