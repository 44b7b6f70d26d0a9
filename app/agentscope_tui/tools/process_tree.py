"""The processes below one, read from /proc: who they are, and what they use.

Standard library only: the supervisor runs where nothing else is.
"""

from __future__ import annotations

import os
import resource
import signal
import sys

from agentscope_tui.tools.limits import LimitName

LINUX = sys.platform == "linux"

_WATCH = 0.2
"""Seconds between two looks at what a command uses."""
_PAGE = resource.getpagesize()
_TICKS = os.sysconf("SC_CLK_TCK")


def descendants(root: int, spare: set[int] | frozenset[int] = frozenset()) -> dict[int, int]:
    """The processes below `root` and their process groups, without `spare` and what is below those."""
    if not LINUX:
        return {}
    children: dict[int, list[tuple[int, int]]] = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb", buffering=0) as file:
                stat = file.read()
        except OSError:  # ended since the listing
            continue
        # The name in parentheses may hold anything, also parentheses.
        _, parent, group = stat.rpartition(b")")[2].split()[:3]
        children.setdefault(int(parent), []).append((int(name), int(group)))
    found: dict[int, int] = {}
    ahead = [root]
    while ahead:
        for pid, group in children.get(ahead.pop(), ()):
            if pid not in spare and pid not in found:
                found[pid] = group
                ahead.append(pid)
    return found


class Watch:
    """What the tree below this keeper uses, held against limits by name; each is told once."""

    def __init__(self, limits: dict[LimitName, int]) -> None:
        self._limits = dict(limits) if LINUX else {}

    def wait(self) -> int:
        """The signal that came; 0 when it is time to look."""
        signals = {signal.SIGCHLD, signal.SIGTERM}
        if not self._limits:
            return signal.sigwait(signals)
        came = signal.sigtimedwait(signals, _WATCH)
        return came.si_signo if came is not None else 0

    def reached(self) -> LimitName | None:
        """A limit that the tree is over now."""
        if not self._limits:
            return None
        tree = descendants(os.getpid())
        own = os.times()
        cpu = own.children_user + own.children_system
        memory = files = 0
        for pid in tree:
            try:
                with open(f"/proc/{pid}/stat", "rb", buffering=0) as file:
                    stat = file.read().rpartition(b")")[2].split()
                memory += int(stat[21]) * _PAGE
                cpu += sum(map(int, stat[11:15])) / _TICKS
                if "open_files" in self._limits:
                    files = max(files, len(os.listdir(f"/proc/{pid}/fd")))
            except OSError:  # ended since the listing, or another user's program
                continue
        used: dict[LimitName, float] = {
            "cpu": cpu,
            "memory": memory,
            "processes": len(tree),
            "open_files": files,
        }
        for name, limit in self._limits.items():
            if used[name] > limit or (name == "open_files" and files >= limit):
                del self._limits[name]
                return name
        return None
