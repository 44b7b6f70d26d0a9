"""Markdown as rows of the screen: headings, lists, quotes, tables and code in the colours of the theme.

Nothing is hidden and nothing is followed: HTML is shown as the text it is, links and images with their
address, reference definitions as written, line breaks where the author made them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token
from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style

from .code_highlight import highlight_code, knows_language
from .look import Look
from .markdown_table import Cell, table_rows
from .safe_text import safe_line, safe_text
from .text_rows import Row, wrap_line, wrap_lines, wrap_runs

_NARROWEST = 12
"""Cells below which nested blocks are not indented any further."""

LONGEST = 60_000
"""Characters beyond which Markdown is not parsed: the time it takes is not always linear."""
_MOST_BRACKETS = 2_000

_BOLD, _UNDERLINE = Style(bold=True), Style(underline=True)
_EMPHASIS = {"strong": _BOLD, "em": Style(italic=True), "s": Style(strike=True)}
_PIPE = re.compile(r"(?<!\\)\|")


def _new_parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}).enable(["strikethrough", "table"]).disable("reference")


_parser = _new_parser()
_block_parser = _new_parser().disable(["inline", "text_join"])


def markdown_rows(text: str, width: int, look: Look) -> list[Row]:
    """Safe Markdown text as rows of at most `width` cells (code and tables want at least three).

    A text of more than `LONGEST` characters or `_MOST_BRACKETS` brackets is shown as it is written.
    """
    width = max(1, width)
    if is_too_much(text):
        return [row for line in text.split("\n") for row in wrap_line(line, width, look.normal)]
    return _Renderer(text, look).blocks(_parser.parse(text), width)


def is_too_much(text: str) -> bool:
    """Whether a Markdown text is shown as it is written, because parsing it could take too long."""
    return len(text) > LONGEST or text.count("[") > _MOST_BRACKETS


def ending(text: str) -> tuple[int, str]:
    """How a safe Markdown text that still grows ends: lines of finished blocks, and the open code fence.

    The last top-level block is not finished: what comes next may belong to it. The fence is that with which
    it begins (three or more backticks or tildes) if it is a code block that is not closed yet, else empty.
    """
    if is_too_much(text):
        return 0, ""
    tokens = _block_parser.parse(text)
    starts = [token.map[0] for token in tokens if token.level == 0 and token.map]
    stable = starts[-1] if len(starts) > 1 else 0
    return stable, tokens[-1].markup if tokens and _is_open_fence(tokens[-1], text) else ""


def _is_open_fence(token: Token, text: str) -> bool:
    if token.type != "fence" or token.map is None:
        return False
    inside = text.rstrip("\n").split("\n")[token.map[0] + 1 :]
    last = inside[-1].strip() if inside else ""
    return not (last.startswith(token.markup) and not last.strip(token.markup[0]))


def code_rows(code: str, info: str, width: int, look: Look) -> list[Row]:
    """Safe code as rows on a ground of its own, `width` cells wide; long lines break at the edge.

    `info` starts with the language; it gets a line of its own when it says more, or nothing known.
    """
    ground = look.code_block
    room = max(1, width - 2)
    lines = highlight_code(code.removesuffix("\n"), info.partition(" ")[0], look)
    if shows_info(info):
        lines.insert(0, [Segment(safe_line(info), look.muted)])
    rows: list[Row] = []
    for line in lines:
        for row in wrap_runs(line, room, words=False):
            fill = room - sum(cell_len(text) for text, _, _ in row)
            inked = [Segment(text, ground + style if style else ground) for text, style, _ in row]
            rows.append([Segment(" ", ground), *inked, Segment(" " * (fill + 1), ground)])
    return rows


def shows_info(info: str) -> bool:
    """Whether what stands after a code fence is shown: more than a language, or one that has no colours."""
    language, _, more = info.partition(" ")
    return bool(more) or (bool(language) and not knows_language(language))


class _Renderer:
    def __init__(self, source: str, look: Look) -> None:
        self._source = source
        self._look = look

    def blocks(self, tokens: Sequence[Token], width: int, *, tight: bool = False) -> list[Row]:
        rows: list[Row] = []
        for block in _groups(tokens):
            part = self._block(block, width)
            if rows and part and not tight:
                rows.append([])
            rows += part
        return rows

    def _block(self, tokens: Sequence[Token], width: int) -> list[Row]:
        head, inner, look = tokens[0], tokens[1:-1], self._look
        match head.type:
            case "heading_open":
                style = look.heading + _UNDERLINE if head.tag == "h1" else look.heading
                return wrap_lines(self._inline(inner[0], style), width)
            case "paragraph_open":
                return wrap_lines(self._inline(inner[0], look.normal), width)
            case "fence" | "code_block":
                return code_rows(safe_text(head.content), head.info.strip(), width, look)
            case "hr":
                return [[Segment("─" * width, look.muted)]]
            case "blockquote_open":
                bar = Segment("▌ ", look.quote)
                return self._indented(inner, bar, bar, width)
            case "bullet_list_open" | "ordered_list_open":
                return self._list(head, inner, width)
            case "table_open":
                return self._table(head, inner, width)
            case _:
                return wrap_lines([[Segment(safe_text(head.content), look.normal)]], width)

    def _list(self, head: Token, tokens: Sequence[Token], width: int) -> list[Row]:
        depth = head.level + 2
        tight = all(
            token.hidden for token in tokens if token.type == "paragraph_open" and token.level == depth
        )
        items = list(_groups(tokens))
        first_number = int(head.attrs.get("start", 1))
        digits = len(str(first_number + len(items) - 1))
        rows: list[Row] = []
        for number, item in enumerate(items, first_number):
            mark = f"{number:>{digits}}. " if head.type == "ordered_list_open" else "• "
            if rows and not tight:
                rows.append([])
            first, rest = Segment(mark, self._look.primary), Segment(" " * len(mark))
            rows += self._indented(item[1:-1], first, rest, width, tight=tight)
        return rows

    def _indented(
        self, tokens: Sequence[Token], first: Segment, rest: Segment, width: int, *, tight: bool = False
    ) -> list[Row]:
        room = width - cell_len(first.text)
        if room < _NARROWEST:
            return self.blocks(tokens, width, tight=tight)
        rows = self.blocks(tokens, room, tight=tight) or [[]]
        return [[rest if index else first, *row] for index, row in enumerate(rows)]

    def _table(self, head: Token, tokens: Sequence[Token], width: int) -> list[Row]:
        lines: list[list[Cell]] = []
        for index, token in enumerate(tokens):
            match token.type:
                case "tr_open":
                    lines.append([])
                case "th_open" | "td_open":
                    style = self._look.normal + _BOLD if token.type == "th_open" else self._look.normal
                    runs = [run for line in self._inline(tokens[index + 1], style) for run in line]
                    lines[-1].append(
                        Cell(runs, str(token.attrs.get("style", "")).removeprefix("text-align:"))
                    )
        written = self._source.split("\n")[slice(*(head.map or (0, 0)))]
        if max(map(_count_cells, written), default=0) > len(lines[0]):
            # The parser drops cells that have no column; they shall be seen.
            return [row for line in written for row in wrap_line(line, width, self._look.normal)]
        return table_rows(lines, width, self._look)

    def _inline(self, token: Token, base: Style) -> list[Row]:
        """The lines of a paragraph, with emphasis, code and addresses; broken where the author broke them."""
        look = self._look
        lines: list[Row] = [[]]
        styles = [base]
        target = label = ""
        for child in token.children or ():
            # Entities are decoded by the parser: `&#8238;` is a control again only now.
            content = safe_text(child.content)
            label += content
            match child.type:
                case "softbreak" | "hardbreak":
                    lines.append([])
                case "code_inline":
                    lines[-1].append(Segment(content, styles[-1] + look.code))
                case "image":
                    lines[-1].append(
                        Segment(f"![{content}]({_target(child, 'src')})", styles[-1] + look.link)
                    )
                case "link_open":
                    target, label = _target(child, "href"), ""
                    styles.append(styles[-1] + look.link)
                case "link_close":
                    styles.pop()
                    if target not in (label, f"mailto:{label}"):
                        lines[-1].append(Segment(f" ({target})", styles[-1] + look.muted))
                case _ if child.nesting == 1:
                    styles.append(styles[-1] + _EMPHASIS.get(child.tag, Style.null()))
                case _ if child.nesting == -1:
                    styles.pop()
                case _ if content:
                    lines[-1].append(Segment(content, styles[-1]))
        return lines


def _groups(tokens: Sequence[Token]) -> Iterator[Sequence[Token]]:
    """The tokens of one block after the other, each with all that is inside it."""
    start = depth = 0
    for index, token in enumerate(tokens):
        depth += token.nesting
        if depth == 0:
            yield tokens[start : index + 1]
            start = index + 1


def _target(token: Token, attribute: str) -> str:
    title = token.attrs.get("title")
    address = safe_text(str(token.attrs.get(attribute, "")))
    return f'{address} "{safe_line(str(title))}"' if title else address


def _count_cells(line: str) -> int:
    return len(_PIPE.findall(line.strip(" >|"))) + 1
