"""The flags of the command line: cheap to import, because `--help` needs nothing else."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Literal, NoReturn

from agentscope_tui.errors import UsageError
from agentscope_tui.options import FLAGS

SETTINGS = "settings (each is also in the settings files: agentscope config)"


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
    add("model.name", "PROVIDER:NAME, local or scripted:FILE (agentscope models)", metavar="MODEL")
    add("model.base_url", "address of the model's server", metavar="URL")
    add("model.temperature", "randomness, 0 to 2", type=float, metavar="T")
    add("model.max_output_tokens", "most tokens of one answer", type=int, metavar="N")
    add("session.system", "system prompt of rows that have none")
    add_dataset_settings(group)
    add("grading.grader", "exact, contains, regex, numeric, command:CMD or module:func", metavar="GRADER")
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
