"""What a command line asks for beside settings: cheap to import, because `--help` needs it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from agentscope_tui.errors import UsageError

SETTING_FLAGS: Mapping[str, str] = {
    "model.name": "--model",
    "model.base_url": "--base-url",
    "model.temperature": "--temperature",
    "model.max_output_tokens": "--max-tokens",
    "model.replay": "--replay",
    "model.replay_fallback": "--replay-fallback",
    "runner.agent": "--agent",
    "runner.python": "--python",
    "runner.program": "--command",
    "runner.pass_env": "--pass-env",
    "runner.command": "--runner",
    "runner.listen": "--listen",
    "runner.connect": "--connect",
    "runner.files": "--runner-files",
    "runner.patience": "--runner-patience",
    "tools.python": "--tools",
    "tools.mcp": "--mcp",
    "tools.skills": "--skills",
    "session.mode": "--mode",
    "session.system": "--system",
    "sandbox.mode": "--no-sandbox",
    "sandbox.network": "--net",
    "sandbox.confine_agent": "--confine-agent",
    "dataset.map": "--map",
    "dataset.prompt": "--prompt",
    "dataset.files": "--files",
    "dataset.offset": "--offset",
    "dataset.limit": "--limit",
    "grading.grader": "--grader",
    "grading.judge": "--judge",
    "ui.theme": "--theme",
    "ui.keymap": "--keymap",
}
"""The flag that sets a setting, by the setting's key."""

SERVE_FLAGS: Mapping[str, str] = {
    "serve.host": "--host",
    "serve.port": "--port",
    "serve.remote": "--remote",
}
"""The same for `agentscope serve`, beside the flags of the app."""

FLAGS: Mapping[str, str] = {**SETTING_FLAGS, **SERVE_FLAGS}
"""All flags that set a setting, by the setting's key."""

Span = tuple[int, int | None]
"""The first and the last index of a range of rows; None: to the end of the dataset."""

_ROWS = re.compile(r"(\d+)(?:(-)(\d*))?")

PAGE_COMMAND = "serve-page"
"""The word by which `agentscope serve` opens the app on a page; the size `WIDTHxHEIGHT` follows it."""


@dataclass(frozen=True)
class Options:
    """`dataset` None opens the demo. `rows` are absolute indices; empty: none in the app, all in `run`.

    `events` is where `run` writes events as JSON lines: a path, `-` for standard output, None for a
    readable transcript on standard output. `page` is the size, in columns and rows, of the page of
    `agentscope serve` that the app is on; None: it is on a terminal. `recording` is the session, or the file
    of another tool, that the app shows instead of a dataset; `resumes` the session that it goes on with.
    """

    dataset: Path | None = None
    rows: tuple[int, ...] = ()
    page: tuple[int, int] | None = None
    recording: str | None = None
    resumes: str | None = None


@dataclass(frozen=True)
class RunOptions:
    """What `agentscope run` is asked for. `rows` empty: all. `rollouts` is how often each row is run;
    `concurrency` of all run at a time.

    `engine` is where: `local`, in as many processes of this machine as are worth it, `local:N`, in N of them,
    or `ray`, `ray:ADDRESS`, on a cluster.

    `transcript` prints each session as readable text, `events` as JSON lines: to a path, or `-` for standard
    output. The results go to the folder `out`; `goes_on` runs only what is missing there, with `retry_failed`
    also what failed.
    """

    dataset: Path | None = None
    rows: tuple[Span, ...] = ()
    rollouts: int = 1
    concurrency: int = 1
    engine: str = "local"
    out: Path | None = None
    goes_on: bool = False
    retry_failed: bool = False
    transcript: bool = False
    events: str | None = None
    as_json: bool = False


def parse_rows(text: str | None) -> tuple[Span, ...]:
    """The ranges that `text` names, as in `0-99,120,500-`: indices from 0, ends included. None: no ranges.

    Raises:
        UsageError: it names none.
    """
    if text is None:
        return ()
    return tuple(_span(part.strip()) for part in text.split(","))


def rows_text(spans: Iterable[Span]) -> str:
    """What `parse_rows` reads as these ranges; empty: no ranges."""
    ends = ((start, "" if last is None else last) for start, last in spans)
    return ",".join(f"{start}" if start == last else f"{start}-{last}" for start, last in ends)


def _span(part: str) -> Span:
    match = _ROWS.fullmatch(part)
    if match is None:
        raise UsageError(f"--rows {part!r}: name rows as in 0-99,120,500-")
    first, dash, last = match.groups()
    start, end = int(first), int(last or first)
    if end < start:
        raise UsageError(f"--rows {part!r}: it ends before it begins")
    return (start, None) if dash and not last else (start, end)
