"""Folders that Hugging Face `datasets` saved with `save_to_disk`: which Arrow files hold the rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from agentscope_tui.errors import UsageError


def saved_files(folder: Path) -> list[Path]:
    """The files of a saved dataset in the order of its rows; empty where the folder is none.

    Raises:
        UsageError: it has several splits, or names no files.
        OSError: it cannot be read.
    """
    splits = folder / "dataset_dict.json"
    if splits.is_file():
        names = _object(splits).get("splits") or []
        first = names[0] if names else "train"
        raise UsageError(
            f"{folder} has the splits {', '.join(map(str, names))}: name one, as in {folder / str(first)}"
        )
    state = folder / "state.json"
    if not state.is_file():
        return []
    saved = _object(state)
    if saved.get("_indices_data_files"):
        raise UsageError(f"{folder} keeps its rows by indices: save it with flatten_indices() first")
    files = saved.get("_data_files") or []
    names = [entry.get("filename") for entry in files if isinstance(entry, dict)]
    if not names or not all(isinstance(name, str) and Path(name).name == name for name in names):
        raise UsageError(f"{state} names no files of rows")
    return [folder / name for name in names]


def _object(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_bytes())
    except ValueError as error:
        raise UsageError(f"{path} is not JSON: {error}") from None
    return value if isinstance(value, dict) else {}
