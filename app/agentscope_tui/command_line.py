"""A command line in a flag or a setting: its words, and where the program that it names is."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path

from agentscope_tui.errors import UsageError


def command_words(text: str, what: str) -> list[str]:
    """The words of a command line; none if it is blank. `what` names it in the error.

    Raises:
        UsageError: it is no command line, for example since a quote is not closed.
    """
    try:
        return shlex.split(text)
    except ValueError as error:
        raise UsageError(f"{what}: {str(error).rstrip('.').lower()}") from None


def find_program(name: str, cwd: Path, environ: Mapping[str, str]) -> str | None:
    """The path of a program: a name with a slash counts from `cwd`, any other is looked for in PATH. None:
    there is no such program."""
    return shutil.which(str(cwd / name) if os.sep in name else name, path=environ.get("PATH"))
