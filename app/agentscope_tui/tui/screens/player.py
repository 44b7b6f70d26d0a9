"""Recordings on the screen of sessions: opening one, and the keys that move its playhead."""

from __future__ import annotations

import threading
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from textual import on, work
from textual.worker import Worker

from agentscope_tui.errors import UserError
from agentscope_tui.store.tape import Progress, Stopped
from agentscope_tui.tui.drawing import OPENING
from agentscope_tui.tui.recorded_session import RecordedRow
from agentscope_tui.tui.screens.controls import SessionControls
from agentscope_tui.tui.shown_row import ShownRow
from agentscope_widgets.timeline_bar import TimelineBar
from agentscope_widgets.transcript import Transcript

_TELL_SECONDS = 0.2
"""Between two words on how much of a recording was read."""


@dataclass
class _Opening:
    """A recording that is being read."""

    stop: threading.Event = field(default_factory=threading.Event)
    done: float = 0.0

    def tell(self, done: float) -> None:
        self.done = done


Open = Callable[[threading.Event, Progress], Coroutine[Any, Any, RecordedRow]]


class PlayerControls(SessionControls):
    """In a recording, the keys of the debugger act on its playhead."""

    _reading: _Opening | None = None

    def put_on_screen(self, row: ShownRow | None, index: int | None, problem: str = "") -> None:
        """Show a session, or why there is none."""

    def show_recording(self, folder: Path) -> Worker[None]:
        """Show the recording in a session's folder, which may be of a row of another dataset."""
        workspace = self._workspace
        return self.open_recording(lambda stop, tell: workspace.open_recording(folder, stop, tell), None)

    def show_recorded_row(self, index: int) -> None:
        """Show the recording that a row is."""
        workspace = self._workspace
        self.open_recording(lambda stop, tell: workspace.open_recorded(index, stop, tell), index)

    @work(group="recording", exclusive=True)
    async def open_recording(self, open: Open, index: int | None) -> None:
        """Read a recording in a thread, which `esc` stops, and show it."""
        if self._reading is not None:
            self._reading.stop.set()
        reading = self._reading = _Opening()
        self.put_on_screen(None, index, OPENING)
        told = self.set_interval(
            _TELL_SECONDS, lambda: self.put_on_screen(None, index, f"{OPENING} {reading.done:.0%}, esc stops")
        )
        row, problem = None, ""
        try:
            row = await open(reading.stop, reading.tell)
        except Stopped:
            problem = "Reading the recording was stopped."
        except UserError as error:
            problem = str(error)
        finally:
            told.stop()
            reading.stop.set()
        if reading is self._reading:
            self._reading = None
            self.put_on_screen(row, row.index if row is not None else index, problem)

    @property
    def recorded(self) -> RecordedRow | None:
        """The recording on screen, if it is one."""
        return self.current if isinstance(self.current, RecordedRow) else None

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        row = self.recorded
        match action:
            case "leave" if self._reading is not None:
                return True
            case "back_call" | "back_event" | "faster" | "slower" | "go_first" | "go_last" | "next_error":
                return row is not None
            case "go_here":
                return row is not None and self.call_under_cursor() is not None
            case "step" | "step_fine" if row is not None:
                return not row.at_end
            case "continue" if row is not None:
                return not row.player.playing
            case "pause" if row is not None:
                return row.player.playing
            case "leave" if row is not None:
                return row.moving
            case _:
                return super().check_action(action, parameters)

    def action_step(self) -> None:
        if self.recorded is not None:
            self.recorded.step_call(1)
        else:
            super().action_step()

    def action_step_fine(self) -> None:
        if self.recorded is not None:
            self.recorded.step(1)
        else:
            super().action_step_fine()

    def action_continue(self) -> None:
        if self.recorded is not None:
            self.recorded.play()
        else:
            super().action_continue()

    def action_pause(self) -> None:
        if self.recorded is not None:
            self.recorded.pause()
        else:
            super().action_pause()

    def action_leave(self) -> None:
        """esc, with nothing on top and nothing being written: stop what is read, else interrupt."""
        if self._reading is not None:
            self._reading.stop.set()
        elif self.recorded is not None:
            self.recorded.cancel()
        else:
            self.action_interrupt()

    def action_back_call(self) -> None:
        if self.recorded is not None:
            self.recorded.step_call(-1)

    def action_back_event(self) -> None:
        if self.recorded is not None:
            self.recorded.step(-1)

    def action_faster(self) -> None:
        if self.recorded is not None:
            self.recorded.change_speed(1)

    def action_slower(self) -> None:
        if self.recorded is not None:
            self.recorded.change_speed(-1)

    def action_go_first(self) -> None:
        if self.recorded is not None:
            self.recorded.move_to(1)

    def action_go_last(self) -> None:
        if self.recorded is not None:
            self.recorded.move_to(self.recorded.tape.last)

    def action_next_error(self) -> None:
        """To the next error of the recording; after the last one to the first."""
        if self.recorded is not None and not self.recorded.go_to_error():
            self.app.bell()

    def action_go_here(self) -> None:
        """To the end of the call under the cursor."""
        row, call = self.recorded, self.call_under_cursor()
        mark = row.find_call(call) if row is not None and call is not None else None
        if row is not None and mark is not None:
            row.move_to(mark.seq)

    @on(Transcript.CallSought)
    def _call_sought(self, event: Transcript.CallSought) -> None:
        mark = self.recorded.find_call(event.call) if self.recorded is not None else None
        if self.recorded is not None and mark is not None:
            self.recorded.move_to(mark.seq)

    @on(TimelineBar.Sought)
    def _sought(self, event: TimelineBar.Sought) -> None:
        if self.recorded is not None:
            self.recorded.move_to(event.at)
