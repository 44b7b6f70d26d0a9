"""The command palette: every act that works now, the sessions, and the rows, found by what they say."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from textual.command import CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.fuzzy import FuzzySearch
from textual.screen import Screen
from textual.style import Style

from agentscope_widgets.key_bar import key_name
from agentscope_widgets.safe_text import safe_line

_WIDEST = 200


@dataclass(frozen=True, slots=True)
class Command:
    """One line of the palette, and what it does. The text may be anything."""

    text: str
    act: Callable[[], object]


Find = Callable[[str], Iterator[Command]]
"""The commands for what was typed, which may be nothing."""


def palette(find: Find) -> CommandPalette:
    """The palette over the screen whose commands `find` gives."""

    class Commands(Provider):
        """Matches what was typed with the commands."""

        async def search(self, query: str) -> Hits:
            search = FuzzySearch()
            for command in find(query):
                text = safe_line(command.text, _WIDEST)
                score, places = search.match(query, text)
                if score:
                    line = _marked(Content(text), places, self.match_style)
                    yield Hit(score, line, command.act, text=text)

        async def discover(self) -> Hits:
            for command in find(""):
                text = safe_line(command.text, _WIDEST)
                yield DiscoveryHit(Content(text), command.act, text=text)

    return CommandPalette([Commands], placeholder="an action, a row's number or its task, a session")


def acts_of(screen: Screen[Any]) -> Iterator[Command]:
    """What the keys do now: first those of the screen, then those of the pane that has the focus."""
    acts: dict[str, tuple[bool, str, Callable[[], object]]] = {}
    keys: dict[str, list[str]] = {}
    for node, binding, enabled, tooltip in screen.active_bindings.values():
        if enabled and binding.id and tooltip:
            keys.setdefault(binding.id, []).append(key_name(binding.key))
            act: Callable[[], object] = partial(screen.app.run_action, binding.action, node)
            # The bar's word goes first: it is what a user who has seen it types.
            acts.setdefault(binding.id, (node is not screen, f"{binding.description}: {tooltip}", act))
    for name, (_, text, act) in sorted(acts.items(), key=lambda item: item[1][0]):
        yield Command(f"{text} · {', '.join(keys[name])}", act)


def _marked(line: Content, places: Sequence[int], style: Style | None) -> Content:
    for place in places:
        line = line.stylize(style or "bold", place, place + 1)
    return line
