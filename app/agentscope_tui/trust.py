"""Which working folders' settings files the user trusts: by path and content, kept in the state folder.

A working folder may be a stranger's. Until its file is trusted, the settings marked `NeedsTrust` are left
out of it; a file that changed has to be trusted again.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path

from agentscope_tui.errors import UserError

_STORE = "trusted.json"
_OWN = "own"
"""In place of a digest: a folder of this user's own recordings."""


@dataclass(frozen=True)
class UntrustedFile:
    """A settings file and what was left out of it: `keys` like `model.base_url`, in the file's order."""

    file: Path
    digest: str
    keys: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.file} is not trusted: ignored {', '.join(self.keys)} (--trust to trust this file)"


def digest_of(content: bytes) -> str:
    """The SHA-256 of a file's content, as the store keeps it."""
    return hashlib.sha256(content).hexdigest()


def is_trusted(state: Path, file: Path, digest: str) -> bool:
    """Whether the user trusted `file` (absolute) with just this content.

    Raises:
        UserError: the store cannot be read.
    """
    return _load(state / _STORE).get(str(file)) == digest


def is_own(state: Path, file: Path) -> bool:
    """Whether `file` lies in the state folder, or in one that `remember_own` was told of: no stranger's.

    Raises:
        UserError: the store cannot be read.
    """
    place = file.resolve()
    if place.is_relative_to(state.resolve()):
        return True
    known = _load(state / _STORE)
    return any(known.get(str(folder)) == _OWN for folder in place.parents)


def remember_own(state: Path, folder: Path) -> None:
    """What lies in `folder` from now on was put there by agentscope, for this user.

    Raises:
        UserError: the store cannot be read or written.
    """
    if not is_own(state, folder / "it"):
        remember_trust(state, folder.resolve(), _OWN)


def remember_trust(state: Path, file: Path, digest: str) -> None:
    """Trust `file` (absolute) from now on, as long as its content has this digest.

    Raises:
        UserError: the store cannot be read or written.
    """
    store = state / _STORE
    trusted = {**_load(store), str(file): digest}
    draft = store.with_suffix(f".{os.getpid()}")
    try:
        state.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft.touch(mode=0o600)
        draft.write_text(json.dumps(trusted, indent=1), encoding="utf-8")
        draft.replace(store)
    except OSError as error:
        raise UserError(
            f"cannot write {store} ({error.strerror}): set AGENTSCOPE_HOME to a folder that you may write to"
        ) from error


def _load(store: Path) -> dict[str, str]:
    try:
        trusted = json.loads(store.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError) as error:
        raise UserError(f"cannot read {store} ({error}): delete it and trust your folders again") from error
    if not isinstance(trusted, dict):
        raise UserError(f"cannot read {store} (no JSON object): delete it and trust your folders again")
    return trusted
