"""A text area in which controls, typed, pasted or loaded, are visible symbols: what it shows is its text."""

from __future__ import annotations

from textual.widgets import TextArea
from textual.widgets.text_area import Edit, EditResult

from .safe_text import safe_text


class SafeTextArea(TextArea):
    """A `TextArea` for text from outside. Give it the text with `load_text`, not at construction."""

    def edit(self, edit: Edit) -> EditResult:
        edit.text = _visible(edit.text)
        return super().edit(edit)

    def load_text(self, text: str) -> None:
        super().load_text(_visible(text))


def _visible(text: str) -> str:
    return safe_text(text.replace("\r\n", "\n").replace("\r", "\n"))
