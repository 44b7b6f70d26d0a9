"""Where an agent's own program runs: as the user, or, if the user wants it so, confined as tools are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from agentscope_tui.command_line import find_program
from agentscope_tui.runners.python import PYTHON_AGENT
from agentscope_tui.tools.sandbox import Sandbox


@dataclass(frozen=True)
class Home:
    """`cwd` is where the program starts. Confined, it may write only to `folder`."""

    cwd: Path
    sandbox: Sandbox = field(default_factory=lambda: Sandbox("none"))
    folder: Path | None = None

    @property
    def writable(self) -> Path:
        """The folder that a sandbox opens to it."""
        return self.folder or self.cwd

    def environment(self, env: Mapping[str, str]) -> dict[str, str]:
        """The program's variables: its home and its temporary files are where it may write."""
        if self.folder is None:
            return dict(env)
        tmp = str(self.sandbox.private_tmp(self.folder) or "/tmp")
        return {**env, "HOME": str(self.folder), "TMPDIR": tmp}


def confined_home(
    sandbox: Sandbox,
    argv: Sequence[str],
    *,
    cwd: Path,
    folder: Path,
    environ: Mapping[str, str],
    network: bool,
) -> Home:
    """A home in which the program sees the system, its working folder and its interpreter, and writes to
    `folder`; `network` opens the network to it, where its model's endpoint is."""
    shown = (cwd, PYTHON_AGENT, *_interpreter(argv, cwd, environ))
    seen = tuple(dict.fromkeys((*sandbox.read_only, *(path for path in shown if path.is_dir()))))
    sandbox = replace(sandbox, read_only=seen, network=network or sandbox.network, tmp="agent-tmp")
    return Home(cwd, sandbox, folder)


def _interpreter(argv: Sequence[str], cwd: Path, environ: Mapping[str, str]) -> list[Path]:
    """The folders that a program needs from outside the system's: where it is, and where it links to."""
    found = find_program(argv[0], cwd, environ)
    if found is None:
        return []
    places = (Path(found).absolute(), Path(found).resolve())
    return [place.parent.parent for place in places if not place.is_relative_to("/usr")]
