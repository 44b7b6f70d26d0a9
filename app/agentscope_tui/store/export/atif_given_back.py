"""ATIF that was imported from ATIF: every field is where it was, also those that we know nothing of.

What events do not tell was kept in `extra` events, in the shape of the file: it is laid over what they tell.
"""

from __future__ import annotations

import re
from typing import Any

from agentscope_tui.store.export.atif_fields import Object
from agentscope_tui.store.export.atif_steps import Steps
from agentscope_tui.store.imports.atif import TRAJECTORY, step_about

_STEP = re.compile(re.escape(step_about(0)).replace("0", r"(\d+)"))
_OURS = ("extra", "llm_call_count", "is_copied_context")
"""Fields of a step that say nothing that the file said, unless it was kept."""
_NAMED = ("name", "version")
"""Fields of the agent that are kept."""


def is_from_atif(steps: Steps) -> bool:
    """Whether a session was read from another tool's ATIF."""
    return any(event.about == TRAJECTORY for event, _ in steps.extras)


def given_back(steps: Steps, agent: Object) -> Object:
    """The whole trajectory."""
    built = [
        _as_told(step.built(number), agent.get("model_name"))
        for number, step in enumerate(steps.steps, start=1)
    ]
    numbers = {
        id(event): int(match[1]) for event, _ in steps.extras if (match := _STEP.fullmatch(event.about))
    }
    # Numbers fit unless a step told nothing that is an event; then what was kept stays near where it was.
    fits = max(numbers.values(), default=0) <= len(built)
    for event, place in steps.extras:
        number = numbers.get(id(event))
        if number is not None:
            at = number - 1 if fits else max(place, 0)
            built[at] = merged(built[at], event.data)
    whole: Object = {"schema_version": "", "agent": {k: v for k, v in agent.items() if k not in _NAMED}}
    for tool in whole["agent"].get("tool_definitions", ()):
        if not tool["function"].get("description"):
            tool["function"] = {k: v for k, v in tool["function"].items() if k != "description"}
    for event, _ in steps.extras:
        if event.about == TRAJECTORY:
            whole = merged(whole, event.data)
    return whole | {"steps": built}


def _as_told(step: Object, model: str | None) -> Object:
    told = {name: value for name, value in step.items() if name not in _OURS}
    if model is not None and step["source"] == "agent" and step.get("llm_call_count") != 0:
        # Whether a step names the model that the agent names anyway is not kept.
        told.setdefault("model_name", model)
    if "metrics" in told and not told["metrics"].get("cached_tokens"):
        told["metrics"] = {k: v for k, v in told["metrics"].items() if k not in ("cached_tokens", "extra")}
    calls = [{k: v for k, v in call.items() if k != "extra"} for call in told.get("tool_calls", ())]
    return told | ({"tool_calls": calls} if calls else {})


def merged(told: Any, kept: Any) -> Any:
    """What was kept, laid over what is told: objects by their fields, lists of as many objects one by one."""
    if isinstance(told, dict) and isinstance(kept, dict):
        return told | {name: merged(told.get(name), value) for name, value in kept.items()}
    if isinstance(told, list) and isinstance(kept, list) and len(told) == len(kept):
        return [merged(one, other) for one, other in zip(told, kept, strict=True)]
    return kept
