"""What must hold while the random user acts and after: recordings keep their promises, and nothing leaks."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from agentscope_tui.event_lines import event_from_json
from agentscope_tui.events import SessionEvent, Steer, UserMessageSent
from agentscope_tui.session.session import Session
from agentscope_tui.session.state import SessionState
from agentscope_tui.tui.app import AgentScopeApp
from fakes.session_rig import check_promises

TASKS_OF_A_SESSION = 100
TASKS_OF_THE_APP = 300
DESCRIPTORS_OF_A_SESSION = 40
GROWTH = 150 << 20
GROWTH_OF_A_MINUTE = 40 << 20
"""Bytes: what is kept of a session is bounded, but each call leaves lines in its transcript."""


class Faults(logging.Handler):
    """Collects what was logged as an error: a defect of ours, or a task that failed unseen."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.lines: list[str] = []
        self.setFormatter(logging.Formatter("%(name)s: %(message)s"))

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))

    def __enter__(self) -> Faults:
        logging.getLogger().addHandler(self)
        return self

    def __exit__(self, *exc: object) -> None:
        logging.getLogger().removeHandler(self)


@dataclass(frozen=True)
class Resources:
    """What this process holds now. `memory` is its resident bytes."""

    tasks: int
    descriptors: int
    children: int
    memory: int

    @classmethod
    def now(cls) -> Resources:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return cls(
            tasks=len(asyncio.all_tasks()),
            descriptors=len(os.listdir("/proc/self/fd")),
            children=len(children()),
            memory=pages * os.sysconf("SC_PAGE_SIZE"),
        )

    def __str__(self) -> str:
        return (
            f"{self.tasks} tasks, {self.descriptors} descriptors, {self.children} children, "
            f"{self.memory / (1 << 20):.0f} MiB"
        )


def children() -> list[int]:
    """The child processes of this process, of all its threads."""
    tasks = Path("/proc/self/task")
    return [int(pid) for task in tasks.iterdir() for pid in (task / "children").read_text().split()]


def check_while_running(app: AgentScopeApp, before: Resources) -> Resources:
    """What holds at any moment; returns what the process holds now."""
    assert app.crash is None, f"the app crashed: {app.crash!r}"
    now, sessions = Resources.now(), len(app.workspace.sessions) + 1
    assert now.tasks <= TASKS_OF_THE_APP + sessions * TASKS_OF_A_SESSION, now
    assert now.descriptors <= before.descriptors + 60 + sessions * DESCRIPTORS_OF_A_SESSION, now
    for row in app.workspace.sessions.values():
        assert len(row.state.entries) >= len(row.state.calls)
    return now


def check_recordings(state: Path) -> Counter[str]:
    """Every recorded session kept the promises; returns how many events of each kind there were."""
    kinds: Counter[str] = Counter()
    for file in sorted(state.glob("sessions/*/events.jsonl")):
        lines = file.read_bytes().split(b"\n")
        assert lines.pop() == b"", f"{file} ends inside a line"
        events = [event_from_json(line) for line in lines]
        folded = SessionState()
        for event in events:
            folded.apply(event)
        check_promises(events, folded)
        check_steers(events)
        kinds.update(event.kind for event in events)
        kinds["sessions"] += 1
    return kinds


def check_steers(events: list[SessionEvent]) -> None:
    """Each steer has one fate: it ended as answered, withdrawn or returned, or it started a turn; or the
    session ended after a call had taken it and before one was answered."""
    turns = {event.msg_id for event in events if isinstance(event, UserMessageSent)}
    told: dict[str, list[str]] = {}
    for event in events:
        if isinstance(event, Steer):
            told.setdefault(event.msg_id, []).append(event.status)
    for steer, statuses in told.items():
        ends = sum(status in ("answered", "withdrawn", "returned") for status in statuses)
        fates = ends + (steer in turns) + (not ends and statuses[-1] == "in_call")
        assert fates == 1, f"the steer {steer} has {fates} fates: {statuses}, turn: {steer in turns}"


def sessions_in_memory() -> int:
    """The sessions that something still holds."""
    gc.collect()
    return sum(isinstance(thing, Session) for thing in gc.get_objects())
