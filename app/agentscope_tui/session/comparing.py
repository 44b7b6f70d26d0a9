"""Two sessions side by side: their calls aligned, the parts of each call, and where they first differ."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from agentscope_tui.events import SessionEvent
from agentscope_tui.models.chat import Message
from agentscope_tui.session.aligning import align
from agentscope_tui.session.parts import Call, Part, calls_of, folders_of
from agentscope_tui.session.request_diff import MessageChange, request_changes
from agentscope_tui.session.state import SessionState
from agentscope_tui.session.totals import Totals, totals_of

Difference = Literal["same", "changed", "left", "right"]
"""How two sides differ: not at all, both have something else, only one has it."""


@dataclass(frozen=True, slots=True)
class PartPair:
    """A part of each side; None where one side has none."""

    left: Part | None
    right: Part | None

    @property
    def difference(self) -> Difference:
        return _difference(self.left, self.right, self.left == self.right)


@dataclass(frozen=True)
class CallPair:
    """A call of each side with their parts aligned; None where one side has none."""

    left: Call | None
    right: Call | None

    @cached_property
    def difference(self) -> Difference:
        same = self.left is not None and self.right is not None and self.left.content == self.right.content
        return _difference(self.left, self.right, same)

    @property
    def wants_the_same(self) -> bool:
        """Whether both calls want the same of the same tools."""
        return self.left is not None and self.right is not None and self.left.proposal == self.right.proposal

    @cached_property
    def parts(self) -> list[PartPair]:
        """The parts of both in their order."""
        left = self.left.parts if self.left else ()
        right = self.right.parts if self.right else ()
        keys = (
            repr,
            lambda part: f"{part.kind} {part.name} {part.text}",
            lambda part: f"{part.kind} {part.name}",
        )
        return [PartPair(*pair) for pair in align(left, right, *keys, pairs=_alike)]


@dataclass(frozen=True)
class Comparison:
    """Two sessions, call by call. The first pair is what there was before the first call."""

    left: Totals
    right: Totals
    pairs: Sequence[CallPair]

    @cached_property
    def differences(self) -> list[int]:
        """The positions of the pairs that differ."""
        return [place for place, pair in enumerate(self.pairs) if pair.difference != "same"]

    @property
    def first_divergence(self) -> int | None:
        """The position of the first call that differs; of what was before the calls only if no call does."""
        return next((place for place in self.differences if place), 0 if self.differences else None)

    @property
    def parting(self) -> int | None:
        """The position of the first call in which the agents want something else: where not only what came of
        it differs, as the times do that a tool prints."""
        parting = (place for place, pair in enumerate(self.pairs) if place and not pair.wants_the_same)
        return next(parting, None)

    @property
    def same(self) -> bool:
        """Whether both agents were told, did and got the same; models, times and tokens may differ."""
        return not self.differences

    @property
    def relation(self) -> str:
        """How the two belong together, in words; empty if neither comes from the other."""
        for name, one, other in (("right", self.right, self.left), ("left", self.left, self.right)):
            if one.parent and one.parent == other.session_id:
                call = "" if one.parent_call is None else f" from call #{one.parent_call}"
                return f"the {name} one goes on{call}" + (f": {one.change}" if one.change else "")
        if self.left.parent and self.left.parent == self.right.parent:
            return f"both go on from {self.left.parent}"
        return ""


def state_of(events: Iterable[SessionEvent]) -> SessionState:
    """The fold of a session's events."""
    state = SessionState()
    for event in events:
        state.apply(event)
    return state


def compare(left: SessionState, right: SessionState) -> Comparison:
    """Align two sessions. Calls with the same content belong together; between these, those that want the
    same of the same tools, then those that use the same tools, then those at the same place."""
    folders = folders_of((left, right))
    one, other = calls_of(left, folders), calls_of(right, folders)
    totals = totals_of(left), totals_of(right)
    # What was replayed is known: the calls before the fork, and what was before the first call.
    known = min(max(_replayed(*totals), 1), len(one), len(other))
    pairs = [CallPair(*pair) for pair in zip(one[:known], other[:known], strict=True)]
    keys = (
        lambda call: call.content,
        lambda call: call.proposal,
        lambda call: call.tools,
    )
    rest = align(one[known:], other[known:], *keys, pairs=lambda one, other: True)
    return Comparison(*totals, [*pairs, *(CallPair(*pair) for pair in rest)])


def common_calls(states: Sequence[SessionState]) -> int:
    """How many calls at their start want the same of the same tools in all of these sessions."""
    folders = folders_of(states)
    rows = [calls_of(state, folders)[1:] for state in states]
    common = 0
    for calls in zip(*rows, strict=False):
        if len({call.proposal for call in calls}) > 1:
            break
        common += 1
    return common


def request_differences(
    left: SessionState, left_call: int, right: SessionState, right_call: int
) -> list[MessageChange]:
    """What the right call was sent that the left was not; ids of tool calls are no difference."""
    sent = left.request_messages(left_call), right.request_messages(right_call)
    return request_changes(*([_without_ids(message) for message in messages] for messages in sent))


def _replayed(left: Totals, right: Totals) -> int:
    """How many calls, from number 0, are known to stand at the same place in both."""
    for one, other in ((left, right), (right, left)):
        if one.parent and one.parent == other.session_id:
            return one.parent_call or 0
    if left.parent and left.parent == right.parent:
        return min(left.parent_call or 0, right.parent_call or 0)
    return 0


def _alike(left: Part, right: Part) -> bool:
    return left.kind == right.kind


def _difference(left: object, right: object, same: bool) -> Difference:
    if left is None or right is None:
        return "right" if left is None else "left"
    return "same" if same else "changed"


def _without_ids(message: Message) -> Message:
    plain: dict[str, Any] = {name: value for name, value in message.items() if name != "tool_call_id"}
    if isinstance(calls := plain.get("tool_calls"), list):
        plain["tool_calls"] = [*_calls_without_ids(calls)]
    return plain


def _calls_without_ids(calls: Sequence[Any]) -> Iterator[Any]:
    for call in calls:
        yield (
            {name: value for name, value in call.items() if name != "id"} if isinstance(call, dict) else call
        )
