"""What the user asks of a session's gate: step, go on, stop, and the answer to a step that waits."""

from __future__ import annotations

from agentscope_tui.session.gate import Decision, Gate


class Stepping:
    """The part of a session that its `gate` does. A step that waits may be named by the number of its hold;
    else the one that waits longest is meant."""

    gate: Gate

    def step(self, *, fine: bool = False, hold: int | None = None) -> None:
        """Let the waiting step go and stop at the next completion (`fine`: call or result)."""
        self.gate.step(fine=fine, hold=hold)

    def run_on(self) -> None:
        """Stop no more in this session."""
        self.gate.run()

    def pause(self) -> None:
        """Stop at the next completion."""
        self.gate.pause()

    def decide(self, decision: Decision, *, hold: int | None = None) -> bool:
        """Answer the step that waits; False when none waits or it does not allow this."""
        return self.gate.decide(decision, hold=hold)

    def retry(self, *, hold: int | None = None) -> bool:
        """Send a failed call's request again; False when none waits."""
        return self.gate.decide(Decision("pass"), kind="failed_call", hold=hold)

    def give_up(self) -> bool:
        """Let a failed call fail the turn; False when none waits."""
        return self.gate.decide(Decision("refuse", "given up"), kind="failed_call")
