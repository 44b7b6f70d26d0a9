"""The steers as they are shown: a fold over their events."""

from __future__ import annotations

from agentscope_tui.events import Steer
from agentscope_tui.session.views import SteerView


class SteerList:
    """Every steer of a session, in the order of delivery; one that started a turn is no steer any more."""

    def __init__(self) -> None:
        self.views: list[SteerView] = []

    def apply(self, event: Steer) -> None:
        view = next((steer for steer in self.views if steer.msg_id == event.msg_id), None)
        if view is None:
            view = SteerView(event.msg_id, event.text, event.status)
            self.views.append(view)
        if event.status == "edited":
            view.text = event.text
            if event.position is not None:
                self._move(view, event.position)
        else:
            view.status, view.call = event.status, event.call

    def started_turn(self, msg_id: str) -> None:
        """The steer of this id, if there is one, waited for the idle and became a turn's first message."""
        self.views = [steer for steer in self.views if steer.msg_id != msg_id]

    def _move(self, view: SteerView, position: int) -> None:
        others = [steer for steer in self.views if steer is not view]
        queued = [steer for steer in others if steer.status == "queued"]
        place = others.index(queued[position]) if position < len(queued) else len(others)
        self.views = [*others[:place], view, *others[place:]]
