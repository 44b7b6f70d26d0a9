"""The stock pi runner in a folder of its own, where `.ci/run` has fetched it: nothing of it is committed."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

HOME = "AGENTSCOPE_TEST_PI"
"""Names the folder: `pi_entry/*.ts` of the wheel, `node_modules` and a `package.json` of type module."""

AGENT = {"src/agent.ts": "export { Agent } from '@earendil-works/pi-agent-core'\n"}
"""The agent that the runner loads: the one from npm."""


def missing() -> str:
    """Why the runner cannot be used here; empty if it can."""
    home = os.environ.get(HOME)
    if not home:
        return f"needs the pi runner of .ci/run: {HOME} is not set"
    if not (Path(home) / "runner_live.ts").is_file():
        return f"there is no runner_live.ts in {home}"
    if _node(Path(home)) is None:
        return "needs node"
    return ""


def command() -> list[str]:
    """The command line that starts it."""
    home = Path(os.environ[HOME])
    node = _node(home)
    assert node is not None
    own = node.startswith(str(home))
    return [node, *([] if own else ["--import", "tsx"]), str(home / "runner_live.ts")]


def workdir(parent: Path) -> Path:
    """A folder to run it in: it writes the agent to `live/` there, which finds its packages next to it."""
    home, folder = Path(os.environ[HOME]), parent / "pi"
    folder.mkdir()
    shutil.copy(home / "package.json", folder)
    (folder / "node_modules").symlink_to(home / "node_modules")
    return folder


def _node(home: Path) -> str | None:
    """The node from npm, new enough to read TypeScript, else the machine's own (with tsx)."""
    ours = next(iter(home.glob("node_modules/node-linux-*/bin/node")), None)
    return str(ours) if ours is not None else shutil.which("node")
