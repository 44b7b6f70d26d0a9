"""Two sessions side by side, aligned by call, from where they first differ; and what they were sent."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.events import Resize
from textual.screen import Screen
from textual.widgets import Static

from agentscope_tui.comparison_words import facts_of, name_of, table, verdict
from agentscope_tui.errors import UserError
from agentscope_tui.events import SessionEvent
from agentscope_tui.session.compared_lines import whole_text
from agentscope_tui.session.comparing import CallPair, Comparison, compare, request_differences, state_of
from agentscope_tui.session.state import SessionState
from agentscope_tui.store.past import PastSession
from agentscope_tui.store.reopen import as_it_stands
from agentscope_tui.tui.present.compare import call_block, request_blocks
from agentscope_tui.tui.screens.confirm import Choice, ConfirmScreen
from agentscope_tui.tui.screens.diff import DiffScreen, Made, Tell
from agentscope_tui.tui.workspace import Workspace
from agentscope_widgets.blocks import Block
from agentscope_widgets.copying import OpenRequested
from agentscope_widgets.diff_view import DiffView
from agentscope_widgets.safe_text import safe_line

_TOLD_EVENTS = 2_000
_TOLD_CALLS = 20


Numbers = tuple[int | None, int | None]


@dataclass(frozen=True)
class _Found:
    """What was compared, and the pairs on screen, one for each block."""

    pasts: tuple[PastSession, PastSession]
    states: Sequence[SessionState]
    comparison: Comparison
    pairs: Sequence[CallPair] = ()


async def show_compared(screen: Screen[Any], workspace: Workspace, ids: tuple[str, str]) -> None:
    """Compare two sessions by their ids, on a screen upon `screen`, which says what goes wrong."""
    try:
        left, right = [await workspace.past_of(session) for session in ids]
    except UserError as error:
        screen.notify(str(error), severity="error", markup=False)
        return
    screen.app.push_screen(CompareScreen(left, right))


class CompareScreen(DiffScreen):
    """The left session against the right one, as they are by now; those that go on can be read again."""

    HEADING: ClassVar[str] = "Compare"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("s", "swap", "swap", id="compare.swap", tooltip="Swap the sides"),
        Binding(
            "m", "requests", "messages sent", id="compare.requests", tooltip="Compare what both were sent"
        ),
        Binding(
            "ctrl+l", "read_again", "read again", id="compare.again", tooltip="Compare them as they are now"
        ),
    ]

    def __init__(self, left: PastSession, right: PastSession) -> None:
        super().__init__()
        self._pasts = left, right
        self._found: _Found | None = None
        self._wanted: Numbers | None = None
        """The calls to stay at, by their numbers."""

    def content(self) -> ComposeResult:
        yield Static(id="facts")
        yield from super().content()

    # Comparing

    def made(self, tell: Tell) -> Made:
        found, only = self._found, self.only_differences
        if found is None or found.pasts is not self._pasts:
            # Swapped sides are known already, and may be long.
            known = (
                {id(past): state for past, state in zip(found.pasts, found.states, strict=True)}
                if found
                else {}
            )
            left, right = (known.get(id(past)) or state_of(_told(past, tell)) for past in self._pasts)
            found = _Found(self._pasts, (left, right), compare(left, right))
        pairs = [pair for pair in found.comparison.pairs if pair.difference != "same" or not only]
        found = replace(found, pairs=pairs)
        blocks: list[Block] = []
        for done, pair in enumerate(pairs):
            if done % _TOLD_CALLS == 0:
                tell(f"call {done:,} of {len(pairs):,}")
            blocks.append(call_block(pair, only_differences=only))
        return Made(blocks, partial(self._take, found))

    def _take(self, found: _Found) -> None:
        self._found = found
        self._pasts = found.pasts
        self._show_facts()

    def opens_at(self) -> int:
        """What was chosen before, else the first divergence."""
        if self._found is None:
            return 0
        place = self._found.comparison.first_divergence
        wanted, self._wanted = self._wanted, None
        if wanted is None and place is not None:
            wanted = _numbers(self._found.comparison.pairs[place])
        return next((at for at, pair in enumerate(self._found.pairs) if _numbers(pair) == wanted), 0)

    def _show_facts(self) -> None:
        if self._found is None:
            return
        comparison = self._found.comparison
        names, left, right, difference = table([*facts_of(comparison)], self.view.text_width)
        words = f"  {verdict(comparison)}", f"  {safe_line(comparison.relation)}".rstrip()
        said = [
            (names, "$text-muted"),
            (left, "$text-error"),
            (right, "$text-success"),
            (difference, "bold"),
            *((line, "bold") for line in words),
        ]
        lines = [Content.styled(text, style) for text, style in said if text]
        self.query_one("#facts", Static).update(Content("\n").join(lines))

    def on_resize(self, event: Resize) -> None:
        self.call_after_refresh(self._show_facts)

    # What is chosen

    def _chosen(self) -> CallPair | None:
        position = self.view.block_in_hand()
        pairs = self._found.pairs if self._found else ()
        return pairs[position] if position is not None and position < len(pairs) else None

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        match action:
            case "requests":
                pair = self._chosen()
                return pair is not None and all(call and call.number for call in (pair.left, pair.right))
            case "read_again":
                return any(past.folder for past in self._pasts)
            case _:
                return super().check_action(action, parameters)

    @on(DiffView.BlockHighlighted)
    def _other_chosen(self) -> None:
        self.refresh_bindings()

    @on(DiffView.SideRequested)
    @work(group="open side", exclusive=True)
    async def _open_side(self) -> None:
        """Ask which of the two to open in the pager: all of it, or the difference as it is here."""
        pair = self._chosen()
        if pair is None:
            return
        sides = [("l", "left", pair.left), ("r", "right", pair.right)]
        choices = [Choice(key, word, word) for key, word, call in sides if call is not None]
        question = f"Open which of {name_of(pair)}?"
        asked = ConfirmScreen(question, (*choices, Choice("d", "difference", "difference")))
        match await self.app.push_screen_wait(asked):
            case "left" if pair.left is not None:
                self.post_message(OpenRequested(whole_text(pair.left)))
            case "right" if pair.right is not None:
                self.post_message(OpenRequested(whole_text(pair.right)))
            case "difference":
                self.post_message(OpenRequested(call_block(pair, only_differences=False).body))
            case _:
                pass

    # Keys

    def action_only_differences(self) -> None:
        self._stay()
        super().action_only_differences()

    def action_swap(self) -> None:
        self._stay()
        self._wanted = self._wanted and self._wanted[::-1]
        left, right = self._pasts
        self._pasts = right, left
        self.make()

    @work(group="read again", exclusive=True)
    async def action_read_again(self) -> None:
        try:
            left, right = await asyncio.to_thread(lambda: [*map(_as_it_is, self._pasts)])
        except UserError as error:
            self.notify(str(error), severity="error", markup=False)
            return
        self._stay()
        self._pasts = left, right
        self.make()

    def action_requests(self) -> None:
        pair = self._chosen()
        if self._found is not None and pair is not None:
            self.app.push_screen(RequestsScreen(self._found.states, pair))

    def _stay(self) -> None:
        pair = self._chosen()
        self._wanted = None if pair is None else _numbers(pair)


class RequestsScreen(DiffScreen):
    """What both calls of a pair were sent: the messages, and the parameters."""

    def __init__(self, sides: Sequence[SessionState], pair: CallPair) -> None:
        super().__init__()
        self._sides = sides
        self._pair = pair

    def title_of_pane(self) -> str:
        return f"Messages sent · {name_of(self._pair)}"

    def made(self, tell: Tell) -> Made:
        left, right = self._sides
        one, other = (number or 0 for number in _numbers(self._pair))
        changes = request_differences(left, one, right, other)
        sent = left.request_parameters(one), right.request_parameters(other)
        return Made([*request_blocks(changes, sent)])


def _told(past: PastSession, tell: Tell) -> Iterator[SessionEvent]:
    """The events of a session; it is told how many of them were taken."""
    for done, event in enumerate(past.events):
        if done % _TOLD_EVENTS == 0:
            tell(f"{safe_line(past.session_id, 60)}, event {done:,} of {len(past.events):,}")
        yield event


def _as_it_is(past: PastSession) -> PastSession:
    """The session as it is recorded by now."""
    return past if past.folder is None else as_it_stands(past.folder.path)


def _numbers(pair: CallPair) -> Numbers:
    left, right = (None if call is None else call.number for call in (pair.left, pair.right))
    return left, right
