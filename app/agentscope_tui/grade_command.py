"""`agentscope grade`: its words and flags. Cheap to import, because `--help` needs nothing else."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

from agentscope_tui.cli_flags import SETTINGS, add_grading_alone, add_trust, parser_of

_ABOUT = "Grade what was recorded, with another grader or once more. No agent runs."
_EPILOG = """\
A SESSION is the id of one, its beginning, its name, `last`, or a folder of sessions; RUN_DIR is the folder
that `agentscope run` wrote, or the name of one in the state folder. The last turn's answer is graded, on a
copy of the files. Without --grader each session is graded as it was.
exit code: 0 all are graded, 1 a grader failed, 2 wrong usage, 130 stopped by ctrl+c

examples:
  agentscope grade last --grader numeric
  agentscope grade runs/today --grader graders:score --write
  agentscope grade runs/today --grader correct@3=exact --grader style=rubric:style.md --judge openai:gpt-5
"""


@dataclass(frozen=True)
class GradeRequest:
    """What to grade. `writes` keeps the rewards as the newest results of a run; `concurrency` at a time."""

    names: Sequence[str]
    as_json: bool = False
    writes: bool = False
    concurrency: int = 4


def parse_grade(words: list[str]) -> tuple[argparse.Namespace, GradeRequest]:
    """The parsed flags, and what is asked for.

    Raises:
        UsageError: the words are wrong.
    """
    parser = parser_of("agentscope grade", _ABOUT, _EPILOG)
    add = parser.add_argument
    add("names", nargs="+", metavar="SESSION|RUN_DIR", help="what to grade")
    add("--json", action="store_true", help="print JSON")
    add("--write", action="store_true", help="let the new rewards be the run's results (the old lines stay)")
    add("--concurrency", type=_count, default=4, metavar="C", help="grade C at a time (default: 4)")
    add_grading_alone(parser.add_argument_group(SETTINGS))
    add_trust(parser)
    parsed = parser.parse_args(words)
    return parsed, GradeRequest(
        parsed.names, as_json=parsed.json, writes=parsed.write, concurrency=parsed.concurrency
    )


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 up")
    return int(text)
