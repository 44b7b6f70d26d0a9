"""`agentscope compare`: two sessions side by side as text, or as JSON."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from agentscope_tui.comparison_words import (
    GLYPHS,
    changed_totals,
    facts_of,
    gist_of,
    name_of,
    table,
    verdict,
)
from agentscope_tui.config import Config
from agentscope_tui.errors import UsageError, UserError
from agentscope_tui.folders import sessions_dir
from agentscope_tui.printable import printable
from agentscope_tui.secrets import MASKER
from agentscope_tui.session.compared_lines import Line, lines_of
from agentscope_tui.session.comparing import CallPair, Comparison, compare, state_of
from agentscope_tui.store.find import find_session
from agentscope_tui.store.past import PastSession
from agentscope_tui.store.reopen import as_it_stands

Styled = tuple[str, str]
"""A line, and how it is drawn on a terminal."""

TAB = 4
_WIDTH = 100
"""Columns where there is no terminal."""


def report(config: Config, left: str, right: str, *, as_json: bool, every: bool) -> int:
    """Print how two sessions differ on standard output; 0 if they do not, else 1. `every` line is shown, not
    only those that differ.

    Raises:
        UsageError: one of them is not there, or cannot be read.
    """
    sessions = sessions_dir(config.state)
    comparison = compare(*(state_of(_past(name, sessions).events) for name in (left, right)))
    if as_json:
        print(json.dumps(_in_json(comparison), indent=2))
    else:
        _print([*_lines(comparison, every)])
    sys.stdout.flush()
    return 0 if comparison.same else 1


def _past(name: str, sessions: Path) -> PastSession:
    """A session by name, or a file of another tool with one session in it."""
    path = Path(name).expanduser()
    try:
        if not path.is_file() or path.name == "events.jsonl":
            return as_it_stands(find_session(name, sessions))
        from agentscope_tui.store.imports import open_trajectories

        found = open_trajectories(path)
        if len(found) != 1:
            raise UsageError(f"{path} has {len(found)} sessions in it: compare needs a file with one")
        return found.session(0)
    except UserError as error:
        raise UsageError(str(error)) from error


def _print(lines: list[Styled]) -> None:
    if not sys.stdout.isatty():
        print("\n".join(printable(line.expandtabs(TAB)) for line, _ in lines))
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)
    for line, style in lines:
        console.print(Text(printable(line.expandtabs(TAB)), style), soft_wrap=True)


def _lines(comparison: Comparison, every: bool) -> Iterator[Styled]:
    width = shutil.get_terminal_size((_WIDTH, 0)).columns if sys.stdout.isatty() else _WIDTH
    names, left, right, difference = table([*facts_of(comparison)], width)
    yield from ((names, "dim"), (left, "red"), (right, "green"))
    if difference:
        yield difference, "bold"
    if comparison.relation:
        yield f"  {comparison.relation}", ""
    yield f"  {verdict(comparison)}", "bold"
    for pair in comparison.pairs:
        if pair.difference != "same" or every:
            yield "", ""
        yield f"{GLYPHS[pair.difference]} {name_of(pair)} · {gist_of(pair)}".removesuffix(" · "), "bold"
        if pair.difference != "same" or every:
            for line in lines_of(pair, only_differences=not every):
                yield from _unified(line)


def _unified(line: Line) -> Iterator[Styled]:
    indent = "" if line.kind == "title" else "  "
    if line.pair.same:
        yield f"    {indent}{line.pair.left}", "dim" if line.kind == "note" else ""
        return
    if line.pair.left is not None:
        yield f"  - {indent}{line.pair.left}", "red"
    if line.pair.right is not None:
        yield f"  + {indent}{line.pair.right}", "green"


def _in_json(comparison: Comparison) -> dict[str, Any]:
    place, parting = comparison.first_divergence, comparison.parting
    found = {
        "same": comparison.same,
        "relation": comparison.relation,
        "first_difference": None if place is None else _numbers(comparison.pairs[place]),
        "agents_part": None if parting is None else _numbers(comparison.pairs[parting]),
        "left": asdict(comparison.left),
        "right": asdict(comparison.right),
        "difference": changed_totals(comparison.left, comparison.right),
        "calls": [_call_in_json(pair) for pair in comparison.pairs],
    }
    masked: dict[str, Any] = MASKER.masked(found)
    return masked


def _call_in_json(pair: CallPair) -> dict[str, Any]:
    """A pair of calls; the parts only where something differs."""
    told: dict[str, Any] = {**_numbers(pair), "difference": pair.difference}
    if pair.difference != "same":
        told["parts"] = [
            {
                "difference": part.difference,
                "left": part.left and asdict(part.left),
                "right": part.right and asdict(part.right),
            }
            for part in pair.parts
        ]
    return told


def _numbers(pair: CallPair) -> dict[str, int | None]:
    sides = {"left": pair.left, "right": pair.right}
    return {name: None if call is None else call.number for name, call in sides.items()}
