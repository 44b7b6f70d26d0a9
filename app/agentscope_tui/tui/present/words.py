"""The words and glyphs for states: one place, so that all panes agree."""

from __future__ import annotations

import json
from collections.abc import Mapping

from agentscope_tui.session.views import ENDED_GLYPHS, CallView, ToolState
from agentscope_widgets.look import Tone

TOOL_GLYPHS: Mapping[ToolState, str] = {
    "streaming": "◌",
    "proposed": "○",
    "running": "●",
    **ENDED_GLYPHS,
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
