"""A session's bus with its recorder: what becomes of the recording is told as events of the session."""

from __future__ import annotations

import logging
from pathlib import Path

from agentscope_tui.bus import EventBus
from agentscope_tui.clock import Clock
from agentscope_tui.errors import UserError
from agentscope_tui.events import ErrorOccurred, RecordingChanged
from agentscope_tui.store.recorder import Lost, Recorder

log = logging.getLogger(__name__)


def recorded_bus(folder: Path, session_id: str, clock: Clock) -> tuple[EventBus, Recorder]:
    """The bus of a new session whose events go into `folder`.

    Raises:
        UserError: the folder cannot be written, or another process writes it.
    """

    def tell_stopped(error: OSError) -> None:
        reason = error.strerror or str(error)
        log.error("recording %s failed", folder, exc_info=error)
        bus.publish(
            ErrorOccurred(
                source="recorder",
                message=f"recording stopped: {reason}. The session goes on; make room for {folder}.",
            )
        )
        bus.publish(RecordingChanged(status="stopped", reason=reason))

    def tell_resumed(lost: Lost | None) -> None:
        first, last = lost or (None, None)
        bus.publish(RecordingChanged(status="resumed", lost_first=first, lost_last=last))

    try:
        recorder = Recorder(folder, on_error=tell_stopped, on_resumed=tell_resumed)
    except OSError as error:
        raise UserError(
            f"cannot record the session in {folder}: {error.strerror}. "
            "Set AGENTSCOPE_HOME to a folder that can be written."
        ) from error
    bus = EventBus(session_id, clock=clock, backlog=recorder)
    bus.subscribe(recorder)
    return bus, recorder
