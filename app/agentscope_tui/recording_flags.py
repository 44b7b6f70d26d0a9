"""The flags of the commands on recordings: `agentscope open`, `resume` and `compare`."""

from __future__ import annotations

import argparse

from agentscope_tui.cli_flags import add_settings, add_trust, parser_of

_RESUME_EPILOG = """\
A new session replays what was recorded, without tokens, and is live from there; the old one stays as it is.
Flags win over the settings that it had.

examples:
  agentscope resume last
  agentscope resume 20261129-16 --model openai:gpt-5-mini
"""
_OPEN_EPILOG = """\
A FILE of another tool opens too: docs/trajectories.md says which. A session that another agentscope runs is
followed. Settings matter only to what is run from here: a row, or a fork.

examples:
  agentscope open last
  agentscope open 20261129-16
  agentscope open trajectory.json
"""


def open_parser() -> argparse.ArgumentParser:
    """Of `agentscope open`; gives `name`."""
    about = "Look at a session that was recorded: play it, step through it, search it. It runs nothing."
    parser = parser_of("agentscope open", about, _OPEN_EPILOG)
    parser.add_argument(
        "name", metavar="SESSION|FILE", help="id of a session or its beginning, `last`, a folder, or a file"
    )
    add_settings(parser, screen=True)
    return parser


def resume_parser() -> argparse.ArgumentParser:
    """Of `agentscope resume`; gives `name`."""
    about = "Go on with a session that was cut off, where it was, live and with the settings that it had."
    parser = parser_of("agentscope resume", about, _RESUME_EPILOG)
    parser.add_argument(
        "name", metavar="SESSION", help="id of a session or its beginning, its name, `last`, or its folder"
    )
    add_settings(parser, screen=True)
    return parser


def compare_parser() -> argparse.ArgumentParser:
    """Of `agentscope compare`; gives `left`, `right`, `json` and `all`."""
    about = "Two sessions side by side: aligned by call, where they first differ, and both in numbers."
    codes = "exit code: 0 no difference, 1 they differ, 2 wrong usage or no such session"
    parser = parser_of("agentscope compare", about, codes)
    name = "id, the beginning of one, `last`, a session's folder, or a file of another tool"
    parser.add_argument("left", metavar="A", help=name)
    parser.add_argument("right", metavar="B", help="the same, for the other one")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--all", action="store_true", help="print also what is the same")
    add_trust(parser)
    return parser
