"""The steps of an ATIF trajectory, as the events of a session begin them and add to them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any, Literal

from agentscope_tui.events import (
    AgentNote,
    AssistantMessage,
    Event,
    ExtraKept,
    LlmRequestSent,
    ModelChanged,
    SessionEvent,
    SessionStarted,
    Steer,
    ToolCallStarted,
    ToolResult,
    UsageReported,
    UserMessageSent,
)
from agentscope_tui.models.chat import Message, ToolCallPart
from agentscope_tui.session.steering import text_of
from agentscope_tui.store.export.atif_fields import KEY, Object
from agentscope_tui.store.imports.messages import content_text
from agentscope_tui.wire.arguments import parse_arguments

Source = Literal["system", "user", "agent"]


@dataclass
class OpenStep:
    """A step that may still get results. `mine` is what is ours in its `extra`."""

    source: Source
    message: Any
    at: Event | None
    mine: Object = field(default_factory=dict)
    events: list[SessionEvent] = field(default_factory=list)
    reasoning: str = ""
    model: str = ""
    tool_calls: list[Object] = field(default_factory=list)
    results: dict[str, Object] = field(default_factory=dict)
    uses: list[UsageReported] = field(default_factory=list)
    call: int | None = None
    copied: bool = False
    llm_calls: int | None = None

    def built(self, number: int) -> Object:
        """As ATIF has it, with room for our events."""
        step: Object = {"step_id": number}
        if self.at is not None:
            step["timestamp"] = self.at.at.isoformat().replace("+00:00", "Z")
        step["source"] = self.source
        if self.model:
            step["model_name"] = self.model
        step["message"] = self.message
        if self.reasoning:
            step["reasoning_content"] = self.reasoning
        if self.tool_calls:
            step["tool_calls"] = self.tool_calls
        if self.results:
            step["observation"] = {"results": list(self.results.values())}
        if self.uses:
            step["metrics"] = _metrics(self.uses)
        if self.copied:
            step["is_copied_context"] = True
        if self.llm_calls is not None:
            step["llm_call_count"] = self.llm_calls
        step["extra"] = {KEY: {**self.mine}}
        return step


class Steps:
    """Takes events; what begins no step belongs to the last one that began."""

    def __init__(self) -> None:
        self.started = SessionStarted(version="")
        self.steps: list[OpenStep] = []
        self.usages: dict[int, list[UsageReported]] = {}
        self.extras: list[tuple[ExtraKept, int]] = []
        """What was kept of another tool's file, each with the place of the step that it came after."""
        self._waiting: list[SessionEvent] = []
        self._replies: dict[int, OpenStep] = {}
        self._calls: dict[str, OpenStep] = {}
        self._said: dict[str, int] = {}
        self._model = ""

    def apply(self, event: SessionEvent) -> None:
        """Take one event."""
        match event:
            case SessionStarted():
                self._on_start(event)
            case UserMessageSent():
                self._begin(OpenStep("user", event.text, event, {"began": event.msg_id}))
                self._say(event.text)
            case Steer(status="in_call"):
                mine = {"began": event.msg_id, "steer": True}
                self._begin(OpenStep("user", event.text, event, mine))
            case LlmRequestSent():
                self._on_request(event)
            case AssistantMessage():
                self._on_reply(event)
            case UsageReported():
                self.usages.setdefault(event.call, []).append(event)
            case ToolCallStarted() if event.call_id not in self._calls:
                self._dispatch(event, event.call_id, event.name, event.arguments)
            case AgentNote(title=""):
                self._begin(OpenStep("agent", event.text, event, llm_calls=0))
            case ExtraKept():
                self.extras.append((event, len(self.steps) - 1))
            case ToolResult():
                self._on_result(event)
            case ModelChanged():
                self._model = event.model
            case Steer(status="queued" | "edited"):
                self._say(event.text)
            case _:
                pass
        self._keep(event)

    def finish(self) -> None:
        """All events were taken."""
        if not self.steps:
            self._begin(OpenStep("system", "", None))
        for call, step in self._replies.items():
            step.uses = self.usages.get(call, [])
        before = self.started.parent_call
        copied = False
        for step in reversed(self.steps) if before is not None else ():
            if step.call is not None:
                copied = step.call < (before or 0)
            step.copied = step.copied or copied

    def _begin(self, step: OpenStep) -> OpenStep:
        self.steps.append(step)
        step.events, self._waiting = self._waiting, []
        return step

    def _keep(self, event: SessionEvent) -> None:
        (self.steps[-1].events if self.steps else self._waiting).append(event)

    def _on_start(self, event: SessionStarted) -> None:
        self.started, self._model = event, event.model
        if event.system:
            self._begin(OpenStep("system", event.system, event, {"began": "system"}))
            self._say(event.system)
        for message in event.history:
            self._on_earlier(message, event)

    def _on_earlier(self, message: Message, event: Event) -> None:
        """A message of the conversation that the session began with."""
        text, mine = text_of(message), {"earlier": True}
        match message.get("role"):
            case "assistant":
                calls = [ToolCallPart.model_validate(call) for call in message.get("tool_calls") or ()]
                step = self._begin(OpenStep("agent", text, event, mine, copied=True))
                self._propose(step, calls)
            case "tool" if step_of := self._calls.get(call_id := str(message.get("tool_call_id"))):
                step_of.results[call_id] = {"source_call_id": call_id, "content": text}
            case "user" | "system" as role:
                self._begin(OpenStep(role, text, event, mine, copied=True))
                self._say(text)
            case _:
                self._begin(OpenStep("system", text, event, mine, copied=True))

    def _on_request(self, event: LlmRequestSent) -> None:
        """What the agent put into its request on its own is said too."""
        if event.call == 1 and event.attempt == 1:
            self._split_system(event.messages)
        for message in event.messages if event.attempt == 1 else ():
            if (role := message.get("role")) not in ("system", "developer", "user"):
                continue
            text = content_text(message.get("content"))
            told = next((one for one in (text, text_of(message)) if self._said.get(one)), None)
            if told is not None:
                self._said[told] -= 1
            else:
                source: Source = "user" if role == "user" else "system"
                self._begin(OpenStep(source, text, event, {"from": "agent"}))

    def _split_system(self, sent: list[Message]) -> None:
        """Several system messages are as many steps, though a session tells of them as one prompt."""
        leading = takewhile(lambda message: message.get("role") == "system", sent)
        texts = [text_of(message) for message in leading]
        if len(texts) > 1 and "\n\n".join(texts) == self.started.system:
            self.steps[0].message = texts[0]
            self.steps[1:1] = [OpenStep("system", text, self.started) for text in texts[1:]]
            for text in texts:
                self._say(text)

    def _on_reply(self, event: AssistantMessage) -> None:
        step = self._replies.get(event.call)
        if step is None:
            step = self._replies[event.call] = self._begin(
                OpenStep("agent", "", event, {"call": event.call}, call=event.call, llm_calls=1)
            )
        step.message, step.reasoning = event.text, event.reasoning
        step.model = self._model if self._model != self.started.model else ""
        marks = {"partial": event.partial, "edited": event.edited}
        step.mine |= {name: True for name, mark in marks.items() if mark}
        results = step.results
        step.tool_calls, step.results = [], {}
        self._propose(step, event.tool_calls)
        known = {call["tool_call_id"] for call in step.tool_calls}
        step.results = {call_id: result for call_id, result in results.items() if call_id in known}

    def _propose(self, step: OpenStep, calls: list[ToolCallPart]) -> None:
        for part in calls:
            step.tool_calls.append(_tool_call(part))
            self._calls[part.id] = step

    def _on_result(self, event: ToolResult) -> None:
        step = self._calls.get(event.call_id) or self._dispatch(event, event.call_id, event.name, {})
        result: Object = {"source_call_id": event.call_id, "content": event.content}
        told = {
            "status": event.status if event.status != "done" else "",
            "is_error": event.is_error,
            "edited": event.edited,
        }
        if mine := {name: value for name, value in told.items() if value}:
            result["extra"] = {KEY: mine}
        step.results[event.call_id] = result

    def _dispatch(self, event: Event, call_id: str, name: str, arguments: Object) -> OpenStep:
        """A tool that runs without a model having proposed it: in one step with those around it."""
        last = self.steps[-1] if self.steps else None
        if last is None or last.llm_calls != 0 or any(isinstance(one, ExtraKept) for one in last.events):
            last = self._begin(OpenStep("agent", "", event, llm_calls=0))
        step = last
        step.tool_calls.append({"tool_call_id": call_id, "function_name": name, "arguments": arguments})
        self._calls[call_id] = step
        return step

    def _say(self, text: str) -> None:
        """A request may carry this text: it needs no step for it."""
        self._said[text] = self._said.get(text, 0) + 1


def _tool_call(part: ToolCallPart) -> Object:
    text = part.function.arguments
    call: Object = {"tool_call_id": part.id, "function_name": part.function.name}
    written = ""
    try:
        call["arguments"] = parse_arguments(text)
        written = json.dumps(call["arguments"], ensure_ascii=False, allow_nan=False)
    except ValueError:
        # No JSON object, or one with numbers that JSON does not know.
        call["arguments"] = {}
    if written != text:
        call["extra"] = {KEY: {"arguments": text}}
    return call


def _metrics(uses: list[UsageReported]) -> Object:
    metrics: Object = {
        "prompt_tokens": sum(one.input_tokens for one in uses),
        "completion_tokens": sum(one.output_tokens for one in uses),
        "cached_tokens": sum(one.cached_tokens for one in uses),
    }
    costs = [one.cost for one in uses if one.cost is not None]
    if costs:
        metrics["cost_usd"] = sum(costs)
    if reasoning := sum(one.reasoning_tokens for one in uses):
        metrics["extra"] = {"reasoning_tokens": reasoning}
    return metrics
