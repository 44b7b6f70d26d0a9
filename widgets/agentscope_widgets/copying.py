"""What a pane asks for that leaves it: text to copy, and text to open in another program."""

from __future__ import annotations

from textual.message import Message


class TextRequest(Message):
    """The user wants this text, which is what was written: unwrapped, without colours."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text


class CopyRequested(TextRequest):
    """The text is to be copied."""


class OpenRequested(TextRequest):
    """The text is to be shown by the user's pager or editor."""
