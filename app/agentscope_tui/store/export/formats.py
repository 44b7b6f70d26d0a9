"""The formats that sessions are exported to: one line each. Their code is loaded when one is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TextIO, cast

if TYPE_CHECKING:
    from agentscope_tui.store.export.source import Source


def _nothing(note: str) -> None:
    pass


@dataclass(frozen=True)
class Choices:
    """What can be chosen for a format. `say` tells the user what an export leaves out."""

    min_reward: float | None = None
    """OpenAI chat: only sessions with at least this reward."""
    reasoning: bool = False
    """OpenAI chat: with what the model thought."""
    width: int = 100
    """Asciicast: columns."""
    idle: float = 2.0
    """Asciicast: seconds that a pause takes at most."""
    say: Callable[[str], None] = field(default=_nothing)


class Writer(Protocol):
    """Writes one session to a text file; whether there was anything to write."""

    def __call__(self, source: Source, out: TextIO, choices: Choices) -> bool: ...


class FileWriter(Protocol):
    """Writes one session to a file at `path`, and what belongs beside it; whether there was anything."""

    def __call__(self, source: Source, path: Path, choices: Choices) -> bool: ...


@dataclass(frozen=True)
class Format:
    """`suffix` ends a file's name, `about` tells the format in a few words.

    `module` has a function `write`: a `Writer`, or a `FileWriter` if the format `has_files` beside its own.
    What `joins` puts several sessions into one file.
    """

    suffix: str
    about: str
    module: str
    joins: bool = False
    has_files: bool = False

    @property
    def writer(self) -> Writer:
        """What writes it to a stream."""
        return cast(Writer, import_module(self.module).write)

    @property
    def file_writer(self) -> FileWriter:
        """What writes it to a path."""
        return cast(FileWriter, import_module(self.module).write)


_HERE = "agentscope_tui.store.export"

FORMATS: Mapping[str, Format] = {
    "atif": Format(".atif.json", "ATIF 1.8, a trajectory that other tools read", f"{_HERE}.atif"),
    "openai": Format(".jsonl", "OpenAI chat JSON lines, for fine-tuning", f"{_HERE}.openai_chat", joins=True),
    "markdown": Format(".md", "Markdown", f"{_HERE}.markdown"),
    "html": Format(".html", "one page for any browser; opens here again", f"{_HERE}.html"),
    "pytest": Format("_test.py", "a regression test", f"{_HERE}.pytest_file", has_files=True),
    "asciicast": Format(".cast", "a recording for asciinema", f"{_HERE}.asciicast"),
}
"""By the name that `--format` takes."""
