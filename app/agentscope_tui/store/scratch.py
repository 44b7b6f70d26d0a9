"""What is in the scratch folder as a session starts: the row's files, its folder, and the row itself."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from stat import S_ISDIR, S_ISLNK, S_ISREG
from typing import Any, Literal

from agentscope_tui.datasets.fields import without
from agentscope_tui.datasets.task import SeedFolder, Task
from agentscope_tui.errors import UserError

ROW_FILE = "row.json"
MOST_FILES = 20_000
MOST_BYTES = 512 << 20
"""How much the folder of a row may hold: it is copied for each session."""

_FLAT = json.JSONEncoder(ensure_ascii=False, default=str)

RowFile = Literal["full", "without_answer", "none"]


class UnusableRow(UserError):
    """What a row brings cannot be put into a scratch folder."""


def copy_of(folder: Path) -> Callable[[Path], None]:
    """Fills a scratch folder with what is in another one: its files, folders and links."""

    def special(place: str, names: list[str]) -> list[str]:
        modes = ((name, (Path(place) / name).lstat().st_mode) for name in names)
        return [name for name, mode in modes if not (S_ISREG(mode) or S_ISDIR(mode) or S_ISLNK(mode))]

    def fill(target: Path) -> None:
        shutil.copytree(folder, target, symlinks=True, dirs_exist_ok=True, ignore=special)

    return fill


def seed_of(task: Task, row_file: RowFile) -> Callable[[Path], None]:
    """Fills a scratch folder with what the row brings. Where names clash, a file of the row's column wins
    over one of its folder, and both win over `row.json`.

    Raises, when called:
        UnusableRow: the row's folder is missing, too large, or holds what is no file; or the row is nested
            too deeply for `row.json`.
    """

    def fill(target: Path) -> None:
        for name, text in task.files.items():
            path = target / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", errors="replace")
        if task.folder is not None:
            try:
                _copy_folder(task.folder, target)
            except OSError as error:
                raise UnusableRow(f"the row's folder {task.folder.path} cannot be copied: {error}") from error
        if row_file != "none" and not os.path.lexists(row := f"{target}/{ROW_FILE}"):
            _write_row(task, row_file, row)

    return fill


def _write_row(task: Task, row_file: RowFile, file: str) -> None:
    row = task.row if row_file == "full" else without(task.row, task.left_out)
    try:
        text = _indented(row) + "\n"
    except RecursionError:
        raise UnusableRow(
            f"{ROW_FILE} cannot be written: the row is nested too deeply (set dataset.row_file to none)"
        ) from None
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace") as out:
        out.write(text)


def _indented(row: Mapping[str, Any]) -> str:
    """As JSON for people. The library indents in Python, which takes long for the many rows that are flat."""
    if not row or any(isinstance(value, Mapping | list | tuple) for value in row.values()):
        return json.dumps(row, ensure_ascii=False, indent=2, default=str)
    pairs = (f"  {_FLAT.encode(name)}: {_FLAT.encode(value)}" for name, value in row.items())
    return "{\n" + ",\n".join(pairs) + "\n}"


def _copy_folder(seed: SeedFolder, target: Path) -> None:
    """Copy all that is in a folder, links as links; what is in the target already stays."""
    folder = Path(seed.path)
    if not folder.is_dir():
        state = "is not a folder" if folder.exists() else "is missing"
        raise UnusableRow(f"the row's folder {folder} {state} (setting dataset.files)")
    if not folder.resolve().is_relative_to(Path(seed.root).resolve()):
        raise UnusableRow(f"the row's folder {folder} is a link that leads out of {seed.root}")
    files = size = 0
    waiting = [(folder, target)]
    while waiting:
        source, goal = waiting.pop()
        for entry in _entries(source):
            files += 1
            size += entry.stat(follow_symlinks=False).st_size
            if files > MOST_FILES or size > MOST_BYTES:
                raise UnusableRow(
                    f"the row's folder {folder} is too large to be copied: "
                    f"at most {MOST_FILES:,} files and {MOST_BYTES >> 20} MiB"
                )
            if entry.is_dir(follow_symlinks=False):
                (goal / entry.name).mkdir(mode=0o700, exist_ok=True)
                waiting.append((Path(entry.path), goal / entry.name))
            elif not os.path.lexists(goal / entry.name):
                _copy_file(entry, goal / entry.name)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        return list(entries)


def _copy_file(entry: os.DirEntry[str], goal: Path) -> None:
    if entry.is_symlink():
        goal.symlink_to(os.readlink(entry.path))
    elif entry.is_file(follow_symlinks=False):
        shutil.copyfile(entry.path, goal, follow_symlinks=False)
        goal.chmod(0o700 if entry.stat().st_mode & 0o100 else 0o600)
    else:
        raise UnusableRow(f"{entry.path} is neither a file nor a folder nor a link: take it out")
