"""Text that leaves the screen: into the clipboard, or into the user's pager or editor.

It leaves as it is shown: with control characters as symbols, because what is pasted may end in a shell.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from textual.app import App, SuspendNotSupported

from agentscope_tui.command_line import command_words
from agentscope_tui.errors import UserError
from agentscope_widgets.safe_text import safe_text

_OSC52_LIMIT = 74_000
"""Bytes of text; a longer one is left out by common terminals, without a word."""


async def copy_text(app: App[None], text: str, folder: Path) -> None:
    """Copy by every way there is: the terminal's own clipboard, the desktop's, and a file in `folder`.

    No terminal tells whether it has a clipboard, so the note names the file too.
    """
    text = safe_text(text)
    if not text:
        app.notify("There is nothing to copy.", severity="warning", timeout=2)
        return
    file = folder / "copied.txt"
    lines = text.count("\n") + 1
    size = f"{lines:,} lines" if lines > 1 else f"{len(text):,} characters"
    app.copy_to_clipboard(text)
    desktop = await asyncio.to_thread(_copy_to_desktop, text)
    try:
        _write_private(file, text)
        kept = f", and into {file}"
    except OSError as error:
        kept = f"; it could not be written to {file}: {error.strerror}"
    if len(text.encode()) > _OSC52_LIMIT and not desktop:
        kept += ". It may be too long for the terminal's clipboard"
    app.notify(f"Copied {size}{kept}.", timeout=3, markup=False)


async def open_outside(app: App[None], text: str, environ: Mapping[str, str]) -> None:
    """Show text in `$PAGER`, else `$EDITOR`, else less; sessions go on meanwhile.

    Raises:
        UserError: there is no such program, it cannot be started, or this terminal cannot be lent to one.
    """
    command = environ.get("PAGER") or environ.get("EDITOR") or "less"
    argv = command_words(command, f"PAGER or EDITOR is no command: {command!r}")
    if not argv or shutil.which(argv[0]) is None:
        raise UserError(f"there is no program {command!r}: set PAGER or EDITOR to one that is there")
    try:
        with tempfile.TemporaryDirectory(prefix="agentscope-") as folder:
            file = Path(folder) / "text.txt"
            _write_private(file, safe_text(text))
            # What the app draws meanwhile would land in the other program's screen.
            with app.batch_update(), app.suspend():
                process = await asyncio.create_subprocess_exec(*argv, str(file), env=dict(environ))
                await process.wait()
    except SuspendNotSupported:
        raise UserError("this terminal cannot be lent to another program: copy with y instead") from None
    except OSError as error:
        raise UserError(f"the text cannot be opened with {command!r}: {error.strerror or error}") from None
    app.refresh(layout=True)


def _copy_to_desktop(text: str) -> bool:
    """Whether the desktop's clipboard took it: there may be none, as on a server."""
    import pyperclip

    if not pyperclip.is_available():
        return False
    try:
        pyperclip.copy(text)
    except (pyperclip.PyperclipException, OSError):
        return False
    return True


def _write_private(file: Path, text: str) -> None:
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    with open(descriptor, "w", encoding="utf-8") as stream:
        stream.write(text)
