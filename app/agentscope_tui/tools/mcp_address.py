"""What `--mcp` names: a server's URL, the command that runs one, or a folder whose `main.py` makes one."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from agentscope_tui.command_line import command_words, find_program
from agentscope_tui.errors import UsageError
from agentscope_tui.runners.python import mcp_folder_command
from agentscope_tui.secrets import MASKER

NEEDS_PACKAGE = "--mcp needs the package mcp, version 2: pip install 'agentscope-tui[mcp]'"
_WORKDIR = "{workdir}"
_VARIABLE = re.compile(r"\$\{(\w+)\}", re.ASCII)


@dataclass(frozen=True)
class McpAddress:
    """A server as the user named it. `argv` is empty for one behind a URL, which may want `headers`."""

    text: str
    argv: tuple[str, ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)

    def command(self, workdir: Path) -> list[str]:
        """The command for a session that works in `workdir`, which `{workdir}` in its words stands for."""
        return [word.replace(_WORKDIR, str(workdir)) for word in self.argv]


def mcp_addresses(
    named: Sequence[str],
    python: str | None,
    cwd: Path,
    environ: Mapping[str, str],
    headers: Mapping[str, Mapping[str, str]] | None = None,
) -> list[McpAddress]:
    """The servers that are named, for a start in the folder `cwd`. `python` runs those that are folders.
    `headers` are those that a URL wants, by the URL.

    Raises:
        UsageError: one is no command, or its program is not there, or the package `mcp` is not installed, or
            a header needs a variable that is not set.
    """
    if named and importlib.util.find_spec("mcp") is None:
        raise UsageError(NEEDS_PACKAGE)
    return [_address(text, python, cwd, environ, headers or {}) for text in named]


def _address(
    text: str,
    python: str | None,
    cwd: Path,
    environ: Mapping[str, str],
    headers: Mapping[str, Mapping[str, str]],
) -> McpAddress:
    if text.startswith(("http://", "https://")):
        wanted = headers.get(text, {})
        return McpAddress(
            text, headers={name: _filled(text, name, value, environ) for name, value in wanted.items()}
        )
    if text.strip() and (cwd / text).is_dir():
        return McpAddress(text, tuple(mcp_folder_command(text, python, cwd, environ)))
    words = command_words(text, f"--mcp {text}")
    if not words:
        raise UsageError("--mcp names no server: give its command, its URL or its folder")
    if find_program(words[0], cwd, environ) is None:
        raise UsageError(f"--mcp {text}: there is no program {words[0]}")
    return McpAddress(text, tuple(words))


def _filled(url: str, header: str, text: str, environ: Mapping[str, str]) -> str:
    """The value of a header. What comes from a variable is a secret from then on."""
    where = f"tools.mcp_headers for {url}: {header}"
    for name in _VARIABLE.findall(text):
        if not environ.get(name):
            raise UsageError(f"{where} needs the variable {name}, which is not set")
        MASKER.learn([environ[name]])
    value = _VARIABLE.sub(lambda found: environ[found[1]], text).strip()
    if not (value.isascii() and value.isprintable() and re.fullmatch(r"[A-Za-z0-9-]+", header)):
        raise UsageError(f"{where} is no header, or its value has characters that none can have")
    return value
