"""How a path becomes a dataset: a file, a folder, a pattern, or `-` for standard input."""

from __future__ import annotations

import glob
import stat
from functools import partial
from pathlib import Path

from agentscope_tui.datasets.columns import Columns
from agentscope_tui.datasets.dataset import Dataset
from agentscope_tui.datasets.formats import open_file, open_pipe
from agentscope_tui.datasets.many_files import ManyRows
from agentscope_tui.datasets.raw import RawRows
from agentscope_tui.datasets.saved_folder import saved_files
from agentscope_tui.errors import UsageError, UserError

STANDARD_INPUT = Path("-")
_SUFFIXES = (".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".parquet", ".arrow", ".gz", ".zst")
_MOST_FILES = 500
"""More would need more open files than a process commonly may have."""


def open_dataset(
    path: Path, *, offset: int = 0, limit: int | None = None, columns: Columns | None = None
) -> Dataset:
    """The dataset in `path`, with its first rows known; `scan` finds the others.

    Raises:
        UsageError: no such file, a format that cannot be read, or no row in range.
        UserError: the file cannot be read.
    """
    rows = _open(path)
    try:
        return Dataset(path, rows, offset=offset, limit=limit, columns=columns)
    except UserError:
        rows.close()
        raise


def _open(path: Path) -> RawRows:
    if path == STANDARD_INPUT:
        return open_pipe()
    try:
        mode = _mode(path)
        if mode is None:
            files = [Path(name) for name in sorted(glob.glob(str(path), recursive=True))]
            files = [file for file in files if file.is_file()]
            if not files:
                raise UsageError(f"no file matches {path}")
            return _many(path, files)
        if stat.S_ISDIR(mode):
            return _many(path, saved_files(path) or _files_in(path))
        if not stat.S_ISREG(mode):
            raise UsageError(f"{path} is not a regular file: pipe it in, as in `agentscope - < {path}`")
        return open_file(path)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise UserError(f"cannot read {path}: {reason}") from error


def _mode(path: Path) -> int | None:
    """What kind of file it is; None for a pattern that is no file's own name."""
    try:
        return path.stat().st_mode
    except FileNotFoundError:
        if glob.has_magic(str(path)):
            return None
        where = "" if path.is_absolute() else f" (looked in {Path.cwd()})"
        raise UsageError(f"no such dataset: {path}{where}") from None


def _files_in(folder: Path) -> list[Path]:
    files = sorted(
        file
        for file in folder.iterdir()
        if file.suffix.lower() in _SUFFIXES and not file.name.startswith(".") and file.is_file()
    )
    if not files:
        raise UsageError(f"{folder} has no files of rows: it needs {', '.join(_SUFFIXES[:6])} or the like")
    return files


def _many(path: Path, files: list[Path]) -> RawRows:
    if len(files) > _MOST_FILES:
        raise UsageError(f"{path} is {len(files)} files, at most {_MOST_FILES} can be opened: join some")
    return ManyRows(files, partial(open_file, several=True))
