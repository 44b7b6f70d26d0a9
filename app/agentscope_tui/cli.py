"""The command line: reads flags and settings, then hands over to the app, to `run` or to `config`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from agentscope_tui import __version__
from agentscope_tui.cli_flags import (
    SETTINGS,
    Answered,
    add_app,
    add_dataset,
    add_dataset_settings,
    add_run,
    add_server,
    add_settings,
    add_trust,
    parser_of,
    run_options,
)
from agentscope_tui.errors import UsageError, UserError
from agentscope_tui.options import PAGE_COMMAND, Options
from agentscope_tui.own_memory import close_own_memory
from agentscope_tui.printable import printable

if TYPE_CHECKING:
    from agentscope_tui.config import Config

_EPILOG = """\
commands:
  agentscope [DATASET]      open the app (this help)
  agentscope run DATASET    run rows without a screen     (agentscope run --help)
  agentscope report RUN     what came of a run, or how two differ (agentscope report --help)
  agentscope export SESSION write a session as ATIF, OpenAI chat, Markdown, HTML … (agentscope export --help)
  agentscope sessions       list what was recorded; rename, delete (agentscope sessions --help)
  agentscope open SESSION   look at a recording, or at a file of another tool (agentscope open --help)
  agentscope resume SESSION go on with a session that was cut off  (agentscope resume --help)
  agentscope compare A B    two sessions side by side: where they differ (agentscope compare --help)
  agentscope grade SESSION  grade recordings again, without running agents (agentscope grade --help)
  agentscope check DATASET  read all rows: columns, sizes, duplicates, bad rows (agentscope check --help)
  agentscope init [DIR]     write a small Python agent, a dataset and settings to start from
  agentscope serve DATASET  the app in a browser            (agentscope serve --help)
  agentscope models         show the providers that --model knows (agentscope models --help)
  agentscope doctor         check a runner of your own      (agentscope doctor --help)
  agentscope config         show every setting, its value and where it came from

examples:
  agentscope                                      the demo: no key, no network
  agentscope tasks.jsonl --model openai:gpt-5-mini
  agentscope tasks.jsonl --model openai:qwen3 --base-url http://localhost:8080
  agentscope tasks.jsonl --map user_prompt=question --map ground_truth=answer --grader exact
  agentscope tasks.jsonl --command "python agent.py {user_prompt}"
  agentscope run tasks.jsonl --row 3 --events -   one row, events as JSON lines
"""
_RUN_EPILOG = """\
Rows run several at a time; each result is a line, the recordings are sessions like any other. With --row a
readable transcript goes to standard output, or the events as JSON lines with --events.
Nothing pauses: a failed model call fails the turn. ctrl+c lets what runs come to its end, twice ends it now;
--resume goes on.
exit code: 0 all done, 1 some failed, 2 wrong usage, 3 stopped by an error that all rows would meet (a wrong
key, an empty account), 130 stopped by ctrl+c

examples:
  agentscope run --row 0                          a row of the demo, its transcript
  agentscope run tasks.jsonl --model openai:gpt-5-mini --rows 0-99,120 --concurrency 16
  agentscope run tasks.jsonl --n 8 --out runs/today   each row eight times
  agentscope run tasks.jsonl --n 8 --out runs/today --resume --retry failed
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line `argv` (default: this process's); gives the exit code.

    0 done, 1 failed, 2 wrong usage or settings, 130 stopped by ctrl+c.
    """
    if argv is None:
        close_own_memory()
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        return _dispatch(words)
    except Answered:
        return 0
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
        case [word, *rest] if word in _COMMANDS:
            return _COMMANDS[word](rest)
        case [word, size, *rest] if word == PAGE_COMMAND:
            width, _, height = size.partition("x")
            return _open_app(rest, page=(int(width), int(height)))
        case _:
            return _open_app(words)


def _open_app(words: list[str], *, page: tuple[int, int] | None = None) -> int:
    parser = parser_of("agentscope", "A step debugger for LLM agents, in the terminal.", _EPILOG)
    parser.add_argument("--version", action="version", version=f"agentscope {__version__}")
    add_app(parser)
    parsed = parser.parse_args(words)
    if str(parsed.dataset) in _COMMANDS and not parsed.dataset.exists():
        raise UsageError(f"the command goes first: agentscope {parsed.dataset} ...")
    if len(parsed.row or ()) > 1:
        raise UsageError("the app opens one row at once: use --row once, or `agentscope run` for many")
    if page is None:
        _require_terminal(parsed.dataset, "use `agentscope run` (agentscope run --help)")
    config = _load(parsed)
    _start_log(config)
    from agentscope_tui.tui.start import run_app

    return run_app(config, Options(parsed.dataset, tuple(parsed.row or ()), page=page))


def _open_recording(words: list[str]) -> int:
    from agentscope_tui.recording_flags import open_parser

    parsed = open_parser().parse_args(words)
    _require_terminal(None, "a recording cannot be shown")
    config = _load(parsed)
    _start_log(config)
    from agentscope_tui.tui.start import run_app

    return run_app(config, Options(recording=parsed.name))


def _resume(words: list[str]) -> int:
    from agentscope_tui.recording_flags import resume_parser

    parsed = resume_parser().parse_args(words)
    _require_terminal(None, "a session cannot be gone on with")
    config = _load(parsed)
    _start_log(config)
    from agentscope_tui.tui.start import run_app

    return run_app(config, Options(resumes=parsed.name))


def _require_terminal(dataset: Path | None, otherwise: str) -> None:
    if not (_keys_arrive(dataset) and all(map(_is_terminal, (sys.stdout, sys.stderr)))):
        raise UsageError(f"the app needs a terminal: without one, {otherwise}")


def _serve(words: list[str]) -> int:
    about = "The app in a browser on this machine: prints its address. Each page has an app of its own."
    parser = parser_of("agentscope serve", about, "ctrl+c ends it, with all sessions. More: docs/serve.md")
    add_server(parser)
    add_app(parser)
    parsed = parser.parse_args(words)
    config = _load_and_warn(parsed)
    _start_log(config)
    from agentscope_tui.serve.command import serve

    own = parser_of("agentscope serve", "", "", add_help=False)
    add_server(own)
    _, of_app = own.parse_known_args(words)
    return serve(config, Options(parsed.dataset, tuple(parsed.row or ())), of_app)


def _run(words: list[str]) -> int:
    parser = parser_of("agentscope run", "Run rows to their end, without a screen.", _RUN_EPILOG)
    add_dataset(parser)
    add_run(parser)
    add_settings(parser, screen=False)
    parsed = parser.parse_args(words)
    options = run_options(parsed)
    config = _load_and_warn(parsed)
    _start_log(config)
    from agentscope_tui.batch.run import run_rows

    return run_rows(config, options)


def _check_dataset(words: list[str]) -> int:
    about = "Read a whole dataset: its columns, their types and fill, tokens, duplicates, and every bad row."
    codes = "exit code: 0 all rows are tasks, 1 some are not, 2 wrong usage"
    parser = parser_of("agentscope check", about, codes)
    add_dataset(parser)
    parser.add_argument("--json", action="store_true", help="print JSON, with all bad rows")
    parser.add_argument("--all", action="store_true", help="print all bad rows, not only the first 100")
    add_dataset_settings(parser.add_argument_group(SETTINGS))
    add_trust(parser)
    parsed = parser.parse_args(words)
    config = _load_and_warn(parsed)
    from agentscope_tui.dataset_report import check
    from agentscope_tui.resources import demo_dataset

    return check(config, parsed.dataset or demo_dataset(), as_json=parsed.json, every=parsed.all)


def _init(words: list[str]) -> int:
    about = "Write a small Python agent, a dataset and settings that run at once, without a key."
    parser = parser_of("agentscope init", about, "")
    parser.add_argument(
        "folder", nargs="?", type=Path, default=Path(), metavar="DIR", help="where to (default: this folder)"
    )
    parsed = parser.parse_args(words)
    from agentscope_tui.starter import write_starter

    return _print(write_starter(parsed.folder, os.environ))


def _show_config(words: list[str]) -> int:
    about = "Show every setting, its value and where it came from. Flags count as they would elsewhere."
    parser = parser_of("agentscope config", about, "")
    add_settings(parser, screen=True)
    parsed = parser.parse_args(words)
    config = _load_and_warn(parsed)
    from agentscope_tui.config_report import report

    return _print(report(config))


def _compare(words: list[str]) -> int:
    from agentscope_tui.recording_flags import compare_parser

    parsed = compare_parser().parse_args(words)
    config = _load_and_warn(parsed)
    from agentscope_tui.comparison_report import report

    return report(config, parsed.left, parsed.right, as_json=parsed.json, every=parsed.all)


def _show_models(words: list[str]) -> int:
    about = "Show the providers that --model knows, and whether each has a key."
    parser = parser_of("agentscope models", about, "")
    parser.add_argument("provider", nargs="*", metavar="PROVIDER", help="show only these (default: all)")
    parser.add_argument("--check", action="store_true", help="ask each server which models it serves")
    add_trust(parser)
    parsed = parser.parse_args(words)
    config = _load_and_warn(parsed)
    from agentscope_tui.model_list import list_models

    return _print(list_models(config, parsed.provider, check=parsed.check))


def _examine_runner(words: list[str]) -> int:
    about = "Check that a runner keeps the protocol of docs/runner.md: a turn, a steer, interrupts."
    parser = parser_of("agentscope doctor", about, "exit code: 0 it does, 1 it does not, 2 wrong usage")
    add_settings(parser, screen=False)
    parsed = parser.parse_args(words)
    config = _load_and_warn(parsed)
    from agentscope_tui.doctor.command import examine

    return examine(config)


def _export(words: list[str]) -> int:
    from agentscope_tui.export_flags import parse_export

    parsed, request = parse_export(words)
    config = _load_and_warn(parsed)
    from agentscope_tui.exporting import export

    return export(config, request)


def _report(words: list[str]) -> int:
    from agentscope_tui.report_flags import parse_report

    parsed, request = parse_report(words)
    config = _load_and_warn(parsed)
    from agentscope_tui.run_report import report

    return report(config, request)


def _grade(words: list[str]) -> int:
    from agentscope_tui.grade_command import parse_grade

    parsed, request = parse_grade(words)
    config = _load_and_warn(parsed)
    _start_log(config)
    from agentscope_tui.grading_report import grade

    return grade(config, request, trust=parsed.trust)


def _sessions(words: list[str]) -> int:
    from agentscope_tui import sessions_command as command

    match words:
        case [command.DELETE, *rest]:
            parsed = command.delete_parser().parse_args(rest)
            config = _load_and_warn(parsed)
            from agentscope_tui.sessions_report import delete

            return delete(config, parsed.sessions, yes=parsed.yes)
        case [command.RENAME, *rest]:
            parsed = command.rename_parser().parse_args(rest)
            config = _load_and_warn(parsed)
            from agentscope_tui.sessions_report import rename

            return rename(config, parsed.session, parsed.name)
        case _:
            parsed = command.list_parser().parse_args(words)
            config = _load_and_warn(parsed)
            from agentscope_tui.sessions_report import list_sessions

            return list_sessions(config, command.asked(parsed))


_COMMANDS: Mapping[str, Callable[[list[str]], int]] = {
    "sessions": _sessions,
    "open": _open_recording,
    "resume": _resume,
    "run": _run,
    "report": _report,
    "check": _check_dataset,
    "init": _init,
    "config": _show_config,
    "compare": _compare,
    "models": _show_models,
    "doctor": _examine_runner,
    "serve": _serve,
    "export": _export,
    "grade": _grade,
}


def _is_terminal(stream: TextIO | None) -> bool:
    """None is what a closed standard stream is."""
    return stream is not None and stream.isatty()


def _keys_arrive(dataset: Path | None) -> bool:
    """Whether keys can be read: from standard input, or from the terminal where rows are piped in."""
    if dataset != Path("-"):
        return _is_terminal(sys.stdin)
    try:
        os.close(os.open("/dev/tty", os.O_RDWR))
    except OSError:
        return False
    return True


def _load(parsed: argparse.Namespace) -> Config:
    from agentscope_tui.config import load_settings
    from agentscope_tui.model_choice import guarded

    flags = {key: value for key, value in vars(parsed).items() if "." in key and value is not None}
    if "dataset.map" in flags:
        flags["dataset.map"] = dict(flags["dataset.map"])
    match flags.get("grading.grader"):
        case [grader]:
            flags["grading.grader"] = grader
    return guarded(load_settings(flags, trust=parsed.trust))


def _load_and_warn(parsed: argparse.Namespace) -> Config:
    """As `_load`; says on standard error what an untrusted file may not set."""
    config = _load(parsed)
    if config.untrusted is not None:
        print(f"agentscope: warning: {printable(str(config.untrusted))}", file=sys.stderr)
    return config


def _start_log(config: Config) -> None:
    from agentscope_tui.logs import start_log

    start_log(config.environ, config.settings.log.level)


def _print(text: str) -> int:
    """Print whole lines; a reader that has left is noticed here, and not at exit."""
    sys.stdout.write(text)
    sys.stdout.flush()
    return 0


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
