"""The tools of a session: what the model is told of each, in words and as JSON Schema, and who used it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from agentscope_tui.session.state import SessionState
from agentscope_tui.session.views import CallView
from agentscope_tui.tools.spec import weaknesses
from agentscope_tui.tui.present.schema import schema_lines
from agentscope_tui.tui.screens.detail import DetailScreen
from agentscope_widgets.blocks import Block


class ToolsScreen(DetailScreen):
    """One section a tool."""

    HEADING: ClassVar[str] = "Tools"

    def __init__(self, state: SessionState) -> None:
        super().__init__()
        self._state = state

    def blocks(self, as_json: bool) -> Sequence[Block]:
        tools = self._state.started.tools if self._state.started else []
        self.heading = f"{self.HEADING} · {len(tools)}"
        if not tools:
            return [Block(key="none", title="no tools", body="This agent was given none.", tone="muted")]
        return [self._block(tool, as_json) for tool in tools]

    def _block(self, tool: Mapping[str, Any], as_json: bool) -> Block:
        name = str(tool.get("name"))
        notes = weaknesses(tool)
        calls = [call for call in self._state.calls if call.name == name]
        lines = [json.dumps(tool, indent=2, ensure_ascii=False)] if as_json else [*_lines(tool, notes, calls)]
        used = "not used yet" if not calls else f"used {len(calls)} ×"
        return Block(
            key=name,
            kind="tool",
            title=f"⚠ {name}" if notes else name,
            body="\n".join(lines),
            format="json" if as_json else "plain",
            margin=(used, *(["see the notes"] if notes else [])),
            tone="warning" if notes else "normal",
            foldable=True,
            summary=str(tool.get("description", "")),
        )


def _lines(tool: Mapping[str, Any], notes: Sequence[str], calls: Sequence[CallView]) -> Iterator[str]:
    yield str(tool.get("description") or "(no description)")
    parameters = [*schema_lines(tool.get("parameters") or {})]
    yield from ("", *parameters) if parameters else ("", "no parameters")
    if notes:
        yield ""
        yield from (f"⚠ {note}" for note in notes)
    if calls:
        yield ""
        yield from (f"call #{call.call} · {call.state} · {call.arguments}" for call in calls)
