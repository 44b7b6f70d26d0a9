"""`agentscope report`: a run, or two of them, on the terminal, as a page, as JSON, CSV or Parquet."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from io import TextIOWrapper
from pathlib import Path
from urllib.parse import quote

from agentscope_tui.config import Config
from agentscope_tui.errors import UserError
from agentscope_tui.folders import runs_dir, sessions_dir
from agentscope_tui.new_files import draft_of, new_file
from agentscope_tui.printable import printable
from agentscope_tui.progress import progress_bar
from agentscope_tui.report.html_page import Links, no_links
from agentscope_tui.report.pair import Pair
from agentscope_tui.report.reading import Rollout
from agentscope_tui.report.recordings import Recordings
from agentscope_tui.report.run import Run, find_run, load
from agentscope_tui.report.tables import write_csv, write_parquet
from agentscope_tui.report.text import Styled
from agentscope_tui.report_flags import Request
from agentscope_tui.store.export import html
from agentscope_tui.store.export.formats import Choices
from agentscope_tui.store.export.source import recorded

STDOUT = "-"
_TOLD_EVERY = 50
"""Rows of a page between two tellings of how far it is."""

Tell = Callable[[int, int | None, str], None]
"""What is done, of how much, in words."""


def report(config: Config, request: Request) -> int:
    """Print or write what was asked for; 0.

    Raises:
        UserError: there is no such run, or a file cannot be written.
    """
    recordings = Recordings(sessions_dir(config.state))
    folders = [find_run(name, runs_dir(config.state)) for name in request.runs]
    with progress_bar() as tell:
        runs = [load(folder, request.passes, partial(_tell_reading, tell, folder)) for folder in folders]
        wrote = [*_written(runs, recordings, request, tell)]
    for path in wrote:
        print(f"agentscope: wrote {printable(str(path))}", file=sys.stderr)
    if request.as_json:
        from agentscope_tui.report.as_json import pair_in_json, run_in_json

        if len(runs) == 2:
            found = pair_in_json(Pair(*runs), recordings, every=request.every)
        else:
            found = run_in_json(runs[0], recordings, every=request.every)
        print(json.dumps(found, indent=2, allow_nan=False))
    elif not (request.html or request.csv or request.parquet):
        _print(_lines(runs, recordings, every=request.every))
    sys.stdout.flush()
    return 0


def _lines(runs: list[Run], recordings: Recordings, *, every: bool) -> Iterator[Styled]:
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    if len(runs) == 2:
        from agentscope_tui.report.pair_text import pair_lines

        return pair_lines(Pair(*runs), recordings, width, every=every)
    from agentscope_tui.report.text import run_lines

    return run_lines(runs[0], recordings, width, every=every)


def _print(lines: Iterable[Styled]) -> None:
    if not sys.stdout.isatty():
        for line, _ in lines:
            print(printable(line))
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)
    for line, style in lines:
        console.print(Text(printable(line), style), soft_wrap=True)


def _tell_reading(tell: Tell, folder: Path, done: int, of: int) -> None:
    tell(done, of, f"reading {folder.name}")


def _written(runs: Sequence[Run], recordings: Recordings, request: Request, tell: Tell) -> Iterator[str]:
    """Write the files that were asked for; gives their names."""

    def wrote(done: int, of: int) -> None:
        tell(done, of, f"writing: {done:,} of {of:,} rollouts")

    if request.html:
        path = Path(request.html).expanduser()
        links = ExportedSessions(path, recordings, tell) if request.sessions else no_links
        with new_file(path) as out:
            for number, piece in enumerate(_page(runs, recordings, links, every=request.every)):
                if number % _TOLD_EVERY == 0:
                    tell(0, None, f"writing {path.name}")
                out.write(piece)
        yield request.html
    if request.csv == STDOUT:
        if isinstance(sys.stdout, TextIOWrapper):
            sys.stdout.reconfigure(encoding="utf-8", newline="")
        write_csv(runs[0], sys.stdout, wrote)
    elif request.csv:
        with new_file(Path(request.csv).expanduser()) as out:
            write_csv(runs[0], out, wrote)
        yield request.csv
    if request.parquet:
        with draft_of(Path(request.parquet).expanduser()) as draft:
            write_parquet(runs[0], draft, wrote)
        yield request.parquet


def _page(runs: Sequence[Run], recordings: Recordings, links: Links, *, every: bool) -> Iterator[str]:
    if len(runs) == 2:
        from agentscope_tui.report.html_pair import pair_page

        return pair_page(Pair(*runs), recordings, links, every=every)
    from agentscope_tui.report.html_run import run_page

    return run_page(runs[0], recordings, links, every=every)


class ExportedSessions:
    """Exports the recordings that a page links to, each when its link is asked for, to a folder beside it."""

    def __init__(self, page: Path, recordings: Recordings, tell: Tell) -> None:
        self._folder = page.with_name(f"{page.stem}_files")
        self._recordings = recordings
        self._tell = tell
        self._count = 0

    def __call__(self, run: Run, rollout: Rollout) -> str:
        """The link, from the page; empty where there is no recording that can be read."""
        folder = self._recordings.folder(run, rollout)
        if folder is None:
            return ""
        self._count += 1
        self._tell(0, None, f"exporting session {self._count:,}: {folder.name}")
        path = self._folder / f"{folder.name}.html"
        try:
            source = recorded(folder)
            self._folder.mkdir(parents=True, exist_ok=True)
            with new_file(path) as out:
                html.write(source, out, Choices())
        except UserError as error:
            print(f"agentscope: not exported: {printable(str(error))}", file=sys.stderr)
            return ""
        except OSError as error:
            raise UserError(f"cannot write to {self._folder}: {error.strerror or error}") from error
        return f"{quote(self._folder.name)}/{quote(path.name)}"
