"""Text from outside on a plain terminal: without secrets; what moves the cursor or hides is an escape."""

from __future__ import annotations

from agentscope_tui.secrets import MASKER


def printable(text: str) -> str:
    """The text on one line; secrets are masked, control and invisible characters become escapes that
    YAML and Python know."""
    text = MASKER.mask(text)
    return text if text.isprintable() else "".join(map(_shown, text))


def _shown(char: str) -> str:
    if char.isprintable():
        return char
    if char == "\n":
        return "\\n"
    return f"\\u{ord(char):04x}" if ord(char) < 0x10000 else f"\\U{ord(char):08x}"
