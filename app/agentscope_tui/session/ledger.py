"""The tool calls of completions, matched with what the runner then asks for and reports.

A `tool_request` names no tool call, so the host matches it in order; what the runner refused on its own
is read off the next request. Agents that call the model in parallel have several batches due at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from agentscope_tui.models.chat import Completion, Message
from agentscope_tui.session.link import MAX_OPEN
from agentscope_tui.session.steering import text_of
from agentscope_tui.wire.arguments import BadArguments, parse_arguments
from agentscope_tui.wire.frames import ToolRequest

REFUSED_BY_RUNNER = "refused by the runner"
"""The reason of calls that the runner did not want to make."""


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
    """The batches of tool calls that are due, by the number of the model call that proposed them: of as many
    calls as may be open at once."""

    def __init__(self) -> None:
        self._batches: dict[int, list[ProposedCall]] = {}
        self._strays = 0
        self.unseen: set[int] = set()
        """Calls whose completion was passed on without a stop: the first tool request stops in its place."""

    def propose(self, number: int, completion: Completion) -> None:
        """Completion `number` came, or was edited: its calls are due."""
        last = len(completion.tool_calls) - 1
        cut = completion.finish_reason == "length"
        self._batches.pop(number, None)
        batch = [
            ProposedCall(
                call.id, number, call.function.name, call.function.arguments, cut and position == last
            )
            for position, call in enumerate(completion.tool_calls)
        ]
        if batch:
            self._batches[number] = batch
        while len(self._batches) > MAX_OPEN:
            del self._batches[next(iter(self._batches))]

    def will_be_requested(self, call: int) -> bool:
        """Whether the runner will ask for a tool call of model call `call` that can run."""
        return any(not _runner_refuses(due) for due in self._batches.get(call, ()))

    def match(self, request: ToolRequest, call: int) -> ProposedCall:
        """The proposed call that a request is for, of the newest batch that has one, or a new one of model
        call `call` that the runner made up itself."""
        candidates = [
            due
            for batch in reversed(self._batches.values())
            for due in batch
            if not due.requested and due.name == request.name
        ]
        due = best_match(candidates, request.arguments)
        if due is None:
            self._strays += 1
            due = ProposedCall(f"runner_{self._strays}", call, request.name, "")
            self._batches.setdefault(call, []).append(due)
        due.requested = True
        return due

    def answer(self, due: ProposedCall) -> bool:
        """The call is answered; True when it was the last of its batch that the runner can ask for."""
        due.answered = True
        batch = self._batches.get(due.call, ())
        return all(other.answered or _runner_refuses(other) for other in batch)

    def not_run(self) -> list[str]:
        """Ids of the calls that neither ran nor got a result."""
        return [due.call_id for due in self._due if not due.started and not due.told]

    def withdraw(self, call: int) -> list[RefusedCall]:
        """Completion `call` is not passed on as it came: none of its calls is due any more."""
        return [RefusedCall(due.call_id, due.call, due.name, "") for due in self.take(call)]

    def take(self, call: int, wanted: Callable[[str], bool] = lambda name: True) -> list[ProposedCall]:
        """Take the calls of completion `call` with a wanted name out of what is due."""
        batch = self._batches.pop(call, [])
        if rest := [due for due in batch if not wanted(due.name)]:
            self._batches[call] = rest
        return [due for due in batch if wanted(due.name)]

    def forget(self) -> None:
        """The turn was interrupted: what the runner says about its open calls is no news."""
        self._batches.clear()
        self.unseen.clear()

    def refused_by_runner(self, new_messages: Sequence[Message]) -> list[RefusedCall]:
        """The calls that the runner answered without asking, off the next request. What it carries is due
        no more."""
        results = results_in(new_messages)
        refused = [due for due in self._due if not due.requested and due.call_id in results]
        for call, batch in [*self._batches.items()]:
            if any(due.call_id in results for due in batch):
                del self._batches[call]
        return [
            RefusedCall(due.call_id, due.call, due.name, text_of(results[due.call_id])) for due in refused
        ]

    @property
    def _due(self) -> list[ProposedCall]:
        return [due for batch in self._batches.values() for due in batch]


def results_in(messages: Sequence[Message]) -> dict[str, Message]:
    """The results among messages, by the id of their call."""
    return {
        str(message.get("tool_call_id")): message for message in messages if message.get("role") == "tool"
    }


def best_match(candidates: Sequence[ProposedCall], arguments: Mapping[str, object]) -> ProposedCall | None:
    """The first call with just these arguments, else the first of all; None: there is none."""
    same = (due for due in candidates if _has_arguments(due, arguments))
    return next(same, None) or next(iter(candidates), None)


def _has_arguments(due: ProposedCall, arguments: Mapping[str, object]) -> bool:
    """Whether the model wrote just these arguments."""
    try:
        return parse_arguments(due.arguments) == arguments
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
