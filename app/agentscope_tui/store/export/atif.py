"""ATIF: a session as an Agent Trajectory Interchange Format document, and back to the same session.

Steps are what was said and done. What ATIF has no place for is in `extra.agentscope`: see `atif_fields.py`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, TextIO

from agentscope_tui.event_lines import KINDS, event_to_json
from agentscope_tui.events import LlmRequestSent, SessionEvent
from agentscope_tui.session.tally import Tally
from agentscope_tui.store.export.atif_fields import KEY, Object, Step, Trajectory
from agentscope_tui.store.export.atif_given_back import given_back, is_from_atif
from agentscope_tui.store.export.atif_steps import OpenStep, Steps
from agentscope_tui.store.export.formats import Choices
from agentscope_tui.store.export.source import STREAMED, Source

VERSION = "ATIF-v1.8"


def write(source: Source, out: TextIO, choices: Choices) -> bool:
    """Write the trajectory as JSON; always gives True: a session has a step."""
    steps, tally = Steps(), Tally()
    for event in source.events(without=STREAMED):
        steps.apply(event)
        tally.apply(event)
    steps.finish()
    if is_from_atif(steps):
        out.write(_json(given_back(steps, _agent(steps))) + "\n")
        return True
    agent = _agent(steps)
    built = [step.built(number) for number, step in enumerate(steps.steps, start=1)]
    trajectory = Trajectory(agent, built)
    head = {
        "schema_version": VERSION,
        "session_id": steps.started.session_id,
        "trajectory_id": source.name,
        "agent": agent,
    }
    out.write(_open(head) + ',\n "steps": [\n  ')
    for number, (step, one) in enumerate(zip(built, steps.steps, strict=True)):
        kept = list(_hollow(one, step, trajectory))
        step["extra"][KEY]["events"] = kept
        out.write((",\n  " if number else "") + _json(step))
    tail = {"final_metrics": _final_metrics(steps, tally), "extra": {KEY: _root(steps, tally)}}
    out.write("\n ],\n " + _json(tail)[1:] + "\n")
    return True


def _agent(steps: Steps) -> Object:
    started = steps.started
    agent: Object = {"name": started.runner or KEY, "version": started.version or "unknown"}
    if started.model:
        agent["model_name"] = started.model
    if started.tools:
        agent["tool_definitions"] = [
            tool if "function" in tool else {"type": "function", "function": tool} for tool in started.tools
        ]
    return agent


def _final_metrics(steps: Steps, tally: Tally) -> Object:
    metrics: Object = {
        "total_prompt_tokens": tally.input_tokens,
        "total_completion_tokens": tally.output_tokens,
        "total_cached_tokens": sum(one.cached_tokens for uses in steps.usages.values() for one in uses),
        "total_steps": len(steps.steps),
    }
    return metrics if tally.cost is None else metrics | {"total_cost_usd": tally.cost}


def _root(steps: Steps, tally: Tally) -> Object:
    """What a reader of the file wants to know of the session at once."""
    started = steps.started
    told = {
        "dataset": started.dataset,
        "row": started.row,
        "grader": started.grader,
        "reward": tally.reward,
        "outcome": tally.outcome,
        "turns": tally.turn,
        "calls": tally.call,
        "parent": started.parent or None,
        "parent_call": started.parent_call,
        "change": started.change or None,
    }
    return {"format": 1} | {name: value for name, value in told.items() if value is not None}


def _hollow(one: OpenStep, step: Step, trajectory: Trajectory) -> Iterator[Object]:
    """The events of a step without what ATIF's fields tell."""
    for event in one.events:
        data = json.loads(event_to_json(event))
        fields = trajectory.fields(data, step)
        kept = {
            name: value
            for name, value in data.items()
            if name not in ("session_id", *fields) and (name == "kind" or value != _default(event, name))
        }
        # What does not follow is told, also where it is a default.
        kept |= {name: data.get(name) for name, value in fields.items() if data.get(name) != value}
        if isinstance(event, LlmRequestSent) and event.messages:
            kept["messages"] = [trajectory.reference(message) for message in data["messages"]]
        yield kept


def _default(event: SessionEvent, name: str) -> Any:
    known = KINDS.get(event.kind)
    field = known.model_fields.get(name) if known else None
    return field.get_default(call_default_factory=True) if field and not field.is_required() else ...


def _open(value: Object) -> str:
    """JSON of an object that is not closed yet."""
    return _json(value)[:-1]


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
