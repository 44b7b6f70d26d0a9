"""Text from outside as HTML: nothing in it is a tag, a link that runs something, or a picture to fetch."""

from __future__ import annotations

import re
from functools import lru_cache
from html import escape
from typing import Any

from markdown_it import MarkdownIt

from agentscope_widgets.safe_text import safe_text
from agentscope_widgets.sgr import PLAIN, Look, apply

LONGEST = 60_000
"""Characters of Markdown or code beyond which it is shown as it is written."""
_MOST_BRACKETS = 2_000
_DEEPEST = 100
_SGR = re.compile(r"\x1b\[([0-9;:]{0,64})m")
_CUBE = (0, 95, 135, 175, 215, 255)
_NESTS = re.compile(rf"^[ >]*(?:[-*+>] *){{{_DEEPEST},}}", re.MULTILINE)


def plain(text: str) -> str:
    """Text as it is; controls and invisible characters as visible symbols."""
    return escape(safe_text(text))


def markdown(text: str) -> str:
    """Markdown as HTML blocks. HTML in it is text; a picture is a link to it; links open elsewhere and tell
    that page nothing."""
    if len(text) > LONGEST or text.count("[") > _MOST_BRACKETS or _NESTS.search(text):
        return f'<pre class="source">{plain(text)}</pre>'
    # Entities are decoded by the parser: `&#8238;` is a control again only after it.
    rendered: str = _parser().render(safe_text(text))
    return safe_text(rendered)


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "highlight": _highlight})
    parser.enable(["strikethrough", "table"]).disable(["image", "reference"])
    rules: Any = parser.renderer
    rules.rules["link_open"] = _link_open
    return parser


def _link_open(tokens: Any, index: int, options: Any, env: Any) -> str:
    href = escape(str(tokens[index].attrs.get("href", "")))
    return f'<a href="{href}" target="_blank" rel="noopener noreferrer nofollow">'


def _highlight(code: str, language: str, attributes: str) -> str:
    """The code with spans; empty where the language is not known: then the parser escapes it."""
    return highlighted(code, language) or ""


def highlighted(code: str, language: str) -> str | None:
    """Source code as HTML with classes of Pygments; None where the language is not known."""
    from pygments import highlight  # type: ignore[import-untyped]
    from pygments.formatters.html import HtmlFormatter  # type: ignore[import-untyped]
    from pygments.lexers import get_lexer_by_name  # type: ignore[import-untyped]
    from pygments.util import ClassNotFound  # type: ignore[import-untyped]

    if not language or len(code) > LONGEST:
        return None
    try:
        lexer = get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None
    return str(highlight(safe_text(code), lexer, HtmlFormatter(nowrap=True, classprefix="c-")))


def terminal(text: str) -> str:
    """What a program printed, in its colours; what it wrote over with a carriage return is gone."""
    text = "\n".join(map(_last_written, text.replace("\r\n", "\n").split("\n"))) if "\r" in text else text
    parts: list[str] = []
    look, position = PLAIN, 0
    for match in _SGR.finditer(text):
        parts.append(_styled(text[position : match.start()], look))
        look, position = _applied(look, match[1]), match.end()
    parts.append(_styled(text[position:], look))
    return "".join(parts)


def _last_written(line: str) -> str:
    """A progress bar writes its line again and again."""
    return next((part for part in reversed(line.split("\r")) if part), "")


def _styled(text: str, look: Look) -> str:
    return f"{_opening(look)}{plain(text)}</span>" if text and look is not PLAIN else plain(text)


_applied = lru_cache(maxsize=1024)(apply)


@lru_cache(maxsize=1024)
def _opening(look: Look) -> str:
    """The tag that begins a text of this look."""
    color, background, flags = look
    if color is not None and color == background:
        color = background = None
    classes = sorted(flags)
    styles = []
    for prefix, property, value in (("f", "color", color), ("b", "background", background)):
        number = int(value[6:-1]) if value is not None and value.startswith("color(") else None
        if number is not None and number < 16:
            classes.append(f"{prefix}{number}")
        elif value is not None:
            styles.append(f"{property}:{value if number is None else _palette(number)}")
    named = f' class="{" ".join(classes)}"' if classes else ""
    style = f' style="{";".join(styles)}"' if styles else ""
    return f"<span{named}{style}>"


def _palette(number: int) -> str:
    """The colour of a number from 16 to 255 in the palette that terminals share."""
    if number >= 232:
        level = 8 + 10 * (number - 232)
        return f"#{level:02x}{level:02x}{level:02x}"
    red, rest = divmod(number - 16, 36)
    green, blue = divmod(rest, 6)
    return f"#{_CUBE[red]:02x}{_CUBE[green]:02x}{_CUBE[blue]:02x}"
