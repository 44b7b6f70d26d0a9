"""What holds a session's commands in: bubblewrap where it works, else nothing.

One bwrap wraps the supervisor of a session, so its commands share a private /tmp, one PID namespace (which
the kernel ends whole) and, unless allowed, no network. They see the system read-only and one writable
folder; no home, no keys, no other session, none of agentscope's own state.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from agentscope_tui.errors import UserError
from agentscope_tui.tools.environment import tool_environment

SandboxMode = Literal["auto", "bwrap", "none"]

SUPERVISOR = Path(__file__).with_name("supervisor.py")
_SUPERVISOR_INSIDE = "/run/agentscope/supervisor.py"
_PYTHON_PREFIX = Path(sys.base_prefix).resolve()
_PYTHON = _PYTHON_PREFIX / "bin" / f"python{sys.version_info.major}.{sys.version_info.minor}"

_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store")
_SYSTEM_PATH = ("/usr/local/bin", "/usr/bin", "/bin", "/usr/local/sbin", "/usr/sbin", "/sbin")
_ETC = (
    *("alternatives", "debian_version", "group", "os-release", "passwd"),
    *("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "locale.alias", "localtime", "timezone"),
    *("ca-certificates", "ca-certificates.conf", "pki", "ssl"),
    *("host.conf", "hosts", "nsswitch.conf", "protocols", "resolv.conf", "services"),
    *("fonts", "inputrc", "magic", "mime.types", "terminfo"),
)

_PROBE_SECONDS = 10.0


class SandboxError(UserError):
    """A sandbox that was asked for does not work, or is set up wrongly."""


@dataclass(frozen=True)
class Sandbox:
    """How commands are confined. `reason` says why not by bwrap; empty with bwrap.

    `read_only` are more folders to show inside, for example a version manager's.
    """

    name: Literal["bwrap", "none"]
    reason: str = ""
    network: bool = False
    read_only: tuple[Path, ...] = ()
    bwrap: str = "bwrap"
    """The program's path."""

    @property
    def supervisor(self) -> list[str]:
        """The start of the supervisor's command line, with paths as they are inside."""
        script = str(SUPERVISOR) if self.name == "none" else _SUPERVISOR_INSIDE
        return [str(_PYTHON), "-I", "-S", "-X", "utf8", script]

    def environment(self, workdir: Path) -> dict[str, str]:
        """The variables of a command: PATH has only what is visible inside, and always a `python3`."""
        path = os.environ.get("PATH", os.defpath).split(os.pathsep)
        python = str(_PYTHON_PREFIX / "bin")
        if self.name == "none":
            return tool_environment(workdir) | {"PATH": os.pathsep.join([*path, python])}
        shown = [entry for entry in path if any(Path(entry).is_relative_to(p) for p in self.read_only)]
        return tool_environment(workdir, os.pathsep.join([*shown, python, *_SYSTEM_PATH]))

    def wrap(self, argv: Sequence[str], workdir: Path) -> list[str]:
        """The command line that runs `argv` confined, with the existing folder `workdir` writable at its
        own path. The caller gives it a clean environment: bwrap's own can be read inside.
        """
        if self.name == "none":
            return list(argv)
        return [
            *(self.bwrap, "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"),
            *(["--share-net"] if self.network else []),
            *_system_mounts(),
            *("--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"),
            *("--ro-bind", str(SUPERVISOR), _SUPERVISOR_INSIDE),
            *self._folders(workdir.resolve()),
            *("--remount-ro", "/", "--chdir", str(workdir.resolve()), "--"),
            *argv,
        ]

    def _folders(self, workdir: Path) -> list[str]:
        shown = {path.resolve(): "--ro-bind" for path in self.read_only}
        if not _PYTHON_PREFIX.is_relative_to("/usr"):
            shown[_PYTHON_PREFIX] = "--ro-bind"
        shown[workdir] = "--bind"
        # Outer folders first: a mount hides what was mounted below its place before.
        inward = sorted(shown.items(), key=lambda item: len(item[0].parts))
        return [word for path, kind in inward for word in (kind, str(path), str(path))]


async def find_sandbox(
    mode: SandboxMode, *, network: bool = False, read_only: Sequence[Path] = ()
) -> Sandbox:
    """The sandbox for `mode`: `auto` takes bwrap if it works here, which is tried once per process.

    Raises:
        SandboxError: `mode` is `bwrap` and it does not work, or a `read_only` folder does not exist.
    """
    for path in read_only:
        if not path.is_dir():
            raise SandboxError(f"sandbox.read_only: there is no folder {path}; create it or remove it there")
    if mode == "none":
        return Sandbox("none", reason="switched off", network=True)
    program = shutil.which("bwrap") or shutil.which("bwrap", path=str(Path(sys.executable).parent))
    if program is None:
        fault = "bwrap is not installed"
    else:
        sandbox = Sandbox("bwrap", network=network, read_only=tuple(read_only), bwrap=program)
        fault = await _probe(program)
        if not fault:
            return sandbox
    if mode == "bwrap":
        raise SandboxError(f"{fault}; install bubblewrap, allow user namespaces, or set `sandbox` to auto")
    return Sandbox("none", reason=fault, network=True)


_probed: dict[str, str] = {}


async def _probe(program: str) -> str:
    """Why bwrap does not work here, or nothing: runs it once as a session would."""
    if program not in _probed:
        with tempfile.TemporaryDirectory(prefix="agentscope-") as folder:
            sandbox = Sandbox("bwrap", bwrap=program)
            argv = sandbox.wrap([str(_PYTHON), "-I", "-S", "-c", "import ctypes, socket"], Path(folder))
            _probed[program] = await _fault(argv, sandbox.environment(Path(folder)))
    return _probed[program]


async def _fault(argv: list[str], environment: dict[str, str]) -> str:
    nothing, pipe = asyncio.subprocess.DEVNULL, asyncio.subprocess.PIPE
    try:
        process = await asyncio.create_subprocess_exec(
            *argv, stdin=nothing, stdout=nothing, stderr=pipe, env=environment
        )
    except OSError as error:
        return f"bwrap does not start: {error.strerror}"
    try:
        _, stderr = await asyncio.wait_for(process.communicate(), _PROBE_SECONDS)
    except BaseException as error:
        process.kill()
        await process.wait()
        if isinstance(error, TimeoutError):
            return "bwrap does not work here: it hangs"
        raise
    if process.returncode == 0:
        return ""
    lines = stderr.decode(errors="replace").strip().splitlines() or [f"exit {process.returncode}"]
    return f"bwrap does not work here: {lines[-1]}"


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
