"""Files that are there when they are whole: whoever stops in between keeps what was there before."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from agentscope_tui.errors import UserError


@contextmanager
def new_file(path: Path) -> Iterator[TextIO]:
    """A text file to write.

    Raises:
        UserError: it cannot be written.
    """
    with draft_of(path) as draft, draft.open("w", encoding="utf-8", newline="") as out:
        yield out


@contextmanager
def draft_of(path: Path) -> Iterator[Path]:
    """Where to write what becomes `path` when this block has ended well.

    Raises:
        UserError: it cannot be written.
    """
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        yield draft
        draft.replace(path)
    except OSError as error:
        raise UserError(f"cannot write {path}: {error.strerror or error}") from error
    finally:
        draft.unlink(missing_ok=True)
