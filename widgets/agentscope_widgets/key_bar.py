"""The bar of keys at the bottom of a screen: what works now, as much of it as fits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar

from rich.cells import cell_len
from textual.content import Content
from textual.events import Click, MouseMove
from textual.keys import KEY_NAME_REPLACEMENTS, format_key, key_to_character
from textual.screen import Screen
from textual.widget import Widget


def key_name(key: str) -> str:
    """A key as people write it: `?` for `question_mark`, `ctrl+→` for `ctrl+right`."""
    *modifiers, last = key.split("+")
    return "+".join([*modifiers, last if last in ("enter", "tab") else format_key(last)])


@dataclass(frozen=True, slots=True)
class KeyHint:
    """A key that works now, in how many cells it is told, and what it does."""

    key: str
    id: str
    word: str
    tooltip: str

    @property
    def cells(self) -> int:
        return cell_len(key_name(self.key)) + 1 + cell_len(self.word)


class KeyBar(Widget):
    """One line of keys and words, made from the bindings in force: those of the focus first.

    A key that a text box takes as text is left out in favour of the act's other key. `pinned` is the id of
    the binding that is always in sight. A click is the key.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {"key-bar--key", "key-bar--word"}
    DEFAULT_CSS = """
    KeyBar {
        dock: bottom;
        height: 1;
        background: $footer-background;
        & > .key-bar--key { color: $footer-key-foreground; text-style: bold; }
        & > .key-bar--word { color: $footer-description-foreground; }
        &:ansi { background: ansi_default; }
        &:ansi > .key-bar--key { color: ansi_default; }
        &:ansi > .key-bar--word { color: ansi_default; }
    }
    """
    ALLOW_SELECT = False

    def __init__(self, *, pinned: str = "", id: str | None = None) -> None:
        super().__init__(id=id)
        self._pinned = pinned
        self._hints: list[KeyHint] = []

    @property
    def hints(self) -> list[KeyHint]:
        """The keys that work now, the most important first, whether or not there is room for all."""
        return self._hints

    def on_mount(self) -> None:
        self.screen.bindings_updated_signal.subscribe(self, self._bindings_changed)

    def on_unmount(self) -> None:
        self.screen.bindings_updated_signal.unsubscribe(self)

    def render(self) -> Content:
        key, word = self.get_visual_style("key-bar--key"), self.get_visual_style("key-bar--word")
        line = Content("")
        for at, hint in self._placed():
            gap = " " * (at - line.cell_length)
            line += Content.assemble(gap, (key_name(hint.key), key), " ", (hint.word, word))
        return line

    def on_click(self, event: Click) -> None:
        hint = self._hint_at(event.x)
        if hint is not None:
            self.app.simulate_key(hint.key)

    def on_mouse_move(self, event: MouseMove) -> None:
        hint = self._hint_at(event.x)
        self.tooltip = Content(hint.tooltip) if hint else None

    def _bindings_changed(self, screen: Screen[object]) -> None:
        # A terminal without the focus has no focused widget, and so none of its keys.
        if not (self.is_attached and screen.app.app_focus):
            return
        hints = list(_hints(screen))
        if hints != self._hints:
            self._hints = hints
            self.refresh()

    def _placed(self) -> Iterator[tuple[int, KeyHint]]:
        """The keys for which there is room, each with its column; the pinned one stands at the right."""
        pinned = [hint for hint in self._hints if hint.id == self._pinned]
        end = self.size.width - sum(hint.cells + 3 for hint in pinned)
        at = 1
        for hint in self._hints:
            if hint in pinned:
                continue
            if at + hint.cells > end:
                break
            yield at, hint
            at += hint.cells + 2
        for hint in pinned:
            yield self.size.width - hint.cells - 1, hint

    def _hint_at(self, x: int) -> KeyHint | None:
        return next((hint for at, hint in self._placed() if at <= x < at + hint.cells), None)


def _hints(screen: Screen[object]) -> Iterable[KeyHint]:
    focused, seen = screen.focused, set()
    for _, binding, enabled, tooltip in screen.active_bindings.values():
        if not (binding.show and enabled) or binding.description in seen:
            continue
        if focused is not None and focused.check_consume_key(binding.key, _character(binding.key)):
            continue
        seen.add(binding.description)
        yield KeyHint(binding.key, binding.id or "", binding.description, tooltip or binding.description)


def _character(key: str) -> str | None:
    """The character that a key types; Textual's own function does not know `slash` and a few more."""
    return format_key(key) if key in KEY_NAME_REPLACEMENTS.values() else key_to_character(key)
