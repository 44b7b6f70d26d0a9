"""The frame of a report's page, and what its tables are made of: no network, and nothing runs but our script.

Names, prompts, answers and errors are from outside: they are escaped wherever they are written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from pathlib import Path

from agentscope_tui import __version__
from agentscope_tui.report.reading import Rollout
from agentscope_tui.report.run import Row, Run
from agentscope_tui.report.words import rollout_word
from agentscope_tui.secrets import MASKER
from agentscope_tui.store.export import html_text
from agentscope_tui.store.export.html_shell import head_of, page_style

Links = Callable[[Run, Rollout], str]
"""Where the exported page of a rollout's recording is, from the report; empty: nowhere."""


def no_links(run: Run, rollout: Rollout) -> str:
    """Of a report without exported recordings."""
    return ""


@dataclass(frozen=True)
class Cell:
    """A cell of a table: HTML, what it is sorted by if that is not its text, and its classes."""

    inner: str
    value: float | str | None = None
    kind: str = ""


def page(title: str, body: Iterable[str]) -> Iterator[str]:
    """The page around its body, piece by piece."""
    script = _asset("page.js")
    generator = f'<meta name="generator" content="agentscope report {__version__}">'
    yield head_of(plain(title), generator, page_style() + _asset("page.css"), script)
    yield '<div class="report">\n'
    yield from body
    yield f"<footer>Written by agentscope {__version__}.</footer>\n"
    yield f"</div>\n<script>{script}</script>\n</body>\n</html>\n"


def head(path: Path, title: str, what: str) -> str:
    """The top of a page."""
    return (
        f'<header><div class="id"><span>{plain(str(path))}</span>'
        '<button id="theme">Light / dark</button></div>\n'
        f'<h1>{plain(title)}</h1>\n<p class="what">{plain(what)}</p></header>\n'
    )


def plain(text: str) -> str:
    """Text from outside: escaped, without secrets, controls as visible symbols."""
    return html_text.plain(MASKER.mask(text))


def table(titles: Mapping[str, str], rows: Iterable[Sequence[Cell]], *, sorts: bool = True) -> Iterator[str]:
    """A table: titles with the classes of their column. It is sorted by a click on a title where `sorts`."""
    heads = "".join(f'<th class="{kind}" scope="col">{plain(title)}</th>' for title, kind in titles.items())
    kind = ' class="sorts"' if sorts else ""
    yield f'<div class="scroll"><table{kind}><thead><tr>{heads}</tr></thead><tbody>\n'
    for row in rows:
        yield f"<tr>{''.join(map(_cell, row))}</tr>\n"
    yield "</tbody></table></div>\n"


def _cell(cell: Cell) -> str:
    kind = f' class="{cell.kind}"' if cell.kind else ""
    value = "" if cell.value is None else f' data-value="{escape(str(cell.value))}"'
    return f"<td{kind}{value}>{cell.inner}</td>"


def number(text: str, value: float | None = None) -> Cell:
    """A figure, on the right."""
    return Cell(plain(text), value, "n")


def rollouts(run: Run, row: Row, links: Links) -> Cell:
    """A row's rollouts: their rewards, each a link to its recording where that was exported."""
    marks = []
    for one in row.rollouts:
        passed = one.graded is not None and one.graded >= run.passes
        kind = "failed" if one.state == "failed" else "pass" if passed else ""
        title = f"rollout {one.rollout}: {one.error or one.state}"
        marks.append(_linked(links(run, one), rollout_word(one), kind, title))
    return Cell(f'<div class="rolls">{"".join(marks)}</div>', "" if row.mean is None else row.mean)


def _linked(link: str, text: str, kind: str, title: str) -> str:
    told = f'class="{kind}" title="{plain(title)}"'
    return (
        f'<a href="{escape(link)}" {told}>{plain(text)}</a>' if link else f"<span {told}>{plain(text)}</span>"
    )


def command(words: str) -> Cell:
    """A command to copy."""
    return Cell(f"<code>{plain(words)}</code>" if words else "", kind="command")


def card(
    name: str, figure: str, notes: Iterable[str], *, small: str = "", more: str = "", kind: str = ""
) -> str:
    """A figure that matters, with remarks; `more` is HTML below it, `kind` its classes."""
    told = "".join(f'<div class="note">{plain(note)}</div>' for note in notes)
    extra = f" <small>{plain(small)}</small>" if small else ""
    return (
        f'<li class="{kind}"><div class="name">{plain(name)}</div>'
        f'<div class="figure">{plain(figure)}{extra}</div>{more}{told}</li>\n'
    )


def facts(rows: Iterable[tuple[str, str]], title: str) -> str:
    """What is known of a run, folded."""
    inner = "".join(f"<dt>{plain(name)}</dt><dd>{plain(value)}</dd>" for name, value in rows)
    return f'<details class="fold"><summary>{plain(title)}</summary><dl>{inner}</dl></details>\n'


@lru_cache(maxsize=4)
def _asset(name: str) -> str:
    return Path(__file__).parent.joinpath(name).read_text(encoding="utf-8")
