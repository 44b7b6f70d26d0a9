"""What of our events stands in the fields of an ATIF trajectory: left out when written, put back when read.

Each step keeps, in `extra.agentscope.events`, the events from its beginning to that of the next step: without
`session_id`, without fields at their default, and without those fields whose value follows from the fields of
ATIF. So nothing is there twice, and who changes a step in another tool finds that here.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from agentscope_tui.models.chat import Message

KEY = "agentscope"
"""The key of ours in each `extra`."""

Step = dict[str, Any]
Object = dict[str, Any]


def ours(owner: Object) -> Object:
    """What is ours in the `extra` of a step, tool call, result or trajectory; empty if nothing is."""
    extra = owner.get("extra")
    found = extra.get(KEY) if isinstance(extra, dict) else None
    return found if isinstance(found, dict) else {}


def arguments_text(call: Object) -> str:
    """The arguments of a tool call as the model wrote them."""
    kept = ours(call).get("arguments")
    return kept if isinstance(kept, str) else json.dumps(call.get("arguments"), ensure_ascii=False)


def proposals_of(step: Step) -> list[Object]:
    """The tool calls of a step as an assistant message has them."""
    return [
        {
            "id": call.get("tool_call_id"),
            "type": "function",
            "function": {"name": call.get("function_name"), "arguments": arguments_text(call)},
        }
        for call in step.get("tool_calls") or ()
    ]


def message_of(step: Step) -> Message:
    """A step as a message of a later request."""
    text, source = step.get("message"), step.get("source")
    if source != "agent":
        return {"role": source, "content": text}
    calls = proposals_of(step)
    return {"role": "assistant", "content": text or (None if calls else "")} | (
        {"tool_calls": calls} if calls else {}
    )


class Trajectory:
    """The steps of a trajectory, by what events name: the number of a model call, the id of a tool call."""

    def __init__(self, agent: Object, steps: Iterable[Step]) -> None:
        self._agent = agent
        self._replies: dict[int, Step] = {}
        self._calls: dict[str, Object] = {}
        self._results: dict[str, Object] = {}
        self._messages: dict[str, Message] = {}
        self._references: dict[str, Object] = {}
        for step in steps:
            self._add(step)

    def _add(self, step: Step) -> None:
        if isinstance(call := ours(step).get("call"), int):
            self._replies[call] = step
        self._refer({"step": step.get("step_id")}, message_of(step))
        for call in step.get("tool_calls") or ():
            self._calls[str(call.get("tool_call_id"))] = call
        for result in (step.get("observation") or {}).get("results") or ():
            call_id = str(result.get("source_call_id"))
            self._results[call_id] = result
            content = result.get("content")
            self._refer(
                {"result": call_id}, {"role": "tool", "tool_call_id": call_id, "content": content or ""}
            )

    def _refer(self, reference: Object, message: Message) -> None:
        self._references.setdefault(_canonical(message), reference)
        self._messages[_canonical(reference)] = message

    def reference(self, message: Message) -> Object:
        """What stands for a message in our part: where in ATIF's part it is, else the message itself."""
        return self._references.get(_canonical(message), message)

    def referred(self, reference: Object) -> Message:
        """The message that `reference` gave this for.

        Raises:
            KeyError: there is no such step or result.
        """
        return reference if "role" in reference else self._messages[_canonical(reference)]

    def fields(self, event: Object, step: Step) -> Object:
        """The values of an event's fields that follow from ATIF's; `step` is the one that it began, or that
        it came after."""
        match event.get("kind"):
            case "session_started":
                return self._fields_of_start(step)
            case "user_message" | "steer" if ours(step).get("began") == event.get("msg_id"):
                return {"text": step.get("message")}
            case "assistant_message" if reply := self._replies.get(event["call"]):
                return {
                    "text": reply.get("message"),
                    "reasoning": reply.get("reasoning_content") or "",
                    "tool_calls": proposals_of(reply),
                }
            case "usage" if reply := self._replies.get(event["call"]):
                return _fields_of_usage(reply.get("metrics") or {})
            case "tool_call" if call := self._calls.get(event["call_id"]):
                return {"name": call.get("function_name"), "arguments": call.get("arguments")}
            case "tool_result" if (call_id := event["call_id"]) in self._results:
                call = self._calls.get(call_id, {})
                return {"name": call.get("function_name"), "content": self._results[call_id].get("content")}
            case _:
                return {}

    def _fields_of_start(self, step: Step) -> Object:
        tools = [tool.get("function", tool) for tool in self._agent.get("tool_definitions") or ()]
        fields = {"tools": tools, "model": self._agent.get("model_name") or ""}
        return fields | ({"system": step.get("message")} if ours(step).get("began") == "system" else {})


def _fields_of_usage(metrics: Object) -> Object:
    return {
        "input_tokens": metrics.get("prompt_tokens"),
        "output_tokens": metrics.get("completion_tokens"),
        "cached_tokens": metrics.get("cached_tokens") or 0,
        "cost": metrics.get("cost_usd"),
    }


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
