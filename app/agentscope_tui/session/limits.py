"""The limits of a turn: what is counted, when it starts again, and what was reached."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from agentscope_tui.events import LimitReached

FREE_TOOLS = frozenset({"submit", "read_skill"})
"""Tools that are no actions on the world: they cost nothing."""


@dataclass(frozen=True)
class Limits:
    """Calls and tool actions are counted from the last user message (steers too) or, with
    `count_by="turn"`, from the start of the turn. `wall_clock` is in seconds of a turn (holds not counted),
    `tokens` (in and out) and `cost` (US dollars) are of the whole session. None: no limit.
    """

    calls: int = 60
    tool_actions: int = 40
    count_by: Literal["message", "turn"] = "message"
    wall_clock: float | None = None
    tokens: int | None = None
    cost: float | None = None


class Meter:
    """Counts against the limits of one session."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._calls = 0
        self._actions = 0
        self._tokens = 0
        self._cost = 0.0

    def turn_started(self) -> None:
        self._calls = self._actions = 0

    def steered(self) -> None:
        """A steer was handed over: the user has spoken, so the counting starts again."""
        if self._limits.count_by == "message":
            self._calls = self._actions = 0

    def spent(self, tokens: int, cost: float | None) -> None:
        self._tokens += tokens
        self._cost += cost or 0.0

    def take_call(self) -> LimitReached | None:
        """Count a model call, unless a limit forbids it: then say which."""
        reached = self._call_limit(self._calls)
        if reached is None:
            self._calls += 1
        return reached

    def has_call_for_steer(self) -> bool:
        """Whether a model call would be left to take a steer that is handed over now."""
        return self._call_limit(0 if self._limits.count_by == "message" else self._calls) is None

    def _call_limit(self, calls: int) -> LimitReached | None:
        limits = self._limits
        if calls >= limits.calls:
            return self._counted("calls", limits.calls, "model calls")
        if limits.tokens is not None and self._tokens >= limits.tokens:
            return _reached("tokens", limits.tokens, f"{self._tokens} tokens used in this session")
        if limits.cost is not None and self._cost >= limits.cost:
            return _reached("cost", limits.cost, f"${self._cost:.2f} spent in this session")
        return None

    def take_action(self, tool: str) -> LimitReached | None:
        """Count a tool action, unless the budget is used up: then say so."""
        if tool in FREE_TOOLS:
            return None
        limit = self._limits.tool_actions
        if self._actions >= limit:
            return self._counted("tool_actions", limit, "tool actions")
        self._actions += 1
        return None

    def _counted(self, name: str, limit: int, what: str) -> LimitReached:
        since = "since the last user message" if self._limits.count_by == "message" else "in this turn"
        return _reached(name, limit, f"{limit} {what} {since}")


async def wall_clock(
    seconds: float, *, runs: Callable[[], bool], held: Callable[[], bool], monotonic: Callable[[], float]
) -> LimitReached | None:
    """Wait until a turn has run this long, not counting the time that it is held at the gate; None when it
    ended before."""
    used, last = 0.0, monotonic()
    while used < seconds:
        await asyncio.sleep(min(0.2, seconds - used))
        now = monotonic()
        used += 0.0 if held() else now - last
        last = now
        if not runs():
            return None
    return _reached("wall_clock", seconds, f"{seconds:g} s in this turn")


def _reached(name: str, value: float, what: str) -> LimitReached:
    return LimitReached(limit=name, value=value, reason=f"limit reached: {what} (setting limits.{name})")
