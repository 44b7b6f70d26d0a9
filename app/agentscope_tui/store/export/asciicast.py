"""asciicast v2: the session as a terminal would have shown it, played back by asciinema at its own pace.

The text is what `agentscope run` prints, with colours, at the times at which it happened. Players cut each
pause to the header's `idle_time_limit`.
"""

from __future__ import annotations

import io
import json
import re
from typing import TextIO

from agentscope_tui.batch.printer import TranscriptPrinter
from agentscope_tui.store.export.formats import Choices
from agentscope_tui.store.export.source import Source

HEIGHT = 32
_RESET, _DIM = "\x1b[0m", "\x1b[2m"
_QUOTED = "  │"
"""How a line of output begins: nearly all lines of a long session."""
_COLORS = [
    (re.compile(pattern), color)
    for pattern, color in (
        (r"── ", "\x1b[1m"),
        (r"(user|answer|system|steer \(.*\)|\w+ \(earlier\)):$", "\x1b[1;36m"),
        (r"assistant #\d+ \(.*\):$", "\x1b[1;35m"),
        (r"  (→|proposes) ", "\x1b[33m"),
        (r"  ✓ ", "\x1b[32m"),
        (r"  [✗⊘■!] ", "\x1b[31m"),
        (r"  (·|mended)", _DIM),
        (r"reward ", "\x1b[1;33m"),
        (r"turn \d+ completed", "\x1b[32m"),
        (r"(turn \d+ |session failed)", "\x1b[31m"),
    )
]


def write(source: Source, out: TextIO, choices: Choices) -> bool:
    """Write the header and an output event for each thing that was printed; always gives True."""
    printed = io.StringIO()
    printer = TranscriptPrinter(printed)
    began: float | None = None
    at = 0.0
    at_line_start = True
    for event in source.events(without={"assistant_delta"}):
        if began is None:
            began = event.at.timestamp()
            out.write(json.dumps(_header(source, began, choices), ensure_ascii=False) + "\n")
        printer(event)
        if not (text := printed.getvalue()):
            continue
        printed.seek(0)
        printed.truncate()
        at = max(at, event.at.timestamp() - began)
        told = _colored(text, at_line_start)
        at_line_start = text.endswith("\n")
        out.write(json.dumps([round(at, 6), "o", told], ensure_ascii=False) + "\n")
    return True


def _header(source: Source, began: float, choices: Choices) -> dict[str, object]:
    return {
        "version": 2,
        "width": choices.width,
        "height": HEIGHT,
        "timestamp": int(began),
        "idle_time_limit": choices.idle,
        "title": source.name,
        "env": {"TERM": "xterm-256color"},
    }


def _colored(text: str, at_line_start: bool) -> str:
    """Lines as a terminal wants them, those that say what happened in colour."""
    lines = text.split("\n")
    shown = [_colored_line(line) if place or at_line_start else line for place, line in enumerate(lines[:-1])]
    return "\r\n".join([*shown, lines[-1]])


def _colored_line(line: str) -> str:
    if line.startswith(_QUOTED):
        return f"{_DIM}{line}{_RESET}"
    for pattern, color in _COLORS:
        if pattern.match(line):
            return f"{color}{line}{_RESET}"
    return line
