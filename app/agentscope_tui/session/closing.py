"""How a session lets go of what it used."""

from __future__ import annotations

import logging
from collections.abc import Callable

from agentscope_tui.events import ErrorOccurred, Event
from agentscope_tui.models.chat import Model
from agentscope_tui.tools.spec import Toolset

log = logging.getLogger(__name__)


async def release(name: str, resource: Toolset | Model, publish: Callable[[Event], Event]) -> None:
    """Close a resource; when that fails, the session ends all the same and tells it."""
    try:
        await resource.aclose()
    except Exception as error:
        log.exception("closing the %s failed", name)
        message = f"closing the {name} failed: {type(error).__name__}: {error}"
        publish(ErrorOccurred(source="session", message=message))
