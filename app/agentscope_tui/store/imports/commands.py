"""Agents that run commands: how a run of theirs ended, and the command that a text asks for.

An agent that writes its command into its text has it run without a tool call: it is shown as the tool `bash`.
"""

from __future__ import annotations

import re
from typing import Any

from agentscope_tui.models.chat import Message
from agentscope_tui.store.imports.building import EventBuilder
from agentscope_tui.store.imports.parts import Action, Outcome

BASH = "bash"
FILE = "trajectory file"
"""What an `extra` is about that keeps the rest of a file."""
MESSAGES = "rest of the messages"
"""What the `extra` is about that keeps the rests of the messages, by `message 3`."""
_COMMAND = re.compile(r"```(?:mswea_bash_command|bash|sh)[ \t]*\n(.*?)\n?```", re.DOTALL)
_CODE = re.compile(r"<returncode>\s*(-?\d{1,9})\s*</returncode>")
_LIMITS = ("limit", "exit_cost", "exit_context", "timeexceeded", "exit_total")
_FAILURES = ("error", "exception", "exit_api", "exit_environment", "exit_format")


def command_in(text: str) -> str:
    """The command in a text; empty where there is none."""
    found = _COMMAND.search(text)
    return found[1].strip() if found else ""


def code_in(text: str) -> int | None:
    """The exit code that an observation tells."""
    found = _CODE.search(text)
    return int(found[1]) if found else None


def tell_command(builder: EventBuilder, command: str, outcome: Outcome, told: Message) -> None:
    """A command that ran; `told` is the message that the agent was given of it."""
    builder.action(Action(BASH, {"command": command}, outcome), told)


def tell_end(builder: EventBuilder, info: Any) -> None:
    """How the run ended, and the answer that it submitted."""
    status, submission = _text(info, "exit_status"), _text(info, "submission")
    if submission:
        builder.submit(submission)
    word = status.lower()
    if any(part in word for part in _LIMITS):
        builder.ends("limit", status)
    elif any(part in word for part in _FAILURES):
        builder.ends("failed", status)
    elif status:
        builder.ends("completed", status)


def _text(info: Any, name: str) -> str:
    value = info.get(name) if isinstance(info, dict) else None
    return value if isinstance(value, str) else ""
