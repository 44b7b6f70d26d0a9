"""Tool-call ids name calls in the whole session; some servers count anew in each completion."""

from __future__ import annotations

from itertools import chain, count

from agentscope_tui.models.chat import Completion


class CallIds:
    """The ids that are taken in a session."""

    def __init__(self, taken: set[str]) -> None:
        self._taken = taken

    def unique(self, completion: Completion, call: int) -> Completion:
        """The completion of a call with an id for each tool call that no other has; they are taken now."""
        calls = []
        for position, part in enumerate(completion.tool_calls, start=1):
            ours = (f"call_{call}_{position}{'_' * more}" for more in count())
            call_id = next(name for name in chain([part.id], ours) if name and name not in self._taken)
            self._taken.add(call_id)
            calls.append(part.model_copy(update={"id": call_id}))
        return completion.model_copy(update={"tool_calls": tuple(calls)})

    def forget(self, completion: Completion) -> None:
        """The tool calls of this completion are none: another one stands in its place."""
        self._taken -= {part.id for part in completion.tool_calls}
