"""The command line: reads flags and settings, then hands over to the app, to `run` or to `config`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TextIO

from agentscope_tui import __version__
from agentscope_tui.errors import UsageError, UserError
from agentscope_tui.options import SETTING_FLAGS, Options
from agentscope_tui.printable import printable

if TYPE_CHECKING:
    from agentscope_tui.config import Config

_EPILOG = """\
commands:
  agentscope [DATASET]      open the app (this help)
  agentscope run DATASET    run rows without a screen     (agentscope run --help)
  agentscope models         show the providers that --model knows (agentscope models --help)
  agentscope doctor         check a runner of your own      (agentscope doctor --help)
  agentscope config         show every setting, its value and where it came from

examples:
  agentscope                                      the demo: no key, no network
  agentscope tasks.jsonl --model openai:gpt-5-mini
  agentscope tasks.jsonl --model openai:qwen3 --base-url http://localhost:8080
  agentscope tasks.jsonl --map user_prompt=question --map ground_truth=answer --grader exact
  agentscope run tasks.jsonl --row 3 --events -   one row, events as JSON lines
"""
_COMMANDS = ("run", "config", "models", "doctor")
_RUN_EPILOG = """\
A readable transcript goes to standard output, or the events as JSON lines with --events.
Nothing pauses: a failed model call fails the turn.
exit code: 0 done, 1 some row failed with an error, 2 wrong usage

examples:
  agentscope run --row 0                          a row of the demo
  agentscope run tasks.jsonl --row 3 --row 7 --model openai:gpt-5-mini
  agentscope run tasks.jsonl --offset 100 --limit 50 --events events.jsonl
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line `argv` (default: this process's); gives the exit code.

    0 done, 1 failed, 2 wrong usage or settings, 130 stopped by ctrl+c.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        return _dispatch(words)
    except UsageError as error:
        return _complain(str(error), 2)
    except UserError as error:
        return _complain(str(error), 1)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader of a pipe has left; without this the interpreter complains when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:
        return _crash(error)


def _dispatch(words: list[str]) -> int:
    match words:
        case ["run", *rest]:
            return _run(rest)
        case ["config", *rest]:
            return _show_config(rest)
        case ["models", *rest]:
            return _show_models(rest)
        case ["doctor", *rest]:
            return _examine_runner(rest)
        case _:
            return _open_app(words)


def _open_app(words: list[str]) -> int:
    parser = _parser("agentscope", "A step debugger for LLM agents, in the terminal.", _EPILOG)
    parser.add_argument("--version", action="version", version=f"agentscope {__version__}")
    _add_dataset(parser)
    parser.add_argument(
        "--row", type=_index, action="append", metavar="N", help="open this row at once (index from 0)"
    )
    _add_settings(parser, screen=True)
    parsed = _parse(parser, words)
    if parsed is None:
        return 0
    if str(parsed.dataset) in _COMMANDS and not parsed.dataset.exists():
        raise UsageError(f"the command goes first: agentscope {parsed.dataset} ...")
    if len(parsed.row or ()) > 1:
        raise UsageError("the app opens one row at once: use --row once, or `agentscope run` for many")
    if not all(map(_is_terminal, (sys.stdin, sys.stdout, sys.stderr))):
        raise UsageError(
            "the app needs a terminal: without one, use `agentscope run` (agentscope run --help)"
        )
    config = _load(parsed)
    _start_log(config)
    from agentscope_tui.tui.app import run_app

    return run_app(config, Options(parsed.dataset, tuple(parsed.row or ())))


def _run(words: list[str]) -> int:
    parser = _parser("agentscope run", "Run rows to their end, without a screen.", _RUN_EPILOG)
    _add_dataset(parser)
    parser.add_argument(
        "--row",
        type=_index,
        action="append",
        metavar="N",
        help="run this row (index from 0; may be repeated; default: all)",
    )
    parser.add_argument("--events", metavar="FILE", help="write events as JSON lines to FILE, `-`: to stdout")
    _add_settings(parser, screen=False)
    parsed = _parse(parser, words)
    if parsed is None:
        return 0
    config = _load(parsed)
    _warn(config)
    _start_log(config)
    from agentscope_tui.batch.run import run_rows

    rows = tuple(dict.fromkeys(parsed.row or ()))
    return run_rows(config, Options(parsed.dataset, rows, parsed.events))


def _show_config(words: list[str]) -> int:
    about = "Show every setting, its value and where it came from. Flags count as they would elsewhere."
    parser = _parser("agentscope config", about, "")
    _add_settings(parser, screen=True)
    parsed = _parse(parser, words)
    if parsed is None:
        return 0
    config = _load(parsed)
    _warn(config)
    from agentscope_tui.config_report import report

    sys.stdout.write(report(config))
    sys.stdout.flush()
    return 0


def _show_models(words: list[str]) -> int:
    about = "Show the providers that --model knows, and whether each has a key."
    parser = _parser("agentscope models", about, "")
    parser.add_argument("provider", nargs="*", metavar="PROVIDER", help="show only these (default: all)")
    parser.add_argument("--check", action="store_true", help="ask each server which models it serves")
    _add_trust(parser)
    parsed = _parse(parser, words)
    if parsed is None:
        return 0
    config = _load(parsed)
    _warn(config)
    from agentscope_tui.model_list import list_models

    sys.stdout.write(list_models(config, parsed.provider, check=parsed.check))
    sys.stdout.flush()
    return 0


def _examine_runner(words: list[str]) -> int:
    about = "Check that a runner keeps the protocol of docs/runner.md: a turn, a steer, interrupts."
    parser = _parser("agentscope doctor", about, "exit code: 0 it does, 1 it does not, 2 wrong usage")
    _add_settings(parser, screen=False)
    parsed = _parse(parser, words)
    if parsed is None:
        return 0
    config = _load(parsed)
    _warn(config)
    from agentscope_tui.doctor.command import examine

    return examine(config)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message} (see {self.prog} --help)")


def _parser(prog: str, about: str, epilog: str) -> _Parser:
    return _Parser(
        prog=prog,
        description=about,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )


def _parse(parser: argparse.ArgumentParser, words: list[str]) -> argparse.Namespace | None:
    """The parsed words; None after `--help` or `--version`."""
    try:
        return parser.parse_args(words)
    except SystemExit:
        return None


def _add_dataset(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "dataset", nargs="?", type=Path, metavar="DATASET", help="a JSON lines file (default: the demo)"
    )


def _add_settings(parser: argparse.ArgumentParser, *, screen: bool) -> None:
    group = parser.add_argument_group("settings (each is also in the settings files: agentscope config)")

    def add(key: str, help: str, *, type: Callable[[str], object] = str, metavar: str = "TEXT") -> None:
        group.add_argument(SETTING_FLAGS[key], dest=key, type=type, metavar=metavar, help=help)

    def switch(key: str, value: object, help: str) -> None:
        group.add_argument(SETTING_FLAGS[key], dest=key, action="store_const", const=value, help=help)

    add("model.name", "PROVIDER:NAME, local or scripted:FILE (agentscope models)", metavar="MODEL")
    add("model.base_url", "address of the model's server", metavar="URL")
    add("model.temperature", "randomness, 0 to 2", type=float, metavar="T")
    add("model.max_output_tokens", "most tokens of one answer", type=int, metavar="N")
    add("session.system", "system prompt of rows that have none")
    add("dataset.offset", "skip the first N rows; indices stay", type=int, metavar="N")
    add("dataset.limit", "show at most N rows", type=int, metavar="N")
    group.add_argument(
        SETTING_FLAGS["dataset.map"],
        dest="dataset.map",
        type=_pair,
        action="append",
        metavar="PART=COLUMN",
        help="the dataset's column for user_prompt, system_prompt, ground_truth, grader or files",
    )
    add("grading.grader", "exact, contains, regex, numeric, command:CMD or module:func", metavar="GRADER")
    add("grading.python", "interpreter that runs module:func", metavar="PYTHON")
    add("runner.command", "program that runs the agent loop: docs/runner.md", metavar="COMMAND")
    add("runner.listen", "HOST:PORT or unix socket where runners dial in", metavar="ADDRESS")
    add("runner.connect", "address of a runner that listens", metavar="ADDRESS")
    add("runner.files", "folder of text files that the runner gets", metavar="DIR")
    add("runner.patience", "seconds that the runner waits for a model", type=float, metavar="S")
    add("tools.skills", "folder of skills that the agent can read", metavar="DIR")
    switch("sandbox.mode", "none", "run tools as you, not confined")
    switch("sandbox.network", True, "let tools use the network")
    if screen:
        add("session.mode", "step: stop after each model call; run: do not", metavar="step|run")
        add("ui.theme", "a Textual theme", metavar="NAME")
    _add_trust(parser)


def _add_trust(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--trust", action="store_true", help="trust the agentscope.yaml in this folder from now on"
    )


def _index(text: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is not a row index: rows are counted from 0")
    return int(text)


def _pair(text: str) -> tuple[str, str]:
    part, equals, column = text.partition("=")
    if not (part and equals and column):
        raise argparse.ArgumentTypeError(f"{text!r} is not PART=COLUMN, as in user_prompt=question")
    return part, column


def _is_terminal(stream: TextIO | None) -> bool:
    """None is what a closed standard stream is."""
    return stream is not None and stream.isatty()


def _load(parsed: argparse.Namespace) -> Config:
    from agentscope_tui.config import load_settings

    flags = {key: value for key, value in vars(parsed).items() if "." in key and value is not None}
    if "dataset.map" in flags:
        flags["dataset.map"] = dict(flags["dataset.map"])
    return load_settings(flags, trust=parsed.trust)


def _warn(config: Config) -> None:
    if config.untrusted is not None:
        print(f"agentscope: warning: {printable(str(config.untrusted))}", file=sys.stderr)


def _start_log(config: Config) -> None:
    from agentscope_tui.logs import start_log

    start_log(config.environ, config.settings.log.level)


def _complain(message: str, code: int) -> int:
    print(f"agentscope: {printable(message)}", file=sys.stderr)
    return code


def _crash(error: Exception) -> int:
    from agentscope_tui.logs import log_crash

    name = type(error).__name__
    try:
        log = log_crash(os.environ, error)
    except UserError as unwritable:
        return _complain(f"unexpected error {name}: {error}; no log of it: {unwritable}", 1)
    return _complain(f"unexpected error {name}: {error} (the traceback is in {log})", 1)
