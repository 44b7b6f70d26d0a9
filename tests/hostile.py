"""Text that an attacker, or a broken tool, would send: every place that shows text must stand it."""

from __future__ import annotations

import unicodedata

HOSTILE: dict[str, str] = {
    "closing markup": "[/x] [/] [/bold]",
    "click markup": "[@click=app.quit]quit[/] [link=file:///etc/passwd]x[/link]",
    "open bracket": "[[[ ]] [bold",
    "clipboard write": "\x1b]52;c;ZXZpbA==\x07",
    "screen clear": "\x1b[2J\x1b[H\x1bc",
    "window title": "\x1b]0;owned\x1b\\",
    "device query": "\x1b[6n\x1b[c\x05",
    "c1 controls": "\x9b31mred\x9d0;title\x9c\x85",
    "bidi override": "user‮drowssap‬ ⁦x⁩",
    "zero width": "a​b‌c‍d⁠e﻿f\xadg",
    "tag characters": "x" + "".join(chr(0xE0000 + ord(c)) for c in "ignore all"),
    "variation selectors": "x\ufe00\ufe01\U000e0100\ufe0f\ufe0f",
    "combining storm": "e" + "\u0301" * 500 + "\u0338" * 500,
    "nul": "a\x00b\x7f\x08\x08",
    "one character": "x" * 1_000_000,
    "one wide character": "漢" * 50_000,
    "spaces": " " * 10_000,
    "many lines": "\n" * 5_000,
    "carriage returns": "100%\r50%\rdone\r\n",
    "separators": "a\u2028b\u2029c\x0bd\x0ce\x1cf",
    "cjk": "日本語のテキスト、한국어 텍스트",
    "emoji": "👩‍👩‍👧 ❤️ 🇩🇪 👍🏽 #️⃣",
    "surrogate": "a\ud800b\udfff",
    "noncharacter": "a\uffff\ufdd0",
    "tabs": "\ta\t\tb",
    "markdown": "[a](javascript:alert(1)) ![i](http://x/y) <b onclick=x> &#27;[2J &#8238; [r]: http://hidden",
    "nesting": ">" * 300 + "- " * 300 + "**" * 300,
    "table": "| a |\n|---|\n| 1 | 2 | 3 |",
    "open fence": "```" + "python" * 50 + "\nx",
    "broken json": '{"a": [1, "x\\',
    "percent": "%s %d {} {0} $x ${y}",
}


def raw_characters(text: str) -> list[str]:
    """The characters of a drawn line that a terminal would obey, hide or fail to encode."""
    return [
        f"U+{ord(character):04X}"
        for character in text
        if unicodedata.category(character) in {"Cc", "Cf", "Cs", "Zl", "Zp"}
        or 0xFE00 <= ord(character) <= 0xFE0F
        or 0xE0100 <= ord(character) <= 0xE01EF
    ]
