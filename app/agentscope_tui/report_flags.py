"""The command line of `agentscope report`: cheap to import, because `--help` needs nothing else."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from dataclasses import dataclass

from agentscope_tui.cli_flags import add_trust, parser_of
from agentscope_tui.errors import UsageError

_EPILOG = """\
RUN is the folder that `agentscope run` wrote, its name or the beginning of one, or `last`. With a second RUN
the two are compared, row by row: the second less the first.
With a file to write nothing is printed; `-` writes to standard output. Keys are masked.
exit code: 0 done, 1 there is no such run or a file cannot be written, 2 wrong usage

examples:
  agentscope report last
  agentscope report runs/today --html today.html --sessions
  agentscope report runs/today --csv - | head
  agentscope report runs/before runs/after --html change.html
"""


@dataclass(frozen=True)
class Request:
    """What the command line asks for: `runs` by name, one or two; files empty where they are not wanted."""

    runs: Sequence[str]
    html: str = ""
    csv: str = ""
    parquet: str = ""
    sessions: bool = False
    as_json: bool = False
    every: bool = False
    passes: float = 1.0


def parse_report(words: list[str]) -> tuple[argparse.Namespace, Request]:
    """The words after `agentscope report`.

    Raises:
        UsageError: they are no such command line.
    """
    parser = parser_of("agentscope report", "What came of a run, or how two runs differ.", _EPILOG)
    add = parser.add_argument
    add("run", metavar="RUN", help="folder of a run, its name, or `last`")
    add("other", nargs="?", metavar="RUN", help="compare with this one")
    add("--html", default="", metavar="FILE", help="write a page for any browser, with plots")
    add("--sessions", action="store_true", help="with --html: export the recordings too, and link to them")
    add("--csv", default="", metavar="FILE", help="write a line for each rollout")
    add("--parquet", default="", metavar="FILE", help="the same as Parquet (extra `parquet`)")
    add("--json", action="store_true", help="print JSON")
    add("--all", action="store_true", help="all rows and failures, not only the worst")
    passes = "a rollout passes from this reward on (default: 1)"
    add("--passes", type=float, default=1.0, metavar="X", help=passes)
    add_trust(parser)
    parsed = parser.parse_args(words)
    if parsed.other and (parsed.csv or parsed.parquet):
        raise UsageError("--csv and --parquet write the rollouts of one run: name one")
    if parsed.sessions and not parsed.html:
        raise UsageError("--sessions goes with --html FILE: the page links to them")
    if "-" in (parsed.html, parsed.parquet):
        raise UsageError("only --csv can be written to standard output")
    if not math.isfinite(parsed.passes):
        raise UsageError(f"--passes {parsed.passes}: name a reward")
    runs = [parsed.run, *([parsed.other] if parsed.other else [])]
    return parsed, Request(
        runs,
        parsed.html,
        parsed.csv,
        parsed.parquet,
        sessions=parsed.sessions,
        as_json=parsed.json,
        every=parsed.all,
        passes=parsed.passes,
    )
