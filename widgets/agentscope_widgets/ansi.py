"""Text with escape sequences as styled pieces: colours become styles, all else becomes visible symbols."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from rich.color import Color
from rich.segment import Segment
from rich.style import Style

from .safe_text import safe_text

_SGR = re.compile(r"\x1b\[([0-9;:]{0,64})m")
_SGR_OR_MOVE = re.compile(r"\x1b\[([0-9;:]{0,64})m|\x1b\[(?:[0-9]{0,3}[A-G]|[012]?K|0?J)")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f]")
_UNFINISHED = re.compile(r"\x1b(\[[0-9;:]{0,64})?\Z")

_FLAGS = {1: "bold", 2: "dim", 3: "italic", 4: "underline", 7: "reverse", 9: "strike"}
_FLAGS_OFF = {22: ("bold", "dim"), 23: ("italic",), 24: ("underline",), 27: ("reverse",), 29: ("strike",)}


class _Look(NamedTuple):
    color: str | None = None
    background: str | None = None
    flags: frozenset[str] = frozenset()


_PLAIN = _Look()


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
        self._look = _PLAIN
        self._style: Style | None = None
        self._rest = ""

    @property
    def is_plain(self) -> bool:
        """No colour is on and no sequence is unfinished."""
        return self._look is _PLAIN and not self._rest

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
def _applied(look: _Look, parameters: str) -> tuple[_Look, Style | None]:
    """The look after a sequence, and its style."""
    changed = _apply(look, parameters)
    return changed, _style(changed)


def _apply(look: _Look, parameters: str) -> _Look:
    color, background, flags = look
    codes = _codes(parameters)
    while codes:
        code = codes.pop(0)
        if code == 0:
            color, background, flags = _PLAIN
        elif code in _FLAGS:
            flags |= {_FLAGS[code]}
        elif code in _FLAGS_OFF:
            flags -= {*_FLAGS_OFF[code]}
        elif 30 <= code <= 37 or 90 <= code <= 97:
            color = _indexed(code)
        elif 40 <= code <= 47 or 100 <= code <= 107:
            background = _indexed(code - 10)
        elif code == 39:
            color = None
        elif code == 49:
            background = None
        elif code in (38, 48):
            chosen = _extended(codes)
            color, background = (chosen, background) if code == 38 else (color, chosen)
    changed = _Look(color, background, flags)
    return _PLAIN if changed == _PLAIN else changed


def _codes(parameters: str) -> list[int]:
    """The numbers of a sequence. Colons join what belongs together: `4:3` is a kind of underline,
    `38:2::1:2:3` a colour with a colour space, which is left out."""
    codes: list[int] = []
    for parameter in parameters.split(";"):
        first, *rest = [int(part or 0) for part in parameter.split(":")]
        if first == 4 and rest:
            codes.append(4 if rest[0] else 24)
        elif rest and rest[0] == 2 and len(rest) > 4:
            codes += [first, 2, *rest[2:5]]
        else:
            codes += [first, *rest]
    return codes


def _indexed(code: int) -> str:
    return f"color({code - 30 if code < 90 else code - 82})"


def _extended(codes: list[int]) -> str | None:
    """Takes the colour that follows a 38 or 48 from the front of `codes`."""
    match codes:
        case [5, number, *_]:
            del codes[:2]
            return f"color({number})" if number < 256 else None
        case [2, red, green, blue, *_]:
            del codes[:4]
            return f"#{red:02x}{green:02x}{blue:02x}" if max(red, green, blue) < 256 else None
        case _:
            codes.clear()
            return None


@lru_cache(maxsize=1024)
def _style(look: _Look) -> Style | None:
    if look == _PLAIN:
        return None
    color, background, flags = look
    if color is not None and color == background:
        color = background = None
    return Style(
        color=None if color is None else Color.parse(color),
        bgcolor=None if background is None else Color.parse(background),
        **dict.fromkeys(flags, True),  # type: ignore[arg-type]
    )
