"""How a session begins: its first event, and the frame that greets the runner."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from agentscope_tui import __version__
from agentscope_tui.events import SessionStarted
from agentscope_tui.session.settings import SessionSettings
from agentscope_tui.tools.spec import Toolset
from agentscope_tui.wire.frames import SessionStart


def introduction(
    settings: SessionSettings, tools: Toolset, *, model: str, grader: str | None
) -> SessionStarted:
    """The first event: all that is needed to know what ran."""
    return SessionStarted(
        version=__version__,
        dataset=settings.dataset,
        row=settings.row,
        runner=settings.runner,
        model=model,
        system=settings.system,
        history=settings.earlier.messages,
        tools=[dict(spec) for spec in tools.specs],
        limits={name: value for name, value in vars(settings.limits).items() if value is not None},
        temperature=settings.model.temperature,
        confinement=tools.confinement,
        agent_confinement=settings.agent_confinement,
        grader=grader,
        folder=str(settings.folder or ""),
        parent=settings.parent,
        parent_call=settings.parent_call,
        change=settings.change,
    )


def greeting(settings: SessionSettings, tools: Toolset, session_id: str) -> SessionStart:
    """What the runner is told before its first turn."""
    return SessionStart(
        session_id=session_id,
        system=settings.system,
        tools=[dict(spec) for spec in tools.specs],
        files=dict(settings.files),
        turn_cap=settings.limits.calls,
        max_output_tokens=settings.model.max_output_tokens,
        temperature=settings.model.temperature,
        conversation_scope=settings.conversation_scope,
        context_window=settings.context_window,
        row=_as_json(settings.row_data),
        row_index=settings.row,
    )


def _as_json(row: Mapping[str, Any]) -> dict[str, Any] | None:
    """A row as JSON data: what no number of JSON is becomes null, other values their text."""
    if not row:
        return None
    data: dict[str, Any] = json.loads(json.dumps(row, default=str), parse_constant=lambda name: None)
    return data
