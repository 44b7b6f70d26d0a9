"""How the settings want tools confined; and, where nothing can, whether the user agreed to go without.

That is asked once for each dataset: its rows may name files and tasks that a model follows as you. Rows from
standard input are others each time, so a yes to them is not written down.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from agentscope_tui.config import Config
from agentscope_tui.datasets.source import STANDARD_INPUT
from agentscope_tui.settings import CommandLimitSettings, SandboxSettings
from agentscope_tui.tools.limits import CommandLimits
from agentscope_tui.tools.sandbox import Sandbox
from agentscope_tui.tools.sandbox_probe import find_sandbox
from agentscope_tui.trust import is_trusted, remember_trust

_AGREED = "tools run unconfined"


async def sandbox_of(settings: SandboxSettings) -> Sandbox:
    """The sandbox that the settings ask for.

    Raises:
        SandboxError: it does not work here, or a folder is not there.
    """
    return await find_sandbox(settings.mode, network=settings.network, read_only=_folders(settings.read_only))


def command_limits(limits: CommandLimitSettings) -> CommandLimits:
    """In bytes what the settings give in MiB."""
    given = limits.model_dump()
    in_mib = {name: given[name] << 20 for name in ("memory", "file_size", "output", "disk") if given[name]}
    return CommandLimits(**given | in_mib)


async def unconfined_reason(config: Config, dataset: Path) -> str:
    """Why tools would run unconfined though nobody chose that for this dataset; empty: they would not.

    Raises:
        UserError: as `sandbox_of`, or the store of answers cannot be read.
    """
    sandbox = await sandbox_of(config.settings.sandbox)
    if sandbox.name != "none" or config.settings.sandbox.mode == "none":
        return ""
    if dataset != STANDARD_INPUT and is_trusted(config.state, _key(dataset), _AGREED):
        return ""
    return sandbox.reason


def agree_unconfined(config: Config, dataset: Path) -> None:
    """Remember that this dataset's rows may be run unconfined, if there is something to remember it by.

    Raises:
        UserError: it cannot be written down.
    """
    if dataset != STANDARD_INPUT:
        remember_trust(config.state, _key(dataset), _AGREED)


def _folders(names: Sequence[str]) -> list[Path]:
    return [Path(name).expanduser() for name in names]


def _key(dataset: Path) -> Path:
    """The dataset as the store knows it."""
    return Path(os.path.abspath(dataset))
