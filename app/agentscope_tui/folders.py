"""The folders outside the project: the user's configuration, and the state that agentscope keeps."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

from agentscope_tui.errors import UserError

CONFIG_NAME = "agentscope.yaml"
"""The name of a settings file, in the config folder and in a working folder."""


def user_config_file() -> Path:
    """The user's own settings file; it need not exist."""
    from platformdirs import user_config_path

    return user_config_path("agentscope") / CONFIG_NAME


def state_dir(environ: Mapping[str, str]) -> Path:
    """Where sessions, the log and what is trusted are kept: `AGENTSCOPE_HOME`, else the platform's folder."""
    from platformdirs import user_state_path

    home = environ.get("AGENTSCOPE_HOME")
    return Path(home).expanduser().absolute() if home else user_state_path("agentscope")


def sessions_dir(state: Path) -> Path:
    """The folder of session folders."""
    return state / "sessions"


def runs_dir(state: Path) -> Path:
    """The folder of the folders of runs, those that were given no other place."""
    return state / "runs"


def open_state_dir(environ: Mapping[str, str]) -> Path:
    """The state folder, made where it is missing, for the user's eyes only.

    Raises:
        UserError: no file can be written there.
    """
    state = state_dir(environ)
    try:
        state.mkdir(mode=0o700, parents=True, exist_ok=True)
        sessions_dir(state).mkdir(mode=0o700, exist_ok=True)
        with tempfile.TemporaryFile(dir=sessions_dir(state)):
            pass
    except OSError as error:
        raise UserError(
            f"cannot write to the state folder {state} ({error.strerror}): "
            "set AGENTSCOPE_HOME to a folder that you may write to"
        ) from error
    return state
