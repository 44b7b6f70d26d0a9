"""A session that runs in another process, as it is seen here: its events, its recording, and acts on it."""

from __future__ import annotations

import shutil
import tarfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, Any

from agentscope_tui.bus import EventBus
from agentscope_tui.clock import Clock
from agentscope_tui.datasets.task import Task
from agentscope_tui.event_lines import event_from_json
from agentscope_tui.session.gate import Decision
from agentscope_tui.session.session import Status
from agentscope_tui.session.tally import Tally
from agentscope_tui.store.folders import SessionFolder, read_meta
from agentscope_tui.store.past import PastSession
from agentscope_tui.store.recorded_bus import recorded_bus

Act = Callable[[str, tuple[Any, ...], dict[str, Any]], None]
"""Does something with the session where it runs: the name of one of its methods, and what it is given."""

PACKED = ("outputs", "files", "wire", "snapshots")
"""What of a session's folder comes over when it has ended; its events come as they happen."""
WHOLE = (*PACKED, "events.jsonl", "meta.json")
"""What comes over of a session that was not seen while it ran."""


class SessionElsewhere:
    """What the user can ask of it. Acts are sent and not waited for: what comes of them are events."""

    def __init__(self, bus: EventBus, tally: Tally, act: Act) -> None:
        self.bus = bus
        self._tally = tally
        self._act = act

    @property
    def status(self) -> Status:
        return self._tally.status

    def step(self, *, fine: bool = False, hold: int | None = None) -> None:
        self._act("step", (), {"fine": fine, "hold": hold})

    def run_on(self) -> None:
        self._act("run_on", (), {})

    def pause(self) -> None:
        self._act("pause", (), {})

    def decide(self, decision: Decision, *, hold: int | None = None) -> bool:
        self._act("decide", (decision,), {"hold": hold})
        return True

    def retry(self, *, hold: int | None = None) -> bool:
        self._act("retry", (), {"hold": hold})
        return True

    def send(self, text: str) -> None:
        self._act("send", (text,), {})

    def edit_steer(self, msg_id: str, text: str) -> bool:
        self._act("edit_steer", (msg_id, text), {})
        return True

    def withdraw_steer(self, msg_id: str) -> bool:
        self._act("withdraw_steer", (msg_id,), {})
        return True

    def move_steer(self, msg_id: str, position: int) -> bool:
        self._act("move_steer", (msg_id, position), {})
        return True

    def score(self) -> bool:
        self._act("score", (), {})
        return True

    def interrupt(self, reason: str = "interrupted by the user") -> bool:
        self._act("interrupt", (reason,), {})
        return self.status == "running"


class OpenedElsewhere:
    """It, with its task, its folder here and its recording; an `OpenSession` is the same for one of ours."""

    def __init__(self, task: Task, folder: Path, act: Act) -> None:
        """Makes the folder's recording; the folder and its `meta.json` are there.

        Raises:
            UserError: it cannot be written.
        """
        self.task = task
        self.folder = SessionFolder(folder)
        self.tally = Tally()
        self.bus, self._recorder = recorded_bus(folder, folder.name, Clock())
        self.bus.subscribe(self.tally.apply)
        self.session = SessionElsewhere(self.bus, self.tally, act)

    def take(self, lines: bytes) -> None:
        """Take events as they come, each a line of JSON."""
        for line in lines.splitlines():
            self.bus.repeat(event_from_json(line))

    def past(self) -> PastSession:
        """What has happened in it by now. For a thread: it may be a lot."""
        return PastSession(self.bus.read(1, self.bus.last_seq), self.folder, read_meta(self.folder.path))

    async def aclose(self, reason: str = "") -> None:
        """Return when all that came is recorded."""
        await self._recorder.aclose()


def pack(folder: Path, into: IO[bytes], names: Sequence[str] = PACKED) -> None:
    """Write what there is of these names in a session's folder as a tar file."""
    with tarfile.open(fileobj=into, mode="w:gz", compresslevel=1) as tar:
        for name in names:
            if (folder / name).exists():
                tar.add(folder / name, name, filter=_kept)


def unpack(packed: IO[bytes], folder: Path) -> None:
    """Put what `pack` wrote into the session's folder; nothing is written outside of it.

    Raises:
        OSError: it cannot be written.
        tarfile.TarError: it is damaged, or would lead outside.
    """
    for name in PACKED:
        shutil.rmtree(folder / name, ignore_errors=True)
    with tarfile.open(fileobj=packed, mode="r:gz") as tar:
        tar.extractall(folder, filter="tar")


def _kept(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    """Files, folders and links; who owned them does not matter."""
    if not (member.isfile() or member.isdir() or member.issym()):
        return None
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member
