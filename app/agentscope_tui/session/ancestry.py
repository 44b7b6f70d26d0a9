"""What is said of a session that goes on from another one."""

from __future__ import annotations

from agentscope_tui.events import SessionStarted

RESUMED = "resumed"
"""The change of a session that only goes on where the other one ended."""


def fork_note(started: SessionStarted) -> tuple[str, str]:
    """The title and the text of the note that it begins with."""
    call = started.parent_call or 1
    resumed = started.change in ("", RESUMED)
    calls = {1: "Nothing before that is replayed", 2: "Call #1 is replayed"}
    replayed = calls.get(call, f"The calls #1 to #{call - 1} are replayed")
    lines = [f"{'after' if resumed else 'from'} {started.parent}"]
    if not resumed:
        lines.append(started.change)
    lines.append(f"{replayed} from its recording, without tokens; what follows is live.")
    return f"{'goes on' if resumed else 'forked'} at call #{call}", "\n".join(lines)
