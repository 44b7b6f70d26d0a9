"""A session's folder: what is in it, and how it is made. Private to the user."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from agentscope_tui.errors import UserError
from agentscope_tui.models.wire_log import WireFolder
from agentscope_tui.secrets import MASKER

JUDGE_OF = "judge_of"
"""What `meta.json` of a judge's session has: the id of the session that it judged."""

_MASKED = "cwd", "task", "settings"
"""What may hold secrets in `meta.json`. The rest are names, by which the session is found and goes on."""


@dataclass(frozen=True)
class SessionFolder:
    """`events.jsonl` (the truth), `outputs/` (a file for each tool call), `wire/` (for each model call),
    `files/` (where tools work), `snapshots/` (what was in there at each model call), `meta.json`."""

    path: Path

    @cached_property
    def files(self) -> Path:
        return self.path / "files"

    @property
    def outputs(self) -> Path:
        return self.path / "outputs"

    @property
    def snapshots(self) -> Path:
        return self.path / "snapshots"

    @property
    def wire(self) -> Path:
        return self.path / "wire"

    def wire_of(self, call: int) -> Path:
        """Where the raw text of a model call is; it need not exist."""
        return WireFolder(self.wire).path(call)


def new_session_id(row: int, now: datetime, unique: str) -> str:
    """A name that sorts by time and says the row: `20261129-164512-row3-1f2e`."""
    return f"{now:%Y%m%d-%H%M%S}-row{row}-{unique[:4]}"


def make_folder(
    sessions: Path,
    session_id: str,
    meta: dict[str, Any],
    fill: Callable[[Path], None],
) -> SessionFolder:
    """A new session folder; `fill` puts the files that the agent starts with into the scratch folder.

    Raises:
        UserError: the state folder cannot be written, or `fill` raised it, and nothing of the folder is left.
    """
    folder = SessionFolder(sessions / session_id)
    try:
        folder.path.mkdir(mode=0o700, parents=True)
        folder.files.mkdir(mode=0o700)
        folder.outputs.mkdir(mode=0o700)
        meta_file = os.open(
            f"{folder.path}/meta.json", os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600
        )
        with open(meta_file, "w", encoding="utf-8") as file:
            file.write(_masked_json(meta) + "\n")
        fill(folder.files)
    except UserError:
        shutil.rmtree(folder.path)
        raise
    except OSError as error:
        raise UserError(
            f"cannot write the session to {sessions}: {error.strerror or error}. "
            "Set AGENTSCOPE_HOME to a folder that can be written."
        ) from error
    return folder


def _masked_json(meta: dict[str, Any]) -> str:
    """It without secrets in what is not a name. Not indented: that takes ten times as long."""
    told = json.dumps(meta, default=str)
    if not MASKER.may_change(told):
        return told
    plain = json.loads(told)
    return json.dumps(plain | {name: MASKER.masked(plain[name]) for name in _MASKED if name in plain})


def read_meta(folder: Path) -> dict[str, Any]:
    """What `meta.json` says; empty where it is missing or damaged: all that matters is in the events too."""
    try:
        meta = json.loads((folder / "meta.json").read_bytes())
    except (OSError, ValueError):
        return {}
    return meta if isinstance(meta, dict) else {}
