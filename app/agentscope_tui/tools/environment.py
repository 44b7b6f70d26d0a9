"""The environment that tools and graders run with: an allow-list, so that no key ever gets in."""

from __future__ import annotations

import os
import re
from pathlib import Path

_PASSED = re.compile(r"PATH|LANG|LANGUAGE|LC_[A-Z]+|TMPDIR|TZ|USER|LOGNAME")


def tool_environment(workdir: Path, search_path: str | None = None, *, tmp: str = "/tmp") -> dict[str, str]:
    """The variables of a command that works in `workdir`, which is also its HOME.

    `search_path` replaces the user's PATH and, since it stands for a sandbox's own file system, `tmp`
    TMPDIR.
    """
    environment = {name: value for name, value in os.environ.items() if _PASSED.fullmatch(name)}
    environment.setdefault("PATH", os.defpath)
    if search_path is not None:
        environment |= {"PATH": search_path, "TMPDIR": tmp}
    return environment | {
        "HOME": str(workdir),
        "SHELL": "/bin/bash",
        "TERM": "dumb",
        "PAGER": "cat",
        "GIT_PAGER": "cat",
        "GIT_TERMINAL_PROMPT": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
