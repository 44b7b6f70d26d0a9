"""The transcript of a session: its blocks in order, following the newest until the user scrolls up."""

from __future__ import annotations

from typing import ClassVar, NamedTuple

from textual import on
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.reactive import reactive

from .block_view import BlockView
from .blocks import Block
from .prompt_line import PromptLine

MESSAGES = frozenset({"earlier", "user", "steer", "assistant"})
TOOLS = frozenset({"tool"})

_ASK_CALL = "call"


class Filter(NamedTuple):
    """A choice of what the transcript shows: its name, and the kinds of blocks; none is all of them."""

    name: str
    kinds: frozenset[str] = frozenset()


FILTERS = (
    Filter(""),
    Filter("messages", MESSAGES),
    Filter("tool calls", TOOLS),
    Filter("messages and tool calls", MESSAGES | TOOLS),
)
"""What the filter key goes through."""


class Transcript(BlockView):
    """A `BlockView` that opens at its end and follows it, with keys for what a transcript is made of.

    Its pane needs a `PromptLine` beside it, where the number of a call is asked for.
    """

    FOLLOWS: ClassVar[bool] = True
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("(", "go_block(-1)", "Previous block", False, id="transcript.up", tooltip="Previous block"),
        Binding(")", "go_block(1)", "Next block", False, id="transcript.down", tooltip="Next block"),
        Binding(
            "{", "go_tool(-1)", "Previous call", False, id="transcript.tool_up", tooltip="Previous tool call"
        ),
        Binding("}", "go_tool(1)", "Next call", False, id="transcript.tool_down", tooltip="Next tool call"),
        Binding(
            "E", "go_error", "Next error", False, id="transcript.error", tooltip="Next error, or the first"
        ),
        Binding(
            "Y",
            "copy_result",
            "Copy",
            False,
            id="transcript.copy_result",
            tooltip="Copy the result of a tool call",
        ),
        Binding("g", "ask_call", "Go to call", False, id="transcript.call", tooltip="Go to a model call"),
        Binding(
            "F", "filter", "Filter", False, id="transcript.filter", tooltip="Show only some kinds, or all"
        ),
    ]

    class ResultRequested(Message):
        """The user wants to copy the result of the tool call whose block is at `position`."""

        def __init__(self, transcript: Transcript, position: int) -> None:
            super().__init__()
            self.transcript = transcript
            self.position = position

        @property
        def control(self) -> Transcript:
            """The transcript."""
            return self.transcript

    class CallSought(Message):
        """The user wants to go to a call that is `elsewhere`."""

        def __init__(self, transcript: Transcript, call: int) -> None:
            super().__init__()
            self.transcript = transcript
            self.call = call

        @property
        def control(self) -> Transcript:
            """The transcript."""
            return self.transcript

    elsewhere: range = range(0)
    """The numbers of calls that are not all in the blocks, but that whoever shows them can bring."""

    filter: reactive[Filter] = reactive(FILTERS[0])
    """What is shown."""

    def watch_filter(self, chosen: Filter) -> None:
        self.keep_only(chosen.kinds)

    def shown_all(self) -> None:
        self.set_reactive(Transcript.filter, FILTERS[0])

    def is_stop(self, block: Block) -> bool:
        return block.kind in MESSAGES

    def go_to_call(self, call: int) -> bool:
        """Choose the first block of a model call; False if there is no such call."""
        for position, block in enumerate(self.blocks):
            if block.call == call:
                self.go_to(position)
                return True
        return False

    def notes(self) -> list[str]:
        only = [f"only {self.filter.name}"] if self.filter.name else []
        return [*only, *super().notes()]

    def action_go_block(self, step: int) -> None:
        self._go(step, lambda block: True)

    def action_go_tool(self, step: int) -> None:
        self._go(step, lambda block: block.kind in TOOLS)

    def action_go_error(self) -> None:
        if not self.go_to_next(1, lambda block: block.tone == "error", around=True):
            self.app.bell()

    def action_filter(self) -> None:
        self.filter = FILTERS[(FILTERS.index(self.filter) + 1) % len(FILTERS)]

    def action_copy_result(self) -> None:
        position = self.block_in_hand()
        if position is not None and self.blocks[position].kind in TOOLS:
            self.post_message(self.ResultRequested(self, position))
        else:
            self.app.bell()

    def action_ask_call(self) -> None:
        if self._calls:
            PromptLine.beside(self).open(self, _ASK_CALL, "Go to call #", note=self._calls)
        else:
            self.app.bell()

    @on(PromptLine.Submitted)
    def _call_named(self, event: PromptLine.Submitted) -> None:
        if event.question != _ASK_CALL:
            return
        event.stop()
        number = event.value.strip().removeprefix("#")
        if number.isdecimal() and self.go_to_call(int(number)):
            event.prompt.close()
        elif number.isdecimal() and int(number) in self.elsewhere:
            event.prompt.close()
            self.post_message(self.CallSought(self, int(number)))
        else:
            event.prompt.note = f"there is no such call: {self._calls}"

    @property
    def _calls(self) -> str:
        """The numbers of the calls there are; empty if there is none."""
        numbers = [block.call for block in self.blocks if block.call is not None]
        numbers += [self.elsewhere[0], self.elsewhere[-1]] if self.elsewhere else []
        return f"{min(numbers)} to {max(numbers)}" if numbers else ""
