"""The tools of a session: what the model is told of each, in words and as JSON Schema."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from agentscope_tui.session.state import SessionState
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
        return [self._block(tool, as_json) for tool in tools]

    def _block(self, tool: Mapping[str, Any], as_json: bool) -> Block:
        name = str(tool.get("name"))
        used = sorted({call.call for call in self._state.calls if call.name == name})
        margin = "not used yet" if not used else "used after " + ", ".join(f"#{call}" for call in used)
        body = json.dumps(tool, indent=2, ensure_ascii=False) if as_json else "\n".join(_lines(tool))
        return Block(
            key=name,
            kind="tool",
            title=name,
            body=body,
            format="json" if as_json else "plain",
            margin=(margin,),
            foldable=True,
            summary=str(tool.get("description", "")),
        )


def _lines(tool: Mapping[str, Any]) -> Iterator[str]:
    yield str(tool.get("description", ""))
    parameters = tool.get("parameters", {})
    properties = parameters.get("properties", {})
    required = parameters.get("required", [])
    if properties:
        yield ""
    for name, schema in properties.items():
        needed = "required" if name in required else "optional"
        description = schema.get("description", "")
        yield f"{name} · {schema.get('type', 'any')} · {needed}{f' · {description}' if description else ''}"
