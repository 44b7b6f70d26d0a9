"""What runs on a Ray worker: sessions like any other, whose events go to the driver as they happen.

Keys are the worker's own: they come from its environment and its user's settings file, never with a job.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentscope_tui.batch.elsewhere import WHOLE, pack
from agentscope_tui.config import KeptSettings, load_settings
from agentscope_tui.datasets.task import Task
from agentscope_tui.errors import UserError
from agentscope_tui.event_lines import event_to_json
from agentscope_tui.events import SessionEvent
from agentscope_tui.session.launch import Launcher
from agentscope_tui.session.session import Session
from agentscope_tui.store.folders import JUDGE_OF, read_meta
from agentscope_tui.store.together import stay_in_the_loop

FLUSH = 1 / 30
"""Seconds for which events are joined before they are sent."""
_CHUNK = 1 << 20

Piece = tuple[str, Any]
"""What comes from a worker: `opened` (id, meta.json), `events` (lines), `judge` (id, a tar file of the whole
session), `files` (part of a tar file), `refused` (why there is no session)."""


@dataclass(frozen=True)
class WorkerSetup:
    """What a worker needs to know: the driver's settings without its secrets, and what is run."""

    flags: dict[str, object]
    settings: dict[str, Any]
    variables: dict[str, str]
    """The driver's own AGENTSCOPE_ variables: settings, never keys."""
    cwd: str
    dataset: str
    identity: str
    model: str


class Worker:
    """One process of the cluster; many sessions at a time."""

    def __init__(self, setup: WorkerSetup) -> None:
        stay_in_the_loop()
        self._home = tempfile.TemporaryDirectory(prefix="agentscope-worker-")
        environ = {**os.environ, **setup.variables, "AGENTSCOPE_HOME": self._home.name}
        kept = KeptSettings(Path(self._home.name) / "driver", "", setup.settings)
        config = load_settings(setup.flags, cwd=Path(setup.cwd), environ=environ, kept=kept)
        self._launcher = Launcher(config, Path(setup.dataset), model=setup.model, identity=setup.identity)
        self._sessions: dict[str, Session] = {}

    def pid(self) -> int:
        """This process."""
        return os.getpid()

    def sessions(self) -> list[str]:
        """The sessions whose folders are here now."""
        return [folder.name for folder in self._launcher.sessions.iterdir()]

    async def run(self, key: str, task: Task, labels: dict[str, object]) -> AsyncIterator[Piece]:
        """Run a task to its end; `act` reaches it by `key` meanwhile."""
        try:
            if reason := await self._launcher.unconfined_reason():
                yield "refused", f"nothing confines tools on a worker ({reason}): --no-sandbox allows that"
                return
            opened = await self._launcher.open(task, mode="run", patient=False, labels=labels)
        except UserError as error:
            yield "refused", str(error)
            return
        events = _Outbox()
        async with aclosing(opened):
            opened.bus.subscribe(events)
            self._sessions[key] = opened.session
            yield "opened", (opened.folder.path.name, (opened.folder.path / "meta.json").read_bytes())
            running = asyncio.create_task(_run(opened), name=f"session {key}")
            try:
                while lines := await events.next(running):
                    yield "events", lines
                if refusal := await running:
                    yield "refused", refusal
            finally:
                running.cancel()
                del self._sessions[key]
        if lines := events.rest():
            yield "events", lines
        for judge in _judges(opened.folder.path):
            with tempfile.TemporaryFile() as packed:
                await asyncio.to_thread(pack, judge, packed, WHOLE)
                packed.seek(0)
                yield "judge", (judge.name, packed.read())
            await asyncio.to_thread(shutil.rmtree, judge, ignore_errors=True)
        with tempfile.TemporaryFile() as packed:
            await asyncio.to_thread(pack, opened.folder.path, packed)
            packed.seek(0)
            while chunk := packed.read(_CHUNK):
                yield "files", chunk
        # It is the driver's now; a worker runs many.
        await asyncio.to_thread(shutil.rmtree, opened.folder.path, ignore_errors=True)

    async def act(self, key: str, name: str, values: tuple[Any, ...], named: dict[str, Any]) -> None:
        """Do something with a session that runs here; nothing where it has ended."""
        session = self._sessions.get(key)
        if session is not None:
            getattr(session, name)(*values, **named)

    async def end(self, key: str, reason: str) -> None:
        """End a session; its `run` goes on to its last piece."""
        session = self._sessions.get(key)
        if session is not None:
            await session.end(reason)


def _judges(folder: Path) -> list[Path]:
    """The sessions of the models that judged the one in `folder`."""
    beside = (other for other in folder.parent.iterdir() if other != folder)
    return [other for other in beside if read_meta(other).get(JUDGE_OF) == folder.name]


class _Outbox:
    """Events on their way, as lines of JSON."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._news = asyncio.Event()

    def __call__(self, event: SessionEvent) -> None:
        self._lines.append(event_to_json(event))
        self._news.set()

    async def next(self, running: asyncio.Task[str]) -> bytes:
        """What has come, joined for a moment; empty once `running` is over and all was given."""
        news = asyncio.create_task(self._news.wait())
        await asyncio.wait({news, running}, return_when=asyncio.FIRST_COMPLETED)
        news.cancel()
        if not running.done():
            await asyncio.sleep(FLUSH)
        return self.rest()

    def rest(self) -> bytes:
        self._news.clear()
        lines, self._lines = self._lines, []
        return "".join(f"{line}\n" for line in lines).encode()


async def _run(opened: Any) -> str:
    """Why it did not start; empty when it ran."""
    try:
        await opened.start()
        await opened.session.settled()
    except UserError as error:
        return str(error)
    return ""
