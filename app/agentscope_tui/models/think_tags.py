"""Reasoning that a server leaves in the text, between `<think>` and `</think>` at its very start."""

from __future__ import annotations

from typing import Literal

_OPEN, _CLOSE = "<think>", "</think>"


class ThinkTags:
    """Splits text as it streams. Tags further on are text: only a model's own thoughts come first."""

    def __init__(self) -> None:
        self._waiting = ""
        self._state: Literal["start", "thinking", "after", "text"] = "start"
        self.found = False
        """Whether the text began with the tag."""

    def split(self, text: str) -> tuple[str, str]:
        """The reasoning and the text that a piece brings; what may be a part of a tag waits."""
        self._waiting += text
        reasoning = ""
        if self._state == "start" and not self._start():
            return "", ""
        if self._state == "thinking":
            reasoning = self._think()
        if self._state == "after":
            self._waiting = self._waiting.lstrip()
            self._state = "text" if self._waiting else "after"
        return reasoning, self._take() if self._state == "text" else ""

    def rest(self) -> tuple[str, str]:
        """The reasoning and the text that still wait at the end of the stream."""
        thinking = self._state == "thinking"
        return (self._take(), "") if thinking else ("", self._take())

    def _start(self) -> bool:
        """Whether the text is known to begin with the tag, or not to."""
        begun = self._waiting.lstrip()
        if begun.startswith(_OPEN):
            self._state, self._waiting, self.found = "thinking", begun.removeprefix(_OPEN), True
            return True
        if _OPEN.startswith(begun):
            return False
        self._state = "text"
        return True

    def _think(self) -> str:
        reasoning, closed, rest = self._waiting.partition(_CLOSE)
        if closed:
            self._state, self._waiting = "after", rest
            return reasoning
        begun = next(n for n in range(len(_CLOSE) - 1, -1, -1) if reasoning.endswith(_CLOSE[:n]))
        self._waiting = reasoning[len(reasoning) - begun :]
        return reasoning[: len(reasoning) - begun]

    def _take(self) -> str:
        taken, self._waiting = self._waiting, ""
        return taken
