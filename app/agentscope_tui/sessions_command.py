"""`agentscope sessions`: its words and flags. Cheap to import, because `--help` needs nothing else."""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from agentscope_tui.cli_flags import add_trust, parser_of, row_index

if TYPE_CHECKING:
    from agentscope_tui.sessions_report import Asked

DELETE, RENAME = "delete", "rename"
ABOUT = "The sessions that were recorded, newest first. Without words, all of them."
EPILOG = """\
agentscope sessions delete SESSION ...    delete sessions with all their files (--yes: without asking)
agentscope sessions rename SESSION NAME   give a session a name, by which commands find it ('' takes it away)

A SESSION is an id, the beginning of one, the name that you gave it, or `last`.
A state is running, paused, waiting, idle, done, failed, stopped, limit, ended or "cut off".

examples:
  agentscope sessions                             the last ones
  agentscope sessions tax --since 2d              those about tax, of the last two days
  agentscope sessions --where "reward < 1 and calls > 3" --dataset tasks.jsonl
  agentscope sessions --row 3 --tree              forks under what they were forked from
  agentscope sessions --json | jq '.[].id'
"""
_UNITS: Mapping[str, int] = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}


def list_parser() -> argparse.ArgumentParser:
    """Of `agentscope sessions`."""
    parser = parser_of("agentscope sessions", ABOUT, EPILOG)
    parser.add_argument(
        "words", nargs="*", metavar="WORD", help="in the prompt, the name or the id; all of them"
    )
    parser.add_argument("--dataset", default="", metavar="TEXT", help="a part of the dataset's path")
    parser.add_argument("--row", type=row_index, metavar="N", help="the row's index, from 0")
    parser.add_argument("--model", default="", metavar="TEXT", help="a part of the model's name")
    parser.add_argument("--agent", default="", metavar="TEXT", help="a part of the agent's name")
    parser.add_argument("--state", type=_state, metavar="STATE", help="how they stand: see below")
    since = "begun in the last 2h, 3d, or since 2026-11-29"
    parser.add_argument("--since", type=moment, metavar="WHEN", help=since)
    where = 'for which this is true: "reward < 1 and tokens > 9000"'
    parser.add_argument("--where", metavar="EXPRESSION", help=where)
    most = "at most N (default: 50 on a terminal, else all)"
    parser.add_argument("--limit", type=_count, metavar="N", help=most)
    parser.add_argument("--tree", action="store_true", help="forks under what they were forked from")
    parser.add_argument("--json", action="store_true", help="print JSON")
    add_trust(parser)
    return parser


def delete_parser() -> argparse.ArgumentParser:
    """Of `agentscope sessions delete`."""
    parser = parser_of("agentscope sessions delete", "Delete sessions with all their files.", "")
    parser.add_argument(
        "sessions", nargs="+", metavar="SESSION", help="id, beginning of one, name, or `last`"
    )
    parser.add_argument("--yes", action="store_true", help="do not ask")
    add_trust(parser)
    return parser


def rename_parser() -> argparse.ArgumentParser:
    """Of `agentscope sessions rename`."""
    parser = parser_of("agentscope sessions rename", "Give a session a name of yours.", "")
    parser.add_argument("session", metavar="SESSION", help="id, beginning of one, name, or `last`")
    parser.add_argument("name", metavar="NAME", help="its name; '' takes the one away that it has")
    add_trust(parser)
    return parser


def asked(parsed: argparse.Namespace) -> Asked:
    """What `list_parser` read.

    Raises:
        UsageError: the expression is none.
    """
    from agentscope_tui.datasets.expression import parse_expression
    from agentscope_tui.sessions_report import Asked
    from agentscope_tui.store.run_index import Wanted
    from agentscope_tui.store.session_row import check_names

    where = parse_expression(parsed.where) if parsed.where else None
    if where is not None:
        check_names(where)
    wanted = Wanted(
        words=tuple(parsed.words),
        dataset=parsed.dataset,
        row=parsed.row,
        model=parsed.model,
        agent=parsed.agent,
        state=parsed.state or "",
        since=parsed.since,
        where=where,
    )
    return Asked(wanted, parsed.limit, as_tree=parsed.tree, as_json=parsed.json)


def moment(text: str) -> float:
    """A moment that is so long ago (`90s`, `2h`, `3d`, `1w`), or a date, with a time or without."""
    if match := re.fullmatch(r"(\d{1,9})([smhdw])", text):
        return time.time() - int(match[1]) * _UNITS[match[2]]
    try:
        return datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError):
        raise argparse.ArgumentTypeError(f"{text!r} is no time: write 2h, 3d or 2026-11-29") from None


def _state(text: str) -> str:
    from typing import get_args

    from agentscope_tui.events import TurnOutcome
    from agentscope_tui.session.tally import Word
    from agentscope_tui.store.session_row import CUT_OFF

    states = [*get_args(Word), CUT_OFF]
    if text not in (*states, *get_args(TurnOutcome)):
        raise argparse.ArgumentTypeError(f"{text!r} is no state: use one of {', '.join(states)}")
    return text


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of sessions")
    return int(text)
