"""Text from outside made safe to show: what a terminal would obey or hide becomes a visible symbol."""

from __future__ import annotations

import re
from collections.abc import Callable

# C0 without tab and newline, DEL and C1, soft hyphen, Arabic letter mark, Hangul fillers, Khmer inherent
# vowels, Mongolian selectors, zero-width and bidirectional characters, line and paragraph separators,
# invisible operators, variation selectors, byte order mark, interlinear marks, shorthand and musical
# format controls, tags, noncharacters, and lone surrogates (no terminal encoding has them).
_UNSAFE = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufdd0-\ufdef\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\ufffe\uffff\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_MARK = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0e31\u0e34-\u0e3a\u0e47-\u0e4e"
    "\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20f0\ufe20-\ufe2f"
)
_MARKS_KEPT = 4

_ASCII_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f]")
_SHOW = re.compile(f"[{_UNSAFE}]|[{_MARK}]{{{_MARKS_KEPT + 1},}}")
# A joiner or an emoji selector right after a pictograph only chooses a glyph. Terminals disagree about the
# width that results, so these are left out: the parts stand side by side, each as wide as it is drawn.
_PICTOGRAPH = "\u00a9\u00ae\u203c-\u3299\U0001f000-\U0001faff"
_EMOJI_JOINT = re.compile(
    f"(?<=[{_PICTOGRAPH}])\ufe0f?\u200d(?=[{_PICTOGRAPH}])|(?<=[#*0-9{_PICTOGRAPH}])[\ufe0e\ufe0f]"
)

_LINE_LOOKAHEAD = 4
"""Characters read for each one shown: symbols only lengthen text, so joints are all that may shorten it."""


_cover: Callable[[str], str] = str


def cover_with(cover: Callable[[str], str]) -> None:
    """Have `cover` take out of every text what nobody may see, such as keys; `str` takes out nothing."""
    global _cover
    _cover = cover


def safe_text(text: str) -> str:
    """`text` with every control, bidirectional and invisible character as a visible symbol.

    Newlines and tabs stay. C0 controls become Control Pictures (`␀` … `␟`, `␡`), everything else
    `⟨U+202E⟩`; of more than four combining marks on one character the rest is counted. Joiners and
    selectors inside emoji are left out. The width in cells is then the sum over the characters.
    """
    text = _cover(text)
    if text.isascii():
        return _ASCII_CONTROL.sub(_symbol, text)
    return _SHOW.sub(_symbol, _EMOJI_JOINT.sub("", text))


def safe_line(text: str, limit: int = 400) -> str:
    """`text` on one line of at most `limit` characters: newlines as `⏎`, tabs as a space, cut with `…`.

    Only as much of `text` is looked at as can be shown, so a very long cell costs no more than a short one.
    """
    head = text[: limit * _LINE_LOOKAHEAD + 1]
    line = safe_text(head.replace("\r\n", "\n")).replace("\n", "⏎").replace("\t", " ")
    if len(line) <= limit and len(head) == len(text):
        return line
    return line[: max(0, limit - 1)] + "…"


def _symbol(match: re.Match[str]) -> str:
    found = match[0]
    code = ord(found[0])
    if len(found) > 1:
        return f"{found[:_MARKS_KEPT]}⟨+{len(found) - _MARKS_KEPT} marks⟩"
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else f"⟨U+{code:04X}⟩"
