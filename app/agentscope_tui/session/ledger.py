"""The tool calls of the last completion, matched with what the runner then asks for and reports.

A `tool_request` names no tool call, so the host matches it in order; what the runner refused on its own
is read off the next request.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agentscope_tui.models.chat import Completion, Message
from agentscope_tui.session.steering import text_of
from agentscope_tui.wire.arguments import BadArguments, parse_arguments
from agentscope_tui.wire.frames import ToolRequest


@dataclass
class ProposedCall:
    """One call of a completion. `cut_off`: the completion ended at the output limit inside it.

    `requested` by the runner, `started` to run, `told` as a result, `answered` to the runner.
    """

    call_id: str
    call: int
    name: str
    arguments: str
    cut_off: bool = False
    requested: bool = False
    started: bool = False
    told: bool = False
    answered: bool = False


@dataclass(frozen=True)
class RefusedCall:
    """A call that never ran; `content` is what the runner answered it with on its own."""

    call_id: str
    call: int
    name: str
    content: str


class ToolLedger:
    """The batch of tool calls that is due."""

    def __init__(self) -> None:
        self._batch: list[ProposedCall] = []
        self._strays = 0
        self.unseen = False
        """The completion was passed on without a stop: its first tool request stops in its place."""

    def propose(self, number: int, completion: Completion) -> None:
        """Completion `number` came, or was edited: its calls are the batch that is due."""
        last = len(completion.tool_calls) - 1
        cut = completion.finish_reason == "length"
        self._batch = [
            ProposedCall(
                call.id, number, call.function.name, call.function.arguments, cut and position == last
            )
            for position, call in enumerate(completion.tool_calls)
        ]

    def will_be_requested(self) -> bool:
        """Whether the runner will ask for a call of the batch that can run."""
        return any(not _runner_refuses(due) for due in self._batch)

    def match(self, request: ToolRequest, call: int) -> ProposedCall:
        """The proposed call that a request is for, or a new one that the runner made up itself."""
        candidates = [due for due in self._batch if not due.requested and due.name == request.name]
        for due in candidates:
            if _same_arguments(due.arguments, request):
                break
        else:
            if not candidates:
                self._strays += 1
                due = ProposedCall(f"runner_{self._strays}", call, request.name, "")
                self._batch.append(due)
            else:
                due = candidates[0]
        due.requested = True
        return due

    def answer(self, due: ProposedCall) -> bool:
        """The call is answered; True when it was the last of its batch that the runner can ask for."""
        due.answered = True
        return all(other.answered or _runner_refuses(other) for other in self._batch)

    def not_run(self) -> list[str]:
        """Ids of the calls that neither ran nor got a result."""
        return [due.call_id for due in self._batch if not due.started and not due.told]

    def withdraw(self) -> list[RefusedCall]:
        """The completion is not passed on as it came: none of its calls is due any more."""
        batch, self._batch = self._batch, []
        return [RefusedCall(due.call_id, due.call, due.name, "") for due in batch]

    def forget(self) -> None:
        """The turn was interrupted: what the runner says about its open calls is no news."""
        self._batch = []

    def refused_by_runner(self, new_messages: Sequence[Message]) -> list[RefusedCall]:
        """The calls of the batch that the runner answered without asking, off the next request."""
        results = {
            str(message.get("tool_call_id")): text_of(message)
            for message in new_messages
            if message.get("role") == "tool"
        }
        refused = [due for due in self._batch if not due.requested and due.call_id in results]
        for due in refused:
            due.requested = due.told = due.answered = True
        return [RefusedCall(due.call_id, due.call, due.name, results[due.call_id]) for due in refused]


def _same_arguments(text: str, request: ToolRequest) -> bool:
    try:
        return parse_arguments(text) == request.arguments
    except BadArguments:
        return False


def _runner_refuses(due: ProposedCall) -> bool:
    """Whether a runner will hardly ask for this call: its arguments are no JSON object."""
    if due.requested:
        return False
    if due.cut_off:
        return True
    try:
        parse_arguments(due.arguments)
    except BadArguments:
        return True
    return False
