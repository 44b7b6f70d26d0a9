"""What holds a session's commands in: bubblewrap, else Landlock, else nothing.

One bwrap wraps the supervisor of a session, so its commands share a private /tmp, one PID namespace (which
the kernel ends whole) and, unless allowed, no network. They see the system read-only and one writable
folder; no home, no keys, no other session, none of agentscope's own state.

Landlock allows the same files, and no TCP. It gives no /tmp: TMPDIR is a folder beside the session's. Other
processes stay visible (not their memory or environment), UDP and Unix sockets in the file system usable.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, assert_never

from agentscope_tui.errors import UserError
from agentscope_tui.tools.environment import tool_environment

SandboxKind = Literal["bwrap", "landlock", "none"]

_PACKAGE = Path(__file__).parents[1]
_PACKAGE_INSIDE = Path("/run/agentscope") / _PACKAGE.name
"""Where bubblewrap shows it."""
_PYTHON_PREFIX = Path(sys.base_prefix).resolve()
PYTHON = _PYTHON_PREFIX / "bin" / f"python{sys.version_info.major}.{sys.version_info.minor}"

_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store")
_SYSTEM_PATH = ("/usr/local/bin", "/usr/bin", "/bin", "/usr/local/sbin", "/usr/sbin", "/sbin")
_ETC = (
    *("alternatives", "debian_version", "group", "os-release", "passwd"),
    *("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "locale.alias", "localtime", "timezone"),
    *("ca-certificates", "ca-certificates.conf", "pki", "ssl"),
    *("host.conf", "hosts", "nsswitch.conf", "protocols", "resolv.conf", "services"),
    *("fonts", "inputrc", "magic", "mime.types", "terminfo"),
)

_DEVICES = tuple(f"/dev/{name}" for name in ("null", "zero", "full", "random", "urandom"))


class SandboxError(UserError):
    """A sandbox that was asked for does not work, or is set up wrongly."""


@dataclass(frozen=True)
class Sandbox:
    """How commands are confined. `reason` says why not by something better; empty with bwrap.

    `read_only` are more folders to show inside, for example a version manager's.
    """

    name: SandboxKind
    reason: str = ""
    network: bool = False
    read_only: tuple[Path, ...] = ()
    bwrap: str = "bwrap"
    """The program's path."""
    tmp: str = "tmp"
    """The name of the folder that stands for /tmp, where one has to. Whoever ends removes it, so two that
    run at once may not share one."""

    def module(self, name: str, *words: str) -> list[str]:
        """The command line of a module of this folder, with paths as they are inside."""
        package = _PACKAGE_INSIDE if self.name == "bwrap" else _PACKAGE
        script = package / "tools" / "inside.py"
        return [str(PYTHON), "-I", "-S", "-X", "utf8", str(script), name, *words]

    def private_tmp(self, workdir: Path) -> Path | None:
        """The folder that stands for /tmp where the sandbox has none of its own; whoever starts it makes
        and removes it."""
        return workdir.resolve().parent / self.tmp if self.name == "landlock" else None

    def environment(self, workdir: Path) -> dict[str, str]:
        """The variables of a command: PATH has only what is visible inside, and always a `python3`."""
        path = os.environ.get("PATH", os.defpath).split(os.pathsep)
        python = str(_PYTHON_PREFIX / "bin")
        if self.name == "none":
            return tool_environment(workdir) | {"PATH": os.pathsep.join([*path, python])}
        shown = [entry for entry in path if any(Path(entry).is_relative_to(p) for p in self.read_only)]
        search = os.pathsep.join([*shown, python, *_SYSTEM_PATH])
        return tool_environment(workdir, search, tmp=str(self.private_tmp(workdir) or "/tmp"))

    def wrap(self, argv: Sequence[str], workdir: Path) -> list[str]:
        """The command line that runs `argv` confined, with the existing folder `workdir` writable at its
        own path. The caller gives it a clean environment: bwrap's own can be read inside.
        """
        match self.name:
            case "bwrap":
                return [*self._bubble(workdir.resolve()), *argv]
            case "landlock":
                rules = json.dumps(self._rules(workdir.resolve()))
                return self.module("landlock", rules, *argv)
            case "none":
                return list(argv)
            case _:
                assert_never(self.name)

    def _bubble(self, workdir: Path) -> list[str]:
        return [
            *(self.bwrap, "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"),
            *(["--share-net"] if self.network else []),
            *_system_mounts(),
            *("--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"),
            *("--ro-bind", str(_PACKAGE), str(_PACKAGE_INSIDE)),
            *self._folders(workdir),
            *("--remount-ro", "/", "--chdir", str(workdir), "--"),
        ]

    def _rules(self, workdir: Path) -> dict[str, object]:
        read = [*_SYSTEM, *(f"/etc/{name}" for name in _ETC), "/proc", str(_PYTHON_PREFIX), str(_PACKAGE)]
        tmp = self.private_tmp(workdir)
        return {
            "read": [*read, *map(str, self.read_only)],
            "write": [str(workdir), str(tmp), *_DEVICES],
            "network": self.network,
        }

    def _folders(self, workdir: Path) -> list[str]:
        shown = {path.resolve(): "--ro-bind" for path in self.read_only}
        if not _PYTHON_PREFIX.is_relative_to("/usr"):
            shown[_PYTHON_PREFIX] = "--ro-bind"
        shown[workdir] = "--bind"
        # Outer folders first: a mount hides what was mounted below its place before.
        inward = sorted(shown.items(), key=lambda item: len(item[0].parts))
        return [word for path, kind in inward for word in (kind, str(path), str(path))]


def _system_mounts() -> list[str]:
    words: list[str] = []
    for place in _SYSTEM:
        if os.path.islink(place):
            words += ["--symlink", os.readlink(place), place]
        elif os.path.isdir(place):
            words += ["--ro-bind", place, place]
    for name in _ETC:
        words += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    return words
