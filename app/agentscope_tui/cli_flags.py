"""The flags of the command line: cheap to import, because `--help` needs nothing else."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Literal, NoReturn

from agentscope_tui.errors import UsageError
from agentscope_tui.options import FLAGS, RunOptions, parse_rows

SETTINGS = "settings (each is also in the settings files: agentscope config)"


_CONCURRENCY = 8
"""Sessions of a run at a time, where nobody says otherwise."""


class Answered(Exception):
    """`--help` or `--version` was asked for, and has been printed."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message} (see {self.prog} --help)")

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        raise Answered


def parser_of(prog: str, about: str, epilog: str, *, add_help: bool = True) -> argparse.ArgumentParser:
    """A parser that raises: UsageError where the words are wrong, `Answered` after `--help`."""
    return _Parser(
        prog=prog,
        description=about,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
        add_help=add_help,
    )


def add_app(parser: argparse.ArgumentParser) -> None:
    add_dataset(parser)
    parser.add_argument(
        "--row", type=row_index, action="append", metavar="N", help="open this row at once (index from 0)"
    )
    add_settings(parser, screen=True)


def add_server(parser: argparse.ArgumentParser) -> None:
    add = partial(_add_setting, parser)
    add("serve.host", "listen here, not at 127.0.0.1", metavar="ADDR")
    add("serve.port", "port; 0: any that is free", type=int, metavar="N")
    about = "allow an ADDR that other machines reach: whoever has the page's address gets a shell as you"
    _add_switch(parser, "serve.remote", True, about)


def add_run(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--rows", metavar="LIST", help="run these rows: 0-99,120,500- (indices from 0; default: all)")
    one = "run this row and print its transcript (may be repeated)"
    add("--row", type=row_index, action="append", metavar="N", help=one)
    add("--n", type=_count, default=1, metavar="K", help="run each row K times")
    add("--concurrency", type=_count, metavar="C", help="run C sessions at a time (default: 8)")
    where = "run sessions here, in N processes, or on a Ray cluster (docs/scale.md)"
    add("--engine", type=_engine, default="local", metavar="local[:N]|ray[:ADDRESS]", help=where)
    add("--out", type=Path, metavar="DIR", help="keep results and recordings there (default: in the state)")
    add("--resume", action="store_true", help="run only what is missing in --out, or in the newest such run")
    add("--retry", choices=["failed"], help="resume, and run what failed again")
    add("--json", action="store_true", help="print only a summary, as JSON")
    add("--events", metavar="FILE", help="write events as JSON lines to FILE, `-`: to stdout")


def run_options(parsed: argparse.Namespace) -> RunOptions:
    """What `agentscope run` is asked for.

    Raises:
        UsageError: flags that do not go together, or no ranges of rows.
    """
    if parsed.row and (parsed.rows or parsed.json):
        raise UsageError("--row prints transcripts: use --rows for a run with results")
    rows = tuple((row, row) for row in dict.fromkeys(parsed.row or ())) or parse_rows(parsed.rows)
    return RunOptions(
        parsed.dataset,
        rows,
        rollouts=parsed.n,
        concurrency=parsed.concurrency or (1 if parsed.row else _CONCURRENCY),
        engine=parsed.engine,
        out=parsed.out,
        goes_on=parsed.resume or parsed.retry is not None,
        retry_failed=parsed.retry == "failed",
        transcript=bool(parsed.row) and parsed.events != "-",
        events=parsed.events,
        as_json=parsed.json,
    )


def add_dataset(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "dataset",
        nargs="?",
        type=Path,
        metavar="DATASET",
        help="file, folder or pattern of rows, or `-` for standard input (default: the demo)",
    )


def add_settings(parser: argparse.ArgumentParser, *, screen: bool) -> None:
    group = parser.add_argument_group(SETTINGS)
    add, switch = partial(_add_setting, group), partial(_add_switch, group)
    add(
        "model.name",
        "PROVIDER:NAME, local, scripted:FILE or replay:SESSION (agentscope models)",
        metavar="MODEL",
    )
    add("model.base_url", "address of the model's server", metavar="URL")
    add("model.temperature", "randomness, 0 to 2", type=float, metavar="T")
    add("model.max_output_tokens", "most tokens of one answer", type=int, metavar="N")
    add("model.replay", "strict: only what was asked before; order: call by call", metavar="strict|order")
    add("model.replay_fallback", "model that answers what is not recorded", metavar="MODEL")
    add("session.system", "system prompt of rows that have none")
    add_dataset_settings(group)
    add_grading(group)
    add("runner.agent", "your Python agent: my_pkg.agent:run or agent.py:run", metavar="AGENT")
    add("runner.python", "interpreter that runs your agent and your grader", metavar="PYTHON")
    add("runner.program", 'any program as the agent: "python agent.py {user_prompt}"', metavar="COMMAND")
    secret = "let the agent see this variable, though it looks like a secret"
    add("runner.pass_env", secret, action="append", metavar="NAME")
    add("runner.command", "program that runs the agent loop: docs/runner.md", metavar="COMMAND")
    add("runner.listen", "HOST:PORT or unix socket where runners dial in", metavar="ADDRESS")
    add("runner.connect", "address of a runner that listens", metavar="ADDRESS")
    add("runner.files", "folder of text files that the runner gets", metavar="DIR")
    add("runner.patience", "seconds that the runner waits for a model", type=float, metavar="S")
    add("tools.python", "file or module of Python functions that become tools", metavar="FILE")
    server = 'MCP server: its command, URL or folder: "npx -y some-server" (repeatable)'
    add("tools.mcp", server, action="append", metavar="SERVER")
    add("tools.skills", "folder of skills that the agent can read", metavar="DIR")
    switch("sandbox.mode", "none", "run tools as you, not confined")
    switch("sandbox.network", True, "let tools use the network")
    switch("sandbox.confine_agent", True, "confine the agent's own program too")
    if screen:
        add("session.mode", "step: stop after each model call; run: do not", metavar="step|run")
        add("ui.theme", "agentscope-dark, -light, -contrast, -ansi or one of Textual's", metavar="NAME")
        add("ui.keymap", "default, vim, ide, or one of your own", metavar="NAME")
    add_trust(parser)


def add_dataset_settings(group: argparse._ArgumentGroup) -> None:
    add = partial(_add_setting, group)
    add("dataset.offset", "skip the first N rows; indices stay", type=int, metavar="N")
    add("dataset.limit", "show at most N rows", type=int, metavar="N")
    parts = "the dataset's column for user_prompt, system_prompt, ground_truth, grader or files"
    add("dataset.map", parts, type=_pair, action="append", metavar="PART=COLUMN")
    add("dataset.prompt", 'the prompt made of columns: "Solve: {question}"', metavar="TEMPLATE")
    add("dataset.files", "copy a folder's files for each row: DIR/{id}", metavar="TEMPLATE")


def add_grading(group: argparse._ActionsContainer) -> None:
    add = partial(_add_setting, group)
    kinds = "exact, contains, regex, numeric, command:CMD, rubric:FILE, module:func; many: NAME@WEIGHT=GRADER"
    add("grading.grader", kinds, action="append", metavar="GRADER")
    add("grading.judge", "the model that judges by a rubric", metavar="PROVIDER:NAME")


def add_grading_alone(group: argparse._ActionsContainer) -> None:
    """The settings of graders where no agent runs."""
    add_grading(group)
    _add_setting(group, "runner.python", "interpreter that runs your grader", metavar="PYTHON")
    _add_switch(group, "sandbox.mode", "none", "run a grader's command as you, not confined")
    _add_switch(group, "sandbox.network", True, "let a grader's command use the network")


def _add_setting(
    to: argparse._ActionsContainer,
    key: str,
    help: str,
    *,
    type: Callable[[str], object] = str,
    action: Literal["store", "append"] = "store",
    metavar: str = "TEXT",
) -> None:
    to.add_argument(FLAGS[key], dest=key, type=type, action=action, metavar=metavar, help=help)


def _add_switch(to: argparse._ActionsContainer, key: str, value: object, help: str) -> None:
    to.add_argument(FLAGS[key], dest=key, action="store_const", const=value, help=help)


def add_trust(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--trust", action="store_true", help="trust the agentscope.yaml in this folder from now on"
    )


def row_index(text: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is not a row index: rows are counted from 0")
    return int(text)


def _pair(text: str) -> tuple[str, str]:
    part, equals, column = text.partition("=")
    if not (part and equals and column):
        raise argparse.ArgumentTypeError(f"{text!r} is not PART=COLUMN, as in user_prompt=question")
    return part, column


def _engine(text: str) -> str:
    kind, colon, where = text.partition(":")
    if kind == "local" and colon:
        _count(where)
    elif kind not in ("local", "ray"):
        raise argparse.ArgumentTypeError(f"{text!r} is neither local nor local:N nor ray nor ray:ADDRESS")
    return text


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 up")
    return int(text)
