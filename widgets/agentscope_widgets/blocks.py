"""One block of a transcript: what it says, and how it becomes rows of the screen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, assert_never

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style

from .ansi import AnsiDecoder
from .code_highlight import highlight_json
from .look import Look, Tone
from .markdown_rows import markdown_rows
from .safe_text import safe_line, safe_text
from .text_rows import Row, fit_end, split_lines, wrap_line, wrap_lines

Format = Literal["markdown", "plain", "ansi", "json", "call"]
"""How a body is written; a `call` is a tool call: arguments as JSON, and below `RESULT_RULE` an ANSI text."""

RESULT_RULE = "\n\n── result ──\n"
"""What stands between the arguments of a tool call and what came of it."""

BODY_LIMIT = 200_000
"""Characters of a body that are shown; of a longer one the start and the end are, and the cut is said."""

TAIL_SHOWN = BODY_LIMIT // 4
"""Characters of such a body that are from its end."""

INDENT = 2
"""Cells of the gutter: the bar of the block, and a space."""

_BOLD = Style(bold=True)


@dataclass(frozen=True, slots=True)
class Block:
    """A message, a tool call, a pause … Text may be anything: it is made safe where it is shown.

    `key` names the block for as long as it exists. `call` (its number) and `margin` are shown at the right of
    the title, the least important part last. A `foldable` block that is folded is one line: title and
    `summary`; `folded` is how it starts, the user decides from then on. `live`: the body still grows.
    """

    key: str
    kind: str = ""
    title: str = ""
    body: str = ""
    format: Format = "plain"
    call: int | None = None
    margin: tuple[str, ...] = ()
    tone: Tone = "normal"
    live: bool = False
    foldable: bool = False
    folded: bool = False
    summary: str = ""


def estimate_rows(block: Block, width: int) -> int:
    """About how many rows the body has, without rendering it."""
    body = block.body
    if not body:
        return 0
    return body.count("\n") + 1 + min(len(body), BODY_LIMIT) // max(1, width)


def body_rows(block: Block, width: int, look: Look) -> list[Row]:
    """The body of a finished block as rows of at most `width` cells."""
    return text_rows(shortened(block.body), block.format, width, look)


def text_rows(text: str, format: Format, width: int, look: Look) -> list[Row]:
    """Text from outside, in one of the formats, as rows of at most `width` cells."""
    if not text:
        return []
    match format:
        case "markdown":
            return markdown_rows(safe_text(text), width, look)
        case "plain":
            lines = safe_text(text).removesuffix("\n").split("\n")
            return [row for line in lines for row in wrap_line(line, width, look.normal)]
        case "json":
            return wrap_lines(highlight_json(safe_text(text), look), width)
        case "ansi":
            return wrap_lines(split_lines(_decoded(text.removesuffix("\n"))), width)
        case "call":
            arguments, rule, result = text.partition(RESULT_RULE)
            rows = text_rows(arguments, "json", width, look)
            return [*rows, *_rule(rule, width, look), *text_rows(result, "ansi", width, look)]
        case _:
            assert_never(format)


def source_text(body: str, format: Format) -> str:
    """What a body says, unwrapped and safe: Markdown and JSON as written, ANSI without its colours."""
    match format:
        case "markdown" | "plain" | "json":
            return safe_text(body)
        case "ansi":
            return "".join(piece.text for piece in _decoded(body))
        case "call":
            arguments, rule, result = body.partition(RESULT_RULE)
            return safe_text(arguments) + rule + source_text(result, "ansi")
        case _:
            assert_never(format)


def shortened(body: str) -> str:
    """The body, or its start and end with a line between them that says how much is missing."""
    if len(body) <= BODY_LIMIT:
        return body
    return f"{body[: BODY_LIMIT - TAIL_SHOWN]}{cut_note(len(body))}{body[-TAIL_SHOWN:]}"


def cut_note(size: int) -> str:
    """What stands for the middle of a body of `size` characters."""
    return f"\n\n… {size - BODY_LIMIT:,} characters are not shown …\n\n"


def title_row(block: Block, *, folded: bool, width: int, look: Look) -> Row:
    """The first line of a block, `width` cells: mark, title, summary if folded, margin at the right."""
    style = look.tone(block.tone)
    mark = fold_mark(block, folded=folded)
    title = fit_end(mark + safe_line(block.title), width)
    room = width - cell_len(title)
    facts = (*(() if block.call is None else (f"#{block.call}",)), *block.margin)
    # A summary says more than a time does: it gets at least half.
    margin = _margin(facts, room // 2 if folded and block.summary else room - 2)
    room -= cell_len(margin) + 2 * bool(margin)
    row = [Segment(title, style + _BOLD)]
    if folded and block.summary and room > 6:
        summary = fit_end(safe_line(block.summary), room - 2)
        row.append(Segment("  " + summary, look.muted))
        room -= cell_len(summary) + 2
    if margin:
        row.append(Segment(" " * (room + 2) + margin, look.muted))
    return row


def fold_mark(block: Block, *, folded: bool) -> str:
    """What stands before the title of a block that can be folded."""
    return ("▸ " if folded else "▾ ") if block.foldable else ""


def _margin(parts: Sequence[str], width: int) -> str:
    """As many parts as fit, from the first."""
    shown = ""
    for part in parts:
        longer = f"{shown} · {safe_line(part)}" if shown else safe_line(part)
        if cell_len(longer) > width:
            break
        shown = longer
    return shown


def _decoded(text: str) -> list[Segment]:
    decoder = AnsiDecoder()
    return [*decoder.feed(text), *decoder.close()]


def _rule(rule: str, width: int, look: Look) -> list[Row]:
    return [row for line in rule.rstrip("\n").split("\n")[1:] for row in wrap_line(line, width, look.muted)]
