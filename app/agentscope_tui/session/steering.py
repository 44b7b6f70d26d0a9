"""The steer queue: messages sent while a turn runs, owned by the host until a model call takes them.

Each has exactly one fate, told by its last `steer` event: answered, returned to the user, or withdrawn; in a
call, if the session ended before one was answered; or, when it still waited as the session became idle, it
starts a turn and its `user_message` has the same id.
"""

from __future__ import annotations

from collections import Counter
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
    next_turn: bool = False
    """It came when the turn was already being stopped: it waits for the idle and starts a turn."""
    injected: bool = False
    """The host puts it into a request, because the runner takes none."""
    in_history: bool = False
    """A request that was not sent to the model carried it: the runner has it in its conversation."""


class SteerQueue:
    """The steers of a session that are not yet answered, in the order of their delivery."""

    def __init__(self, publish: Callable[[Event], Event]) -> None:
        self._publish = publish
        self._steers: list[QueuedSteer] = []

    def add(self, msg_id: str, text: str, *, next_turn: bool = False) -> None:
        steer = QueuedSteer(msg_id, text, next_turn=next_turn)
        self._steers.append(steer)
        self._tell(steer)

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
            self._end(steer, "withdrawn")
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

    # Delivery

    def hand_over(self, *, inject: bool = False) -> list[QueuedSteer]:
        """Give out all that wait: the caller sends them to the runner, in this order, at once, or puts them
        into its request (`inject`)."""
        steers = self._in("queued")
        for steer in steers:
            steer.injected = inject
            self._advance(steer, "handed_over")
        return steers

    def take_first(self) -> QueuedSteer | None:
        """Take the first that waits out of the queue, to start a turn; the others are that turn's steers."""
        waiting = self._in("queued")
        for steer in waiting:
            steer.next_turn = False
        if waiting:
            self._steers.remove(waiting[0])
        return waiting[0] if waiting else None

    def note_request(self, messages: object) -> None:
        """Note the handed-over steers that a runner's request carries, whether or not it will be sent."""
        texts = Counter(_texts_after_reply(messages))
        for steer in self._in("handed_over"):
            steer.in_history = texts[steer.text] > 0
            texts[steer.text] -= 1

    def read_receipts(self, new_messages: Sequence[Message], call: int) -> None:
        """Mark the handed-over steers that this call's request really carries."""
        texts = Counter(text_of(message) for message in new_messages if message.get("role") == "user")
        for steer in self._in("handed_over"):
            if texts[steer.text] > 0:
                texts[steer.text] -= 1
                self._advance(steer, "in_call", call)

    def answered(self, call: int, request: Sequence[Message]) -> None:
        """The call was answered: so are the steers in its request that it, or a call before it that
        brought no answer, took."""
        taken = self._in("in_call")
        texts = {text_of(message) for message in request if message.get("role") == "user"} if taken else set()
        for steer in taken:
            if steer.text in texts:
                steer.call = call
                self._end(steer, "answered")

    # What no call took

    def turn_stopped(self, *, send: bool) -> None:
        """The turn is being interrupted: what waits goes back to the user or, with `send`, on waiting."""
        for steer in self._in("queued"):
            if send:
                steer.next_turn = True
            elif not steer.next_turn:
                self._end(steer, "returned")

    def turn_ended(self, *, send: bool, history_kept: bool) -> None:
        """The runner is idle: as `turn_stopped`, also for what the runner had and put into no request.

        What is in the runner's conversation (if that is kept) goes with the next request.
        """
        for steer in self._in("handed_over"):
            if steer.in_history and history_kept:
                continue
            if send:
                self._advance(steer, "queued")
            else:
                self._end(steer, "returned")
        self.turn_stopped(send=send)

    def session_ended(self) -> None:
        """Nothing more is delivered: all that was not taken goes back to the user."""
        for steer in [*self._steers]:
            if steer.status in ("queued", "handed_over"):
                self._end(steer, "returned")

    def _in(self, status: SteerStatus) -> list[QueuedSteer]:
        return [steer for steer in self._steers if steer.status == status]

    def _queued(self, msg_id: str) -> QueuedSteer | None:
        return next((steer for steer in self._in("queued") if steer.msg_id == msg_id), None)

    def _advance(self, steer: QueuedSteer, status: SteerStatus, call: int | None = None) -> None:
        steer.status, steer.call = status, call
        self._tell(steer)

    def _end(self, steer: QueuedSteer, status: SteerStatus) -> None:
        self._steers.remove(steer)
        steer.status = status
        self._tell(steer)

    def _tell(self, steer: QueuedSteer) -> None:
        position = self._in("queued").index(steer) if steer.status == "queued" else None
        self._publish(
            Steer(
                msg_id=steer.msg_id,
                status=steer.status,
                text=steer.text,
                position=position,
                call=steer.call,
                injected=steer.injected,
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


def _texts_after_reply(messages: object) -> list[str]:
    """The user's texts after the last assistant message: where runners put steers."""
    texts: list[str] = []
    for message in reversed(messages) if isinstance(messages, list) else ():
        if not isinstance(message, dict) or message.get("role") == "assistant":
            break
        if message.get("role") == "user":
            texts.append(text_of(message))
    return texts
