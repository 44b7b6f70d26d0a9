"""Markdown: the transcript of a session to be read, under headings of turns and calls.

What tools and users said is fenced, with a fence that is longer than any in it. What the model said is
quoted, so that its own headings stay inside; where it has HTML or images in it, its source is shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TextIO

from markdown_it import MarkdownIt

from agentscope_tui.session.views import Entry
from agentscope_tui.store.export.formats import Choices
from agentscope_tui.store.export.reading import (
    ModelCall,
    Reading,
    Turn,
    arguments_of,
    read,
    result_of,
    text_of_entry,
    title_of,
    tool_facts,
    tool_glyph,
)
from agentscope_tui.store.export.source import Source
from agentscope_widgets.safe_text import safe_line, safe_text

_TICKS = re.compile(r"`{3,}")
_SPECIAL = re.compile(r"([\\`*_\[\]<>#|~])")
_LONGEST = 60_000
_MOST_BRACKETS = 2_000
_FACT_LIMIT = 200
_parser = MarkdownIt("commonmark", {"html": True}).enable(["strikethrough", "table"])


def write(source: Source, out: TextIO, choices: Choices) -> bool:
    """Write the whole transcript; always gives True."""
    for part in _parts(read(source)):
        out.write(part)
    return True


def _parts(reading: Reading) -> Iterator[str]:
    yield f"# {_plain(reading.source.name)}\n\n| | |\n|---|---|\n"
    yield from (f"| {name} | {_plain(value)} |\n" for name, value in reading.facts)
    if reading.system:
        yield f"\n## System prompt\n\n{_fenced(reading.system)}"
    for part in reading.told():
        match part:
            case Turn():
                yield f"\n## Turn {part.number}\n"
            case ModelCall():
                yield f"\n### {' · '.join([f'Call #{part.number}', *part.facts])}\n"
            case Entry():
                yield "\n" + _entry(reading, part)


def _entry(reading: Reading, entry: Entry) -> str:
    if entry.kind == "tool":
        return _tool(reading, entry)
    text = text_of_entry(entry)
    title = f"**{_plain(title_of(entry))}**\n"
    if not text:
        return title
    if entry.kind in ("assistant", "reasoning"):
        return f"{title}\n{_quoted(text) if _is_calm(text) else _fenced(text, 'markdown')}"
    language = "json" if entry.kind == "extra" else ""
    return f"{title}\n{_fenced(text, language)}"


def _tool(reading: Reading, entry: Entry) -> str:
    call = reading.call_of(entry)
    facts = " · ".join(tool_facts(call))
    parts = [f"**{tool_glyph(call)} {_plain(call.name)}** · {facts}\n"]
    for name, value in arguments_of(call):
        label = f"{_plain(name)}:\n\n" if name else ""
        parts.append(f"\n{label}{_fenced(value, '' if name else 'json')}")
    if result := result_of(call):
        parts.append(f"\nResult:\n\n{_fenced(result)}")
    return "".join(parts)


def _is_calm(text: str) -> bool:
    """Whether a Markdown text loads nothing and has no HTML in it, and can be parsed in no time."""
    if len(text) > _LONGEST or text.count("[") > _MOST_BRACKETS:
        return False
    tokens = [one for token in _parser.parse(text) for one in (token, *(token.children or ()))]
    return not any(token.type in ("html_block", "html_inline", "image") for token in tokens)


def _fenced(text: str, language: str = "") -> str:
    text = safe_text(text.replace("\r\n", "\n"))
    longest = max(map(len, _TICKS.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text}{'' if text.endswith(chr(10)) else chr(10)}{fence}\n"


def _quoted(text: str) -> str:
    lines = safe_text(text.replace("\r\n", "\n")).strip("\n").split("\n")
    return "".join(f"> {line}\n" if line else ">\n" for line in lines)


def _plain(text: str) -> str:
    """Text on one line that Markdown takes as it is."""
    return _SPECIAL.sub(r"\\\1", safe_line(text, _FACT_LIMIT))
