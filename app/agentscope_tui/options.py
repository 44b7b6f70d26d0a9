"""What a command line asks for beside settings: cheap to import, because `--help` needs it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

SETTING_FLAGS: Mapping[str, str] = {
    "model.name": "--model",
    "model.base_url": "--base-url",
    "model.temperature": "--temperature",
    "model.max_output_tokens": "--max-tokens",
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

PAGE_COMMAND = "serve-page"
"""The word by which `agentscope serve` opens the app on a page; the size `WIDTHxHEIGHT` follows it."""


@dataclass(frozen=True)
class Options:
    """`dataset` None opens the demo. `rows` are absolute indices; empty: none in the app, all in `run`.

    `events` is where `run` writes events as JSON lines: a path, `-` for standard output, None for a
    readable transcript on standard output. `page` is the size, in columns and rows, of the page of
    `agentscope serve` that the app is on; None: it is on a terminal.
    """

    dataset: Path | None = None
    rows: tuple[int, ...] = ()
    events: str | None = None
    page: tuple[int, int] | None = None
