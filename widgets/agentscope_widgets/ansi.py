"""Text with escape sequences as styled pieces: colours become styles, all else becomes visible symbols."""

from __future__ import annotations

import re
from functools import lru_cache

from rich.color import Color
from rich.segment import Segment
from rich.style import Style

from .safe_text import safe_text
from .sgr import PLAIN, Look, apply

_SGR = re.compile(r"\x1b\[([0-9;:]{0,64})m")
_SGR_OR_MOVE = re.compile(r"\x1b\[([0-9;:]{0,64})m|\x1b\[(?:[0-9]{0,3}[A-G]|[012]?K|0?J)")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f]")
_UNFINISHED = re.compile(r"\x1b(\[[0-9;:]{0,64})?\Z")


class AnsiDecoder:
    """Decodes one stream; keeps its colours and an unfinished sequence from chunk to chunk.

    Pieces hold safe text in which newlines, tabs and the characters of `keep` stay as they are. With
    `moves` a sequence that moves the cursor by lines or columns (`A` to `G`), erases in its line (`K`) or
    below it (`J`) is a piece of its own. Blinking and concealed text is shown as
    normal text, and a text in the colour of its background in the default colours.
    """

    def __init__(self, *, keep: str = "", moves: bool = False) -> None:
        self._keep = re.compile(f"([{re.escape(keep)}])") if keep else None
        self._sequence = _SGR_OR_MOVE if moves else _SGR
        self._look = PLAIN
        self._style: Style | None = None
        self._rest = ""

    @property
    def is_plain(self) -> bool:
        """No colour is on and no sequence is unfinished."""
        return self._look is PLAIN and not self._rest

    def feed(self, text: str) -> list[Segment]:
        """The pieces of the next chunk; style None is the default."""
        if self._rest:
            text = self._rest + text
            self._rest = ""
        if unfinished := _UNFINISHED.search(text, max(0, len(text) - 70)):
            self._rest = unfinished[0]
            text = text[: unfinished.start()]
        pieces: list[Segment] = []
        position = 0
        calm = text.isascii() and not _CONTROL.search(text)
        for match in self._sequence.finditer(text):
            self._add(pieces, text[position : match.start()], calm)
            position = match.end()
            if (parameters := match[1]) is None:
                pieces.append(Segment(match[0], self._style))
            else:
                self._look, self._style = _applied(self._look, parameters)
        self._add(pieces, text[position:], calm)
        return pieces

    def close(self) -> list[Segment]:
        """What an unfinished sequence at the end of the stream shows."""
        rest, self._rest = self._rest, ""
        pieces: list[Segment] = []
        self._add(pieces, rest)
        return pieces

    def _add(self, pieces: list[Segment], text: str, calm: bool = False) -> None:
        """Add the pieces of a text without the sequences that are obeyed; `calm`: all else in it is safe."""
        if not text:
            return
        if calm and "\n" not in text and "\x1b" not in text:
            pieces.append(Segment(text, self._style))
        elif self._keep is None or not self._keep.search(text):
            pieces.append(Segment(safe_text(text), self._style))
        else:
            for index, part in enumerate(self._keep.split(text)):
                if part:
                    pieces.append(Segment(part if index % 2 else safe_text(part), self._style))


@lru_cache(maxsize=1024)
def _applied(look: Look, parameters: str) -> tuple[Look, Style | None]:
    """The look after a sequence, and its style."""
    changed = apply(look, parameters)
    return changed, _style(changed)


@lru_cache(maxsize=1024)
def _style(look: Look) -> Style | None:
    if look == PLAIN:
        return None
    color, background, flags = look
    if color is not None and color == background:
        color = background = None
    return Style(
        color=None if color is None else Color.parse(color),
        bgcolor=None if background is None else Color.parse(background),
        **dict.fromkeys(flags, True),  # type: ignore[arg-type]
    )
