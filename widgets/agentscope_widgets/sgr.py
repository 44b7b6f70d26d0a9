"""Select Graphic Rendition: what a terminal's colour sequences make of the text after them."""

from __future__ import annotations

from typing import NamedTuple

_FLAGS = {1: "bold", 2: "dim", 3: "italic", 4: "underline", 7: "reverse", 9: "strike"}
_FLAGS_OFF = {22: ("bold", "dim"), 23: ("italic",), 24: ("underline",), 27: ("reverse",), 29: ("strike",)}


class Look(NamedTuple):
    """Colours are `color(0)` to `color(255)`, numbers in the terminal's palette, or `#rrggbb`; None: the
    default. Flags are bold, dim, italic, underline, reverse and strike."""

    color: str | None = None
    background: str | None = None
    flags: frozenset[str] = frozenset()


PLAIN = Look()


def apply(look: Look, parameters: str) -> Look:
    """The look after a sequence `ESC [ parameters m`."""
    color, background, flags = look
    codes = _codes(parameters)
    while codes:
        code = codes.pop(0)
        if code == 0:
            color, background, flags = PLAIN
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
    changed = Look(color, background, flags)
    return PLAIN if changed == PLAIN else changed


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
