"""The steer queue: messages sent while a turn runs, owned by the host until a model call takes them.

Each has exactly one fate, told by its last `steer` event: answered, returned to the user, or withdrawn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from agentscope_tui.events import Event, Steer, SteerStatus
from agentscope_tui.models.chat import Message


@dataclass
class QueuedSteer:
    """One steer on its way. `call` is the model call that took it."""

    msg_id: str
    text: str
    status: SteerStatus = "queued"
    call: int | None = None


class SteerQueue:
    """The steers of a session that are not yet answered, in the order of their delivery."""

    def __init__(self, publish: Callable[[Event], Event]) -> None:
        self._publish = publish
        self._steers: list[QueuedSteer] = []

    def add(self, msg_id: str, text: str) -> None:
        steer = QueuedSteer(msg_id, text)
        self._steers.append(steer)
        self._tell(steer, position=len(self._in("queued")) - 1)

    def edit(self, msg_id: str, text: str) -> bool:
        """Change a steer that still waits; False when it has gone (or never was)."""
        steer = self._queued(msg_id)
        if steer is not None:
            steer.text = text
            self._publish(Steer(msg_id=msg_id, status="edited", text=text))
        return steer is not None

    def withdraw(self, msg_id: str) -> bool:
        """Take a steer back that still waits; False when it has gone."""
        steer = self._queued(msg_id)
        if steer is not None:
            self._steers.remove(steer)
            steer.status = "withdrawn"
            self._tell(steer)
        return steer is not None

    def move(self, msg_id: str, position: int) -> bool:
        """Put a steer that still waits at `position` (from 0) of the queue; False when it has gone."""
        steer = self._queued(msg_id)
        if steer is None:
            return False
        others = [other for other in self._in("queued") if other is not steer]
        position = max(0, min(position, len(others)))
        gone = [other for other in self._steers if other.status != "queued"]
        self._steers = [*gone, *others[:position], steer, *others[position:]]
        self._publish(Steer(msg_id=msg_id, status="edited", text=steer.text, position=position))
        return True

    def hand_over(self) -> list[QueuedSteer]:
        """Give out all that wait: the caller sends them to the runner, in this order, at once."""
        steers = self._in("queued")
        for steer in steers:
            steer.status = "handed_over"
            self._tell(steer)
        return steers

    def read_receipts(self, new_messages: Sequence[Message], call: int) -> None:
        """Mark the handed-over steers that this call's request really carries."""
        texts = [text_of(message) for message in new_messages if message.get("role") == "user"]
        for steer in self._in("handed_over"):
            if steer.text in texts:
                texts.remove(steer.text)
                steer.status, steer.call = "in_call", call
                self._tell(steer)

    def answered(self, call: int) -> None:
        """The call was answered: so are the steers that it (or a failed call before it) took."""
        for steer in self._in("in_call"):
            steer.status, steer.call = "answered", call
            self._tell(steer)
            self._steers.remove(steer)

    def return_undelivered(self, *, handed_over: bool) -> list[QueuedSteer]:
        """Give back what no call took: the queued ones, and with `handed_over` also those the runner has."""
        back = self._in("queued") + (self._in("handed_over") if handed_over else [])
        back.sort(key=self._steers.index)
        for steer in back:
            steer.status = "returned"
            self._tell(steer)
            self._steers.remove(steer)
        return back

    def _in(self, status: SteerStatus) -> list[QueuedSteer]:
        return [steer for steer in self._steers if steer.status == status]

    def _queued(self, msg_id: str) -> QueuedSteer | None:
        return next((steer for steer in self._in("queued") if steer.msg_id == msg_id), None)

    def _tell(self, steer: QueuedSteer, position: int | None = None) -> None:
        self._publish(
            Steer(
                msg_id=steer.msg_id,
                status=steer.status,
                text=steer.text,
                position=position,
                call=steer.call,
            )
        )


def text_of(message: Message) -> str:
    """A message's text, whether its content is a string or a list of parts."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return ""
