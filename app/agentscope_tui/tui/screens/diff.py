"""A screen of blocks that show two texts side by side, made in a thread: the frame of comparisons."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from agentscope_tui.errors import UserError
from agentscope_tui.tui.screens.detail import DetailScreen
from agentscope_widgets.blocks import Block
from agentscope_widgets.diff_view import SAME, DiffView

Tell = Callable[[str], None]
"""Called with words on how far it got."""


class Left(Exception):
    """Nobody waits for it any more."""


def _nothing() -> None:
    """There is nothing to take over."""


@dataclass(frozen=True)
class Made:
    """Blocks that a thread made; `take` takes over what else it found, before they are shown."""

    blocks: Sequence[Block] = ()
    take: Callable[[], None] = _nothing


class DiffScreen(DetailScreen):
    """A subclass makes the blocks in a thread, and says at which of them the screen opens."""

    HAS_JSON: ClassVar[bool] = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("n", "difference(1)", "next difference", id="diff.next", tooltip="To the next difference"),
        Binding("N", "difference(-1)", "before", id="diff.previous", tooltip="To the difference before"),
        Binding(
            "d",
            "only_differences",
            "only differences",
            id="diff.only",
            tooltip="Show only what differs, with a few lines around it, or all again",
        ),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._blocks: Sequence[Block] = ()
        self.only_differences = False

    def content(self) -> ComposeResult:
        yield DiffView(id="detail", placeholder="comparing …")

    def on_mount(self) -> None:
        super().on_mount()
        self.make()

    @property
    def view(self) -> DiffView:
        """The view of the blocks."""
        return self.query_one(DiffView)

    # For a subclass

    def made(self, tell: Tell) -> Made:
        """All blocks: for a thread. Whenever it tells how far it got it may be ended with `Left`.

        Raises:
            UserError: they cannot be made.
        """
        return Made()

    def title_of_pane(self) -> str:
        """What the pane is called."""
        return self.HEADING

    def opens_at(self) -> int:
        """The position of the block that the screen shows when the blocks are there."""
        return next((place for place, block in enumerate(self._blocks) if block.kind != SAME), 0)

    # Making them

    @work(group="compare", exclusive=True)
    async def make(self) -> None:
        """Make the blocks, and show them."""
        left = threading.Event()
        loop = asyncio.get_running_loop()

        def tell(words: str) -> None:
            if left.is_set():
                raise Left
            loop.call_soon_threadsafe(self._tell, words)

        try:
            made = await asyncio.to_thread(self.made, tell)
        except UserError as error:
            self.notify(str(error), severity="error", markup=False)
            return
        finally:
            left.set()
        made.take()
        self._blocks = made.blocks
        self.redraw()
        self.view.placeholder = "no difference"
        self.view.go_to(self.opens_at())
        self.refresh_bindings()

    def _tell(self, words: str) -> None:
        if self.is_attached:
            self.view.placeholder = f"comparing: {words}"

    # What is shown

    def blocks(self, as_json: bool) -> Sequence[Block]:
        self.heading = " · ".join([self.title_of_pane(), *(["only differences"] * self.only_differences)])
        if self.only_differences:
            return [block for block in self._blocks if block.kind != SAME]
        return self._blocks

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "difference":
            return not self.view.searching
        return super().check_action(action, parameters)

    def action_leave(self) -> None:
        self.workers.cancel_group(self, "compare")
        super().action_leave()

    def action_difference(self, step: int) -> None:
        self.view.action_move_cursor(step)

    def action_only_differences(self) -> None:
        self.only_differences = not self.only_differences
        self.make()
