"""Where a session went wrong, as far as that can be told: the place to look at, and to fork, first."""

from __future__ import annotations

from collections.abc import Callable

from agentscope_tui.session.rollouts import PASSED
from agentscope_tui.session.state import SessionState
from agentscope_tui.session.tool_calls import SUBMIT
from agentscope_tui.session.views import Entry


def blamed_entry(state: SessionState) -> int | None:
    """The position of a transcript entry; None: nothing went wrong.

    Of a turn that failed it is the last error; else, where the reward is no pass or there is no answer, the
    last tool call before it, or what was said last.
    """
    if state.outcome == "completed" and (state.reward is None or state.reward >= PASSED):
        return None
    if state.outcome == "failed" or state.status == "failed":
        place = _last(state, lambda entry: entry.kind == "error" and entry.status != "grader")
        if place is not None:
            return place
    tool = _last(state, lambda entry: entry.kind == "tool" and _name_of(state, entry) != SUBMIT)
    return tool if tool is not None else _last(state, lambda entry: entry.kind == "assistant")


def _name_of(state: SessionState, entry: Entry) -> str:
    call = state.call_view(entry.call_id or "")
    return call.name if call is not None else ""


def _last(state: SessionState, wanted: Callable[[Entry], bool]) -> int | None:
    entries = state.entries
    return next((place for place in reversed(range(len(entries))) if wanted(entries[place])), None)
