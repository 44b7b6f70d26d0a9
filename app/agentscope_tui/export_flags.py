"""The command line of `agentscope export`: cheap to import, because `--help` needs nothing else."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

from agentscope_tui.cli_flags import add_trust, parser_of
from agentscope_tui.errors import UsageError
from agentscope_tui.store.export.formats import FORMATS, Choices

_EPILOG = """\
SESSION is the id of a session, the beginning of one, `last`, or the path of one; a folder stands for all
sessions in it, a FILE of another tool (docs/trajectories.md) for all trajectories in it. Keys are masked.
Without -o it goes to standard output if that is a pipe, else to a file named after the session, here; the
name that -o gives may say the format.
exit code: 0 done, 1 nothing was written or something failed, 2 wrong usage

examples:
  agentscope export last --html
  agentscope export last -o run.atif.json
  agentscope export 20261129 --markdown -o - | less
  agentscope export ~/.local/state/agentscope/sessions --openai --min-reward 1 -o train.jsonl
"""


@dataclass(frozen=True)
class Request:
    """What the command line asks for: `names` as `find_session` knows them, files, or folders of sessions;
    `output` a path, `-`, or empty."""

    names: Sequence[str]
    format: str
    output: str
    choices: Choices


def parse_export(words: list[str]) -> tuple[argparse.Namespace, Request]:
    """The words after `agentscope export`.

    Raises:
        UsageError: they are no such command line.
    """
    parser = parser_of("agentscope export", "Write sessions as files that other tools read.", _EPILOG)
    parser.add_argument("names", nargs="+", metavar="SESSION|FILE", help="what to export")
    formats = parser.add_argument_group("formats").add_mutually_exclusive_group()
    formats.add_argument("--format", choices=FORMATS, help="one of the formats below, by name")
    for name, format in FORMATS.items():
        formats.add_argument(f"--{name}", dest="format", action="store_const", const=name, help=format.about)
    parser.add_argument(
        "-o", "--output", default="", metavar="FILE|DIR|-", help="write there; `-`: to stdout"
    )
    only = "OpenAI chat: only sessions with at least this reward"
    parser.add_argument("--min-reward", type=float, metavar="X", help=only)
    parser.add_argument("--reasoning", action="store_true", help="OpenAI chat: with what the model thought")
    parser.add_argument("--width", type=int, default=100, metavar="N", help="asciicast: columns (100)")
    idle = "asciicast: most seconds of a pause (2)"
    parser.add_argument("--idle", type=float, default=2.0, metavar="S", help=idle)
    add_trust(parser)
    parsed = parser.parse_args(words)
    if not 20 <= parsed.width <= 1000:
        raise UsageError(f"--width {parsed.width}: a terminal has 20 to 1000 columns")
    if not parsed.idle > 0:
        raise UsageError(f"--idle {parsed.idle}: a pause takes more than 0 seconds")
    choices = Choices(parsed.min_reward, parsed.reasoning, parsed.width, parsed.idle)
    return parsed, Request(parsed.names, parsed.format or _format_of(parsed.output), parsed.output, choices)


def _format_of(output: str) -> str:
    """The format that a file's name says."""
    for name, format in FORMATS.items():
        if output.endswith((format.suffix, f".{name}")):
            return name
    raise UsageError(f"which format? name one ({', '.join(f'--{name}' for name in FORMATS)}), or -o run.html")
