"""Which session a user means: by its id or the beginning of one, its given name, `last`, or a path."""

from __future__ import annotations

from pathlib import Path

from agentscope_tui.errors import UserError
from agentscope_tui.store.folders import JUDGE_OF, read_meta

LAST = "last"
"""The newest session."""


def find_session(name: str, sessions: Path) -> Path:
    """The folder of the session that `name` names; `sessions` is the folder of session folders.

    Raises:
        UserError: there is none, or several begin like that, or are called that.
    """
    path = Path(name).expanduser()
    if path.name == "events.jsonl" and path.is_file():
        return path.parent
    if (path / "events.jsonl").is_file():
        return path
    known = sorted(folder.name for folder in sessions.glob("*") if (folder / "events.jsonl").is_file())
    if name == LAST:
        # Whoever asks for the last one does not mean what judged it.
        last = (one for one in reversed(known) if JUDGE_OF not in read_meta(sessions / one))
        if (newest := next(last, None)) is not None:
            return sessions / newest
    found = [name] if name in known else [one for one in known if one.startswith(name)]
    how = "begin with"
    if len(found) != 1 and (called := [one for one in known if _given_name(sessions / one) == name]):
        found, how = called, "are called"
    match found:
        case [one]:
            return sessions / one
        case []:
            raise UserError(f"there is no session {name!r}: `agentscope sessions` lists those that there are")
        case _:
            raise UserError(f"{len(found)} sessions {how} {name!r}: {', '.join(found[:5])} …")


def _given_name(folder: Path) -> object:
    return read_meta(folder).get("name")
