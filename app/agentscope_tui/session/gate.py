"""The gate: where a step waits while the session is paused, and the decision that lets it go.

A hold stops one step, never the loop: every step that waits has a future of its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Literal

from agentscope_tui.events import DecisionKind, Event, GateModeChanged, Paused, Resumed, StepKind
from agentscope_tui.models.chat import Completion

GateMode = Literal["step", "run"]


@dataclass(frozen=True)
class Step:
    """One unit that can be held."""

    kind: StepKind
    call: int
    call_id: str | None = None
    allows: tuple[DecisionKind, ...] = ("pass", "edit", "refuse")
    for_completion: bool = False
    """It stops in place of its completion, for a runner that would not wait for that."""
    commits_after: float | None = None
    """Seconds after which what is refused cannot reach the agent as an error; None: it can."""


@dataclass(frozen=True)
class Decision:
    """What becomes of a step: passed on, passed on edited, or refused with a reason.

    For a failed call `pass` sends the same request again and `refuse` gives up. What is edited depends on
    the step: the completion, the call's arguments, or the result's content.
    """

    kind: DecisionKind = "pass"
    reason: str = ""
    completion: Completion | None = None
    arguments: dict[str, Any] | None = None
    content: str | None = None


PASS = Decision()


@dataclass
class _Hold:
    number: int
    step: Step
    decided: asyncio.Future[Decision] = field(compare=False)


class Gate:
    """Decides which steps stop. `fine` stops at proposed tool calls and tool results as well."""

    def __init__(self, publish: Callable[[Event], Event], *, mode: GateMode = "step", patient: bool = True):
        """`patient=False` is for runs without a screen: nothing waits, and a failed call is given up."""
        self._publish = publish
        self._mode: GateMode = mode if patient else "run"
        self._fine = False
        self._patient = patient
        self._holds: list[_Hold] = []
        self._numbers = count(1)

    @property
    def waiting(self) -> tuple[Step, ...]:
        """The steps that are held, oldest first."""
        return tuple(hold.step for hold in self._holds)

    def announce(self) -> None:
        """Tell the mode the session begins with."""
        self._publish(GateModeChanged(mode=self._mode, fine=self._fine))

    async def hold(self, step: Step, *, patience: float | None = None) -> Decision:
        """Wait for the user's decision, if this step stops at all.

        After `patience` seconds the runner would go on without an answer: then the step is passed, a failed
        call given up. None: it waits without end.
        """
        if step.kind == "failed_call":
            if not self._patient:
                return Decision("refuse", "nobody is here to send it again")
        elif not self._stops(step):
            return PASS
        hold = _Hold(next(self._numbers), step, asyncio.get_running_loop().create_future())
        self._holds.append(hold)
        self._publish(
            Paused(
                hold=hold.number,
                step=step.kind,
                call=step.call,
                call_id=step.call_id,
                allows=list(step.allows),
                patience=patience,
                commits_after=step.commits_after,
            )
        )
        decision: Decision | None = None
        try:
            await asyncio.wait({hold.decided}, timeout=patience)
            decision = hold.decided.result() if hold.decided.done() else _impatient(step)
            return decision
        finally:
            self._holds.remove(hold)
            self._publish(
                Resumed(
                    hold=hold.number,
                    decision=decision.kind if decision else None,
                    reason=decision.reason if decision else "",
                )
            )

    def step(self, *, fine: bool = False, hold: int | None = None) -> bool:
        """Let the oldest waiting step go, or that of hold number `hold`, and stop at the next; False when it
        was not waiting."""
        self._set_mode("step", fine)
        return self._release(_is(hold, lambda step: step.kind != "failed_call"), limit=1)

    def run(self) -> None:
        """Let everything go and stop no more; a failed call goes on waiting."""
        self._set_mode("run", False)
        self._release(_is(None, lambda step: step.kind != "failed_call"))

    def pause(self) -> None:
        """Stop at the next completion."""
        self._set_mode("step", self._fine)

    def decide(self, decision: Decision, *, kind: StepKind | None = None, hold: int | None = None) -> bool:
        """Answer the oldest waiting step (of a kind, or that of hold number `hold`); False when none waits or
        it does not allow this."""
        fits = _is(hold, lambda step: kind in (None, step.kind) and decision.kind in step.allows)
        return self._release(fits, decision, limit=1)

    def _stops(self, step: Step) -> bool:
        return self._mode == "step" and (self._fine or step.kind == "completion" or step.for_completion)

    def _set_mode(self, mode: GateMode, fine: bool) -> None:
        if (mode, fine) != (self._mode, self._fine):
            self._mode, self._fine = mode, fine
            self._publish(GateModeChanged(mode=mode, fine=fine))

    def _release(
        self, wanted: Callable[[_Hold], bool], decision: Decision = PASS, limit: int | None = None
    ) -> bool:
        ready = [hold for hold in self._holds if not hold.decided.done() and wanted(hold)][:limit]
        for hold in ready:
            hold.decided.set_result(decision)
        return bool(ready)


def _is(number: int | None, fits: Callable[[Step], bool]) -> Callable[[_Hold], bool]:
    """Whether a hold is the one of this number (None: any) and its step fits."""
    return lambda hold: number in (None, hold.number) and fits(hold.step)


def _impatient(step: Step) -> Decision:
    return Decision("refuse" if step.kind == "failed_call" else "pass", "the runner waits no longer")
