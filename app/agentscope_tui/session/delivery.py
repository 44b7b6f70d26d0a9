"""Handing over steers: to a runner that takes messages while it runs, or into the request that has come."""

from __future__ import annotations

from collections.abc import Callable

from agentscope_tui.runners.profile import Profile
from agentscope_tui.session.limits import Meter
from agentscope_tui.session.steering import QueuedSteer, SteerQueue


class Delivery:
    """The way of a session's steers. `profile` is what is known of the runner, `send` gives it one."""

    def __init__(
        self,
        steers: SteerQueue,
        meter: Meter,
        *,
        profile: Callable[[], Profile],
        send: Callable[[QueuedSteer], None],
    ) -> None:
        self._steers = steers
        self._meter = meter
        self._profile = profile
        self._send = send

    def hand_over(self) -> None:
        """Give the queued steers to the runner; called just before the frame after which it looks."""
        if self._profile().steers == "native":
            for steer in self._given_out():
                self._send(steer)

    def inject(self) -> list[str]:
        """The queued steers, for the request that has come, where the runner does not take any itself."""
        if self._profile().steers == "native":
            return []
        return [steer.text for steer in self._given_out(inject=True)]

    def _given_out(self, *, inject: bool = False) -> list[QueuedSteer]:
        """Without a model call left to take them they stay, and return to the user as the turn ends."""
        if not self._meter.has_call_for_steer():
            return []
        steers = self._steers.hand_over(inject=inject)
        if steers:
            self._meter.steered()
        return steers
