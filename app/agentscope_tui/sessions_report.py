"""`agentscope sessions` prints, renames and deletes sessions."""

from __future__ import annotations

import json
import math
import shutil
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agentscope_tui.config import Config
from agentscope_tui.errors import UsageError, UserError
from agentscope_tui.figures import file_size
from agentscope_tui.folders import sessions_dir
from agentscope_tui.printable import printable
from agentscope_tui.progress import progress_bar
from agentscope_tui.session_table import table_of
from agentscope_tui.store.find import find_session
from agentscope_tui.store.housekeeping import delete_session, rename_session, size_of
from agentscope_tui.store.lock import SessionInUse, is_locked
from agentscope_tui.store.run_index import RunIndex, Wanted
from agentscope_tui.store.session_row import SessionRow
from agentscope_tui.store.session_tree import Branch, tree_of

SHOWN = 50
"""Sessions on a terminal, where nobody asks for more."""
_MANY = 300
"""Sessions that take a while to read."""


@dataclass(frozen=True)
class Asked:
    """Which sessions, how many at most (None: as many as suits), and how they are printed."""

    wanted: Wanted
    limit: int | None
    as_tree: bool
    as_json: bool


def list_sessions(config: Config, asked: Asked) -> int:
    """Print the sessions that are wanted; 0.

    Raises:
        UserError: the state folder cannot be read.
    """
    index = RunIndex(config.state)
    try:
        _bring_up_to_date(index)
        found = index.find(asked.wanted)
    finally:
        index.close()
    on_terminal = sys.stdout.isatty()
    limit = SHOWN if asked.limit is None and on_terminal and not asked.as_json else asked.limit
    shown = found if limit is None else found[:limit]
    if asked.as_json:
        print(json.dumps([_in_json(row) for row in shown], indent=2))
    else:
        branches = list(tree_of(shown)) if asked.as_tree else [Branch(row) for row in shown]
        width = shutil.get_terminal_size().columns if on_terminal else None
        for line in table_of(branches, width, as_tree=asked.as_tree):
            print(line)
        if not found:
            print("no session was recorded yet" if asked.wanted == Wanted() else "no session is like that")
        elif len(shown) < len(found):
            print(f"… {len(found) - len(shown):,} more (--limit {len(found)} shows them)")
    sys.stdout.flush()
    return 0


def _bring_up_to_date(index: RunIndex) -> None:
    """Sync; the progress is shown where there is a lot to read."""
    with ExitStack() as stack:
        tell: Callable[[int, int | None, str], None] | None = None

        def on_progress(done: int, total: int) -> None:
            nonlocal tell
            if tell is None and total >= _MANY:
                tell = stack.enter_context(progress_bar())
            if tell is not None:
                tell(done, total, f"{done:,} of {total:,} sessions read")

        index.sync(on_progress=on_progress)


def rename(config: Config, session: str, name: str) -> int:
    """Give a session a name; 0.

    Raises:
        UserError: there is no such session, or it cannot be called that.
    """
    folder = _own(config, session)
    name = rename_session(folder, name)
    print(printable(f"{folder.name} is called {name}" if name else f"{folder.name} has no name any more"))
    return 0


def delete(config: Config, sessions: Sequence[str], *, yes: bool) -> int:
    """Delete sessions, once the user has agreed; 0, or 1 if not.

    Raises:
        SessionInUse: one of them runs; then none is deleted.
        UserError: there is no such session, or it cannot be deleted.
    """
    folders = list(dict.fromkeys(_own(config, session) for session in sessions))
    for folder in folders:
        if is_locked(folder):
            raise SessionInUse(folder)
    sizes = [size_of(folder) for folder in folders]
    if not yes:
        if not sys.stdin.isatty():
            raise UsageError("nobody can be asked here: use --yes to delete without a question")
        for folder, size in zip(folders, sizes, strict=True):
            print(f"{printable(folder.name)}  {file_size(size)}")
        question = "this session" if len(folders) == 1 else f"these {len(folders)} sessions"
        print(f"Delete {question} with all files? [y/N] ", end="", flush=True)
        if sys.stdin.readline().strip().lower() not in ("y", "yes"):
            return 1
    for folder in folders:
        delete_session(folder)
    print(f"deleted {len(folders)} session{'' if len(folders) == 1 else 's'} ({file_size(sum(sizes))})")
    return 0


def _own(config: Config, session: str) -> Path:
    """The folder of a session; another folder that looks like one is none of ours to change."""
    sessions = sessions_dir(config.state)
    folder = find_session(session, sessions)
    if folder.parent.resolve() != sessions.resolve():
        raise UserError(f"{folder} is not among the sessions in {sessions}: it is yours to move or delete")
    return sessions / folder.name


def _in_json(row: SessionRow) -> dict[str, Any]:
    values: dict[str, Any] = {**asdict(row), "tokens": row.tokens, "metrics": row.numbers}
    for name in ("created", "ended"):
        at = values[name]
        values[name] = None if at is None else datetime.fromtimestamp(at, UTC).isoformat()
    # JSON has no infinity.
    return {
        key: None if isinstance(value, float) and not math.isfinite(value) else value
        for key, value in values.items()
    }
