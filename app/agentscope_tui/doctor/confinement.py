"""What `agentscope doctor` says of the sandbox: which there is, what it holds, and what would be better."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agentscope_tui.tools.sandbox import Sandbox, SandboxKind
from agentscope_tui.tools.sandbox_probe import remedy

_HOLDS: Mapping[SandboxKind, Sequence[str]] = {
    "bwrap": (
        "✓ tools see the system read-only and write only to their row's folder and a private /tmp",
        "✓ no home, no keys, no other session; their processes are in a namespace that ends whole",
    ),
    "landlock": (
        "✓ tools read only the system's folders and write only to their row's folder and a private TMPDIR",
        "· other processes stay visible (not their memory or environment); UDP and Unix sockets are open",
    ),
    "none": ("✗ tools run as you: they can read your files and keys, and change what you can change",),
}


def sandbox_report(sandbox: Sandbox) -> list[str]:
    """One line for each thing to know."""
    lines = [f"sandbox: {sandbox.name}", *(f"  {line}" for line in _HOLDS[sandbox.name])]
    if sandbox.name != "none":
        lines.append(f"  {'· the network is open' if sandbox.network else '✓ no network'}")
    if sandbox.name != "bwrap" and sandbox.reason != "switched off":
        lines += [f"  · why not bubblewrap: {sandbox.reason}", f"    {remedy(sandbox.reason)}"]
    return lines
