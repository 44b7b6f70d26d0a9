"""The token of runners that dial in: the user's own, else one that is kept in the state folder."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from agentscope_tui.errors import UserError
from agentscope_tui.folders import open_state_dir
from agentscope_tui.secrets import MASKER
from agentscope_tui.wire.greeting import TOKEN_VARIABLE, Token

_FILE = "runner-token"


def runner_token(environ: Mapping[str, str]) -> Token:
    """The token, which is masked from now on wherever text leaves the program.

    It stays the same from run to run, so that runners can be started before agentscope.

    Raises:
        UserError: the state folder cannot be written, or the file there holds no token.
    """
    if given := environ.get(TOKEN_VARIABLE):
        token = Token(given, TOKEN_VARIABLE)
    else:
        file = open_state_dir(environ) / _FILE
        token = Token(_kept_in(file), str(file))
    MASKER.learn([token.value])
    return token


def _kept_in(file: Path) -> str:
    try:
        if not file.exists():
            _make(file)
        value = file.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(
            f"cannot keep the token for runners in {file} ({error}): set {TOKEN_VARIABLE}"
        ) from error
    if not value:
        raise UserError(f"{file} is empty: delete it, and a token for runners is made anew")
    return value


def _make(file: Path) -> None:
    """Write a new token. Whoever else makes one at the same time, the first one counts."""
    part = file.with_name(f"{file.name}.{os.getpid()}")
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "w") as stream:
        stream.write(f"{secrets.token_urlsafe(24)}\n")
    try:
        with suppress(FileExistsError):
            os.link(part, file)
    finally:
        part.unlink()
