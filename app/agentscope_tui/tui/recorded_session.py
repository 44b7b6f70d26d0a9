"""A recording on screen: nothing runs, and the state is that of the place in it which is looked at.

A playhead is after one event, at first the last one. It is moved, or plays; while another process still
writes the recording, a playhead at its end stays there.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeVar

from agentscope_tui.errors import UserError
from agentscope_tui.store.checkpoints import PlacedFold
from agentscope_tui.store.event_source import FileEvents, GivenEvents, Place, PlacedEvent
from agentscope_tui.store.folders import SessionFolder
from agentscope_tui.store.following import Follower
from agentscope_tui.store.lock import is_locked
from agentscope_tui.store.marks import Mark
from agentscope_tui.store.past import PastSession
from agentscope_tui.store.reopen import closing_of, read_session
from agentscope_tui.store.tape import Stopped, Tape
from agentscope_tui.tui.player import Player
from agentscope_tui.tui.shown_row import News, ShownRow

log = logging.getLogger(__name__)

T = TypeVar("T")

READ_AHEAD = 1_000
"""Events that are read ahead while playing."""
NEAR = 500
"""Events ahead that are added to the state on screen; what is further is folded in a thread."""
SLICE_SECONDS = 0.012
"""How long events are folded at a time, about; the screen goes on in between."""
SLOW_SECONDS = 0.5
"""After which it is told how far a move of the playhead has come."""

FOLLOW_SECONDS = 1 / 30
"""Between two looks at a recording that is still written."""


class RecordedRow(ShownRow):
    """A session that is over, or that another process runs (`live`)."""

    def __init__(
        self,
        tape: Tape,
        fold: PlacedFold,
        index: int | None,
        past: PastSession | None = None,
        folder: SessionFolder | None = None,
        *,
        live: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`fold` is the state at the end of the tape; `past` is given where the session is in no folder."""
        super().__init__(index, folder)
        self.tape = tape
        self.live = live
        self.problem = ""
        """What is wrong with the recording, in words."""
        self.player = Player()
        self._past = past
        self._clock = clock
        self._fold = fold
        self.state = fold.state
        self._target: int | None = None
        self._stop = threading.Event()
        self._using_tape = asyncio.Lock()
        self._moving: asyncio.Task[None] | None = None
        self._reading: asyncio.Task[None] | None = None
        self._begun = 0.0
        self._done = 0.0
        self._following: asyncio.Task[None] | None = None
        self._attached = True
        """Whether the playhead stays at the end when that moves on."""
        self._arrived: deque[PlacedEvent] = deque()
        self._changed = self._anew = False
        self._said = ""

    @classmethod
    def of_past(cls, past: PastSession, index: int | None) -> RecordedRow:
        """A session that was imported: for a thread."""
        tape = Tape(GivenEvents(past.events))
        return cls(tape, tape.to_end(threading.Event()), index, past, past.folder)

    @classmethod
    def of_folder(
        cls,
        folder: Path,
        index: int | None = None,
        stop: threading.Event | None = None,
        progress: Callable[[float], None] | None = None,
    ) -> RecordedRow:
        """The recording in a session's folder, at its end: for a thread.

        Raises:
            UserError: there is no recording, or not one whole event in it.
            Stopped: `stop` was set.
        """
        live = is_locked(folder)
        try:
            tape = Tape(FileEvents(folder / "events.jsonl"), folder)
            fold = tape.to_end(stop or threading.Event(), progress)
        except OSError as error:
            raise UserError(f"there is no recording to read in {folder}: {error.strerror}") from error
        if not tape.last:
            raise UserError(f"the recording in {folder} is empty or damaged from its beginning")
        if not live:
            try:
                tape.save_index(fold)
            except OSError as error:
                log.info("no index of %s: %s", folder, error)
            for placed in _closing(tape, fold):
                fold.apply(placed)
        return cls(tape, fold, index, folder=SessionFolder(folder), live=live)

    @property
    def session_id(self) -> str:
        if self._past is not None:
            return self._past.session_id
        return self.folder.path.name if self.folder is not None else ""

    @property
    def at(self) -> int:
        """The number of the event that the playhead is after, or is going to be."""
        return self._fold.seq if self._target is None else self._target

    @property
    def at_end(self) -> bool:
        return self.at >= self.tape.last

    @property
    def moving(self) -> bool:
        """Whether the playhead is on its way."""
        return self._target is not None

    @property
    def seeking(self) -> float | None:
        """How much of a slow move of the playhead is done, from 0 to 1; None: there is none."""
        slow = self._target is not None and self._clock() - self._begun > SLOW_SECONDS
        return self._done if slow else None

    def now(self) -> datetime:
        if self.live and self._attached:
            return datetime.now(UTC)
        return self._fold.at + timedelta(seconds=self.player.since)

    def past(self) -> PastSession:
        if self._past is not None or self.folder is None:
            assert self._past is not None
            return self._past
        past = read_session(self.folder.path)
        added = self.tape.source.added
        return PastSession([*past.events, *added], past.folder, past.meta, len(added), past.cut)

    # What changes

    def pump(self) -> News:
        """What the player, a move of the playhead or the other process brought."""
        deadline = self._clock() + SLICE_SECONDS
        if self._target is None:
            due = self.player.due(self._clock(), self._fold.at)
            self._apply(due)
            if self.player.playing:
                self._play_on()
            while self._arrived and self._clock() < deadline:
                self._apply([self._arrived.popleft()])
        news = News(self._changed, (), self._anew, self._said)
        self._changed = self._anew = False
        self._said = ""
        return news

    def _apply(self, events: Iterable[PlacedEvent]) -> None:
        for placed in events:
            if placed.event.seq > self._fold.seq:
                self._fold.apply(placed)
                self._changed = True

    def _take(self, fold: PlacedFold) -> None:
        self._fold, self.state = fold, fold.state
        self._outputs.clear()
        self._changed = self._anew = True

    # Playing

    def play(self) -> None:
        """Play from here; from the start, if this is the end."""
        if self.at_end:
            self.move_to(1)
        self._attached = False
        self.player.play(self._clock())
        self._changed = True

    def pause(self) -> None:
        self.player.pause()
        self._changed = True

    def change_speed(self, steps: int) -> None:
        self.player.change_speed(steps)
        self._changed = True

    def _play_on(self) -> None:
        """Read ahead; stop at the end."""
        if self.at_end and not self.player.ahead:
            self.pause()
            self._attached = True
        elif len(self.player.ahead) < READ_AHEAD // 2 and self._reading is None and not self.at_end:
            self._reading = asyncio.create_task(self._read_ahead(), name="read ahead")

    async def _read_ahead(self) -> None:
        try:
            stop, fold, ahead = self._stop, self._fold, self.player.ahead
            seq, end = (ahead[-1].event.seq, ahead[-1].place.end) if ahead else (fold.seq, fold.end)
            events = await self._with_tape(lambda: self.tape.after(seq, end, READ_AHEAD))
            # Each move of the playhead has a `stop` of its own.
            if stop is self._stop:
                ahead.extend(events)
        except OSError as error:
            self._fail(error)
        finally:
            self._reading = None

    # Moving the playhead

    def move_to(self, seq: int) -> None:
        """Put the playhead after event number `seq`, or as far as there are any."""
        self._stop.set()
        self._stop = threading.Event()
        self.player.moved()
        self._arrived.clear()
        self._target = max(1, min(seq, self.tape.last))
        self._attached = self._target == self.tape.last
        self._begun, self._done = self._clock(), 0.0
        self._changed = True
        self._moving = asyncio.create_task(self._move(self._target, self._stop), name="move the playhead")

    def cancel(self) -> bool:
        """Leave the playhead where it is; whether it was about to move."""
        moving = self._target is not None
        self._stop.set()
        self._target = None
        self._attached = self.at_end
        self._changed = True
        return moving

    def step(self, events: int) -> None:
        """Go on, or back, by so many events."""
        self.move_to(self.at + events)

    def step_call(self, calls: int) -> None:
        """Go on to the end of the next model call (1), or back to that of the one before (-1)."""
        ends = [mark.seq for mark in self.tape.marks if mark.kind == "answer"]
        if calls > 0:
            self.move_to(next((seq for seq in ends if seq > self.at), self.tape.last))
        else:
            self.move_to(next((seq for seq in reversed(ends) if seq < self.at), 1))

    def go_to_error(self) -> bool:
        """Go to the next error, after the last one to the first; False: there is none."""
        errors = [mark.seq for mark in self.tape.marks if mark.kind == "error"]
        if errors:
            self.move_to(next((seq for seq in errors if seq > self.at), errors[0]))
        return bool(errors)

    def find_call(self, call: int) -> Mark | None:
        """Where a model call ends, or begins if it has no end."""
        of_call = [mark for mark in self.tape.marks if mark.call == call]
        ends = [mark for mark in of_call if mark.kind == "answer"]
        return next(iter([*ends, *of_call]), None)

    async def _move(self, seq: int, stop: threading.Event) -> None:
        fold = self._fold
        try:
            if fold.seq < seq <= fold.seq + NEAR:
                events = await self._with_tape(lambda: self.tape.up_to(fold, seq, stop))
                if not stop.is_set():
                    self._apply(events)
            else:
                moved = await self._with_tape(lambda: self.tape.at(seq, stop, self._tell_done))
                if not stop.is_set():
                    self._take(moved)
        except Stopped:
            return
        except OSError as error:
            self._fail(error)
        if not stop.is_set():
            if self._fold.seq < seq:
                self.problem = "SHORTER THAN IT WAS"
            self._target = None
            self._changed = True

    def _tell_done(self, done: float) -> None:
        self._done = done

    async def _with_tape(self, work: Callable[[], T]) -> T:
        """Do something with the tape in a thread: one thing at a time."""
        async with self._using_tape:
            return await asyncio.to_thread(work)

    def _fail(self, error: OSError) -> None:
        log.warning("the recording of %s cannot be read: %s", self.session_id, error)
        self.problem = f"CANNOT BE READ: {error.strerror or error}"
        self.player.pause()
        self._target = None
        self._changed = True

    # Following

    def follow(self) -> None:
        """Take in what another process adds, until it ends: as long as it is `live`."""
        source = self.tape.source
        if (
            self.live
            and self._following is None
            and self.folder is not None
            and isinstance(source, FileEvents)
        ):
            follower = Follower(self.tape, source, self.folder.path)
            self._following = asyncio.create_task(self._follow(follower), name="follow")

    async def _follow(self, follower: Follower) -> None:
        try:
            while self.live:
                events, over, problem = await self._with_tape(follower.look)
                self._arrive(events)
                if over:
                    await self._end_following(problem)
                await asyncio.sleep(FOLLOW_SECONDS)
        except OSError as error:
            self.live = False
            self._fail(error)

    async def _end_following(self, problem: str) -> None:
        self.live = False
        if problem:
            self.problem = f"THE RECORDING {problem.upper()}"
            self._said = f"The recording {problem}: what was read of it stays."
        elif self.tape.marks and self.tape.marks[-1].kind == "end":
            self._said = "The session that was followed has ended."
        else:
            self._said = "The agentscope that wrote this session ended before the session did."
            self._arrive(await self._with_tape(lambda: _closing(self.tape)))
        self._changed = True

    def _arrive(self, events: list[PlacedEvent]) -> None:
        """There is more of the recording; a playhead that was at its end goes on to the new end."""
        if self._attached:
            self._arrived.extend(events)
        self._changed |= bool(events)

    def stop(self) -> None:
        """Read no more, play no more, follow no more."""
        self._stop.set()
        self.live = False
        self.player.pause()

    async def aclose(self) -> None:
        """As `stop`; returns when no thread reads the recording."""
        self.stop()
        tasks = (self._moving, self._reading, self._following)
        running = [task for task in tasks if task is not None and not task.done()]
        if running:
            await asyncio.wait(running)


def _closing(tape: Tape, fold: PlacedFold | None = None) -> list[PlacedEvent]:
    """Whoever wrote a recording is gone: what hangs at its end gets one. `fold` is the state there."""
    fold = fold or tape.to_end(threading.Event())
    last = tape.source.event(Place(fold.start, fold.end))
    return tape.add(closing_of(fold.state, last))
