"""The words and glyphs for states, and how numbers are written: one place, so that all panes agree."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime

from agentscope_tui.session.views import CallView, ToolState
from agentscope_widgets.look import Tone

TOOL_GLYPHS: Mapping[ToolState, str] = {
    "streaming": "◌",
    "proposed": "○",
    "running": "●",
    "done": "✓",
    "failed": "✗",
    "refused": "⊘",
    "interrupted": "■",
}
TOOL_TONES: Mapping[ToolState, Tone] = {
    "streaming": "muted",
    "proposed": "normal",
    "running": "accent",
    "done": "success",
    "failed": "error",
    "refused": "warning",
    "interrupted": "warning",
}


def seconds(value: float) -> str:
    """A duration: `0.1 s`, `42 s`, `3:07`, `1:02:07`."""
    if value < 9.95:
        return f"{value:.1f} s"
    if value < 60:
        return f"{value:.0f} s"
    minutes, rest = divmod(round(value), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def clock(at: datetime) -> str:
    """A moment as the user's clock shows it: `14:03:22`."""
    return f"{at.astimezone():%H:%M:%S}"


def thousands(value: int) -> str:
    """A count of tokens: `950`, `12.3k`, `1.2M`."""
    if value < 1000:
        return str(value)
    if value < 999_950:
        return f"{value / 1000:.1f}k"
    return f"{value / 1_000_000:.1f}M"


def dollars(value: float) -> str:
    """A cost: `$0.0042` while it is small, `$1.25` later."""
    return f"${value:.4f}" if value < 0.1 else f"${value:.2f}"


def argument_summary(call: CallView) -> str:
    """A call's arguments on one line: the value alone when there is only one, else `name=value`."""
    try:
        arguments = json.loads(call.arguments) if call.arguments.strip() else {}
    except ValueError:
        return call.arguments
    if not isinstance(arguments, dict):
        return call.arguments
    if len(arguments) == 1:
        return _plain(next(iter(arguments.values())))
    return " ".join(f"{name}={_short(value)}" for name, value in arguments.items())


def pretty_arguments(call: CallView) -> str:
    """A call's arguments as indented JSON, or as the model wrote them when they are none."""
    try:
        return json.dumps(json.loads(call.arguments), indent=2, ensure_ascii=False)
    except ValueError:
        return call.arguments


def _plain(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 40 else f"{text[:39]}…"
