"""Finds out what can confine tools on this machine, by trying it, and says what would make it better."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Literal

from agentscope_tui.tools.sandbox import PYTHON, Sandbox, SandboxError

SandboxMode = Literal["auto", "required", "bwrap", "landlock", "none"]

_PROBE_SECONDS = 10.0
_REMEDIES = (
    ("is not installed", "install bubblewrap, for example with: apt install bubblewrap"),
    (
        "uid map",
        "let users make namespaces: sysctl kernel.apparmor_restrict_unprivileged_userns=0, or an AppArmor "
        "profile for bwrap",
    ),
    (
        "Operation not permitted",
        "in a container, start it with --security-opt seccomp=unconfined --security-opt apparmor=unconfined",
    ),
    (
        "namespace",
        "let users make namespaces: sysctl kernel.unprivileged_userns_clone=1 or "
        "user.max_user_namespaces=10000",
    ),
    ("", "run `bwrap --unshare-all --ro-bind / / true` to see what it needs"),
)


async def find_sandbox(
    mode: SandboxMode, *, network: bool = False, read_only: Sequence[Path] = ()
) -> Sandbox:
    """The sandbox for `mode`; what works is tried once per process.

    `auto` takes bwrap, else Landlock, else nothing; `required` takes bwrap or Landlock.

    Raises:
        SandboxError: what `mode` needs does not work here, or a `read_only` folder does not exist.
    """
    for path in read_only:
        if not path.is_dir():
            raise SandboxError(f"sandbox.read_only: there is no folder {path}; create it or remove it there")
    if mode == "none":
        return Sandbox("none", reason="switched off", network=True)
    wanted = Sandbox("none", network=network, read_only=tuple(read_only))
    faults: list[str] = []
    if mode != "landlock":
        bubble = replace(wanted, name="bwrap", bwrap=bwrap_program())
        fault = await _try(bubble)
        if not fault:
            return bubble
        faults.append(fault)
    if mode != "bwrap":
        fault = await _try(replace(wanted, name="landlock"))
        if not fault:
            return replace(wanted, name="landlock", reason="; ".join(faults))
        faults.append(fault)
    if mode != "auto":
        advice = "set `sandbox.mode` to auto"
        if mode != "landlock":
            advice = f"{remedy(faults[0])}, or {advice}"
        raise SandboxError(f"{'; '.join(faults)}; {advice}")
    return replace(wanted, name="none", reason="; ".join(faults), network=True)


def remedy(fault: str) -> str:
    """What would let bubblewrap work, for what it said."""
    return next(words for sign, words in _REMEDIES if sign in fault)


def bwrap_program() -> str:
    """The path of bwrap, also where only this interpreter's environment has it; empty: there is none."""
    return _program(os.environ.get("PATH"))


@cache
def _program(path: str | None) -> str:
    """It is looked for once: each session asks."""
    ours = str(Path(sys.executable).parent)
    return shutil.which("bwrap", path=path) or shutil.which("bwrap", path=ours) or ""


_tried: dict[tuple[str, str], str] = {}


async def _try(sandbox: Sandbox) -> str:
    """Why this kind does not work here, or nothing: runs it once as a session would."""
    if sandbox.name == "bwrap" and not sandbox.bwrap:
        return "bwrap is not installed"
    key = (sandbox.name, sandbox.bwrap if sandbox.name == "bwrap" else "")
    if key not in _tried:
        with tempfile.TemporaryDirectory(prefix="agentscope-") as folder:
            work = Path(folder) / "work"
            plain = Sandbox(sandbox.name, bwrap=sandbox.bwrap)
            for path in (work, plain.private_tmp(work)):
                if path is not None:
                    path.mkdir()
            argv = plain.wrap([str(PYTHON), "-I", "-S", "-c", "import ctypes, socket"], work)
            _tried[key] = await _fault(sandbox.name, argv, plain.environment(work))
    return _tried[key]


async def _fault(name: str, argv: list[str], environment: dict[str, str]) -> str:
    nothing, pipe = asyncio.subprocess.DEVNULL, asyncio.subprocess.PIPE
    try:
        process = await asyncio.create_subprocess_exec(
            *argv, stdin=nothing, stdout=nothing, stderr=pipe, env=environment
        )
    except OSError as error:
        return f"{name} does not start: {error.strerror}"
    try:
        _, stderr = await asyncio.wait_for(process.communicate(), _PROBE_SECONDS)
    except BaseException as error:
        process.kill()
        await process.wait()
        if isinstance(error, TimeoutError):
            return f"{name} does not work here: it hangs"
        raise
    if process.returncode == 0:
        return ""
    lines = stderr.decode(errors="replace").strip().splitlines() or [f"exit {process.returncode}"]
    return f"{name} does not work here: {lines[-1]}"
