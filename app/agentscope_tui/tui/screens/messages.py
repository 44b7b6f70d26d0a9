"""All messages as they are sent to the model, of the next call or of any before, and what changed in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType

from agentscope_tui.session.state import SessionState
from agentscope_tui.tui.present.messages import blocks_of, parameters_block, request_of
from agentscope_tui.tui.screens.detail import DetailScreen
from agentscope_widgets.blocks import Block


class MessagesScreen(DetailScreen):
    """One request at a time; `call` None is the next one."""

    HEADING: ClassVar[str] = "Messages"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "call(-1)", "call before", id="messages.before", tooltip="What the call before sent"),
        Binding("right", "call(1)", "call after", id="messages.after", tooltip="What the call after sent"),
        Binding(
            "d",
            "only_changes",
            "only changes",
            id="messages.changes",
            tooltip="Show only what changed since the call before, or all again",
        ),
    ]

    def __init__(self, state: SessionState, call: int | None = None) -> None:
        super().__init__()
        self._state = state
        self._call = call
        self._only_changes = False

    def blocks(self, as_json: bool) -> Sequence[Block]:
        request = request_of(self._state, self._call)
        changes = "" if not self._only_changes else " · only changes"
        self.heading = f"{self.HEADING} · {request.title}{changes}"
        shown = blocks_of(request, as_json=as_json, only_changes=self._only_changes)
        if self._only_changes and not shown:
            before = f"call #{(self._call or self._state.call + 1) - 1}"
            return [Block(key="nothing", title=f"nothing changed since {before}", tone="muted")]
        return [parameters_block(self._state, request), *shown]

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "call":
            return self._neighbour(1 if parameters == (1,) else -1) != self._call
        return super().check_action(action, parameters)

    def action_call(self, step: int) -> None:
        self._call = self._neighbour(step)
        self.redraw()
        self.refresh_bindings()

    def action_only_changes(self) -> None:
        self._only_changes = not self._only_changes
        self.redraw()

    def _neighbour(self, step: int) -> int | None:
        """The call before or after the one shown; after the last comes the next (None)."""
        last = self._state.call
        place = (last + 1 if self._call is None else self._call) + step
        return None if place > last else max(1, place) if last else None
