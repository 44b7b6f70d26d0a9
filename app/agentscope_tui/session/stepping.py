"""What the user asks of a session's gate, step, go on, stop, the answer to a step that waits; and of the
steers that wait in its queue."""

from __future__ import annotations

from agentscope_tui.session.gate import Decision, Gate
from agentscope_tui.session.steering import SteerQueue


class Stepping:
    """The part of a session that its gate and its steer queue do. A step that waits may be named by the
    number of its hold; else the one that waits longest is meant."""

    gate: Gate
    _steers: SteerQueue

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

    def edit_steer(self, msg_id: str, text: str) -> bool:
        """Change a steer that still waits in the queue; False when it has gone."""
        return self._steers.edit(msg_id, text)

    def withdraw_steer(self, msg_id: str) -> bool:
        """Take back a steer that still waits in the queue; False when it has gone."""
        return self._steers.withdraw(msg_id)

    def move_steer(self, msg_id: str, position: int) -> bool:
        """Put a steer that still waits at a place of the queue, from 0; False when it has gone."""
        return self._steers.move(msg_id, position)
