"""`agentscope export`: sessions and other tools' files written in the formats of `store/export`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from io import TextIOBase, TextIOWrapper
from pathlib import Path
from typing import TextIO, cast

from agentscope_tui.config import Config
from agentscope_tui.errors import UsageError, UserError
from agentscope_tui.export_flags import Request
from agentscope_tui.folders import sessions_dir
from agentscope_tui.new_files import new_file
from agentscope_tui.printable import printable
from agentscope_tui.progress import progress_bar
from agentscope_tui.store.export.formats import FORMATS, Choices, Format
from agentscope_tui.store.export.source import Source, imported, recorded
from agentscope_tui.store.find import find_session
from agentscope_tui.store.imports import Trajectories, open_trajectories
from agentscope_widgets.safe_text import safe_text

STDOUT = "-"

Progress = Callable[[int, int | None, str], None]


def export(config: Config, request: Request) -> int:
    """Write what was asked for, and say on standard error where; 0, or 1 where there was nothing to write.

    Raises:
        UserError: there is no such session or file, or it cannot be written.
    """
    choices = replace(request.choices, say=_say)
    format = FORMATS[request.format]
    found = list(_found(request.names, sessions_dir(config.state)))
    if not found:
        raise UserError(f"there is no session in {', '.join(request.names)}")
    with progress_bar() as tell:
        sources = (one.source(tell, place, len(found)) for place, one in enumerate(found))
        if format.has_files or not _in_one(format, request, len(found)):
            written = _each_to_a_file(sources, format, request, choices, alone=len(found) == 1)
        else:
            written = _all_to_one(sources, format, request, choices, name=_joint_name(found))
    return 0 if written else 1


@dataclass(frozen=True)
class _Found:
    """A session that was named: a folder, or the place of one in a file."""

    folder: Path | None = None
    file: Trajectories | None = None
    number: int = 0

    @property
    def name(self) -> str:
        if self.folder is not None:
            return self.folder.resolve().name
        assert self.file is not None
        stem = self.file.path.name.partition(".")[0] or self.file.path.name
        return stem if len(self.file) == 1 else f"{stem}-{self.number + 1}"

    def source(self, tell: Progress, place: int, of: int) -> Source:
        words = self.name if of == 1 else f"{self.name} ({place + 1} of {of})"
        tell(0, None, words)
        if self.folder is None:
            assert self.file is not None
            return imported(self.file.session(self.number), self.name)
        source = recorded(self.folder)
        return replace(source, on_read=lambda done: tell(done, source.size, words))


def _found(names: Iterable[str], sessions: Path) -> Iterator[_Found]:
    for name in names:
        path = Path(name).expanduser()
        if path.is_file() and path.name != "events.jsonl":
            file = open_trajectories(path)
            yield from (_Found(file=file, number=number) for number in range(len(file)))
        elif path.is_dir() and not (path / "events.jsonl").is_file():
            inside = sorted(path.glob("*/events.jsonl")) or sorted(path.glob("*/*/events.jsonl"))
            yield from (_Found(event.parent) for event in inside)
        else:
            yield _Found(find_session(name, sessions))


def _in_one(format: Format, request: Request, count: int) -> bool:
    """Whether all goes to one file or stream."""
    if count > 1 and not format.joins:
        if request.output == STDOUT:
            raise UsageError(f"{count} sessions as {request.format} are {count} files: name a folder with -o")
        return False
    is_folder = request.output.endswith(os.sep) or (request.output != "" and Path(request.output).is_dir())
    return not is_folder


def _joint_name(found: Sequence[_Found]) -> str:
    return found[0].name if len(found) == 1 else "sessions"


def _all_to_one(
    sources: Iterable[Source], format: Format, request: Request, choices: Choices, *, name: str
) -> bool:
    writer = format.writer
    if request.output == STDOUT or (not request.output and not sys.stdout.isatty()):
        out = _standard_output()
        written = [writer(source, out, choices) for source in sources]
        sys.stdout.flush()
        return any(written)
    path = Path(request.output or f"{name}{format.suffix}").expanduser()
    with new_file(path) as out:
        written = [writer(source, out, choices) for source in sources]
        if not any(written):
            raise UserError(f"nothing to export: {path} was not written")
    many = f" ({sum(written)} of {len(written)} sessions)" if len(written) > 1 else ""
    _say(f"wrote {path}{many}")
    return True


def _each_to_a_file(
    sources: Iterable[Source], format: Format, request: Request, choices: Choices, *, alone: bool
) -> bool:
    if request.output == STDOUT:
        raise UsageError(f"{request.format} is more than one file: name one with -o")
    given = Path(request.output).expanduser() if request.output else Path()
    as_file = alone and bool(request.output) and not given.is_dir() and not request.output.endswith(os.sep)
    if not as_file:
        given.mkdir(parents=True, exist_ok=True)
    any_written = False
    for source in sources:
        path = given if as_file else given / f"{source.name}{format.suffix}"
        if format.has_files:
            written = format.file_writer(source, path, choices)
        else:
            with new_file(path) as out:
                written = format.writer(source, out, choices)
        if written:
            _say(f"wrote {path}")
        any_written |= written
    return any_written


def _standard_output() -> TextIO:
    """Standard output for a file of UTF-8; a terminal gets nothing that it would obey or hide."""
    if sys.stdout.isatty():
        return cast(TextIO, _Terminal())
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")
    return sys.stdout


class _Terminal(TextIOBase):
    """Makes what is written safe to show."""

    def write(self, text: str) -> int:
        return sys.stdout.write(safe_text(text))


def _say(note: str) -> None:
    print(f"agentscope: {printable(note)}", file=sys.stderr)
