"""Tool calls as items of the calls pane."""

from __future__ import annotations

from datetime import datetime

from agentscope_tui.figures import seconds
from agentscope_tui.session.views import CallView
from agentscope_tui.tui.present.words import TOOL_GLYPHS, TOOL_TONES, argument_summary
from agentscope_widgets.call_list import CallItem


def item_of(call: CallView, now: datetime) -> CallItem:
    """The item that shows `call`; a running one shows the time since its start."""
    duration = call.duration
    if duration is None and call.state == "running" and call.started is not None:
        duration = (now - call.started).total_seconds()
    return CallItem(
        key=call.call_id,
        name=call.name or "…",
        glyph=TOOL_GLYPHS[call.state],
        state=call.state,
        arguments=argument_summary(call),
        duration="" if duration is None else seconds(duration),
        tone=TOOL_TONES[call.state],
        active=call.state == "running",
        waits=call.state in ("streaming", "proposed") or (call.state == "interrupted" and not call.started),
    )
