"""`agentscope init`: a small agent, a dataset and settings to start from."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path

from agentscope_tui.errors import UsageError, UserError
from agentscope_tui.folders import CONFIG_NAME, state_dir
from agentscope_tui.printable import printable
from agentscope_tui.resources import starter_files
from agentscope_tui.trust import digest_of, remember_trust


def write_starter(folder: Path, environ: Mapping[str, str]) -> str:
    """Write the files into `folder`, made if it is missing; what to do with them, in words.

    The settings file is trusted from then on: it is ours.

    Raises:
        UsageError: one of the files is there already; none is written.
        UserError: they cannot be written.
    """
    files = starter_files()
    there = [file.name for file in files if (folder / file.name).exists()]
    if there:
        raise UsageError(f"{folder} already has {', '.join(there)}: name another folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file in files:
            (folder / file.name).write_bytes(file.read_bytes())
        settings = folder.resolve() / CONFIG_NAME
        remember_trust(state_dir(environ), settings, digest_of(settings.read_bytes()))
    except OSError as error:
        raise UserError(f"cannot write to {folder}: {error.strerror}") from error
    enter = "" if folder.resolve() == Path.cwd() else f"  cd {printable(shlex.quote(str(folder)))}\n"
    return (
        f"wrote {', '.join(file.name for file in files)}\n\nstart:\n{enter}"
        "  agentscope tasks.jsonl\n\n"
        "Enter opens a row, n goes to the next step. Edit agent.py and press ctrl+r: the row runs again.\n"
    )
