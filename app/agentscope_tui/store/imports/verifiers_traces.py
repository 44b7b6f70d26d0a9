"""Traces of verifiers 1: a line an episode, each with the traces of its agents, each a graph of messages.

A trace is a trajectory; an episode without one is a trajectory too, so that its errors are seen. What is left
of a trace is kept under `TRACE`, of its episode under `EPISODE`, of a call and of a message under `about`.
"""

from __future__ import annotations

import re
from array import array
from typing import Any

from agentscope_tui.events import Graded, UsageReported
from agentscope_tui.models.chat import Message
from agentscope_tui.store.imports.building import EventBuilder
from agentscope_tui.store.imports.exchanged import Exchanged, Said
from agentscope_tui.store.imports.fields import Fields, number_of, time_of
from agentscope_tui.store.imports.messages import SYSTEM, as_text, sendable, take_tools, text_of
from agentscope_tui.store.imports.openai_chat import answer_of, tell_role
from agentscope_tui.store.imports.parts import Beginning
from agentscope_tui.store.imports.reading import LineFile, Unreadable
from agentscope_tui.store.imports.trajectories import Summary, Trajectories
from agentscope_tui.store.imports.verifiers import GRADER, first_line, take_numbers

TRACE = "trace"
EPISODE = "episode"
_GRAPH = re.compile(rb'"nodes"\s*:\s*\[')
_MOST = 2_000_000
"""Messages in all requests together: a graph of a few lines could stand for any number."""


def is_episode(value: Any) -> bool:
    """Whether a JSON value is an episode, or a trace by itself."""
    match value:
        case {"traces": list(), "task": _} | {"nodes": [{"message": dict()}, *_]}:
            return True
        case _:
            return False


class TraceFile(Trajectories):
    """The traces of all episodes, in their order."""

    def __init__(self, lines: LineFile) -> None:
        super().__init__(lines.path, "verifiers traces")
        self._lines = lines
        self._places = array("Q")
        """The line of each trace, and which of its traces it is."""
        for place in range(len(lines)):
            for number in range(_count(lines, place)):
                self._places.extend((place, number))

    def __len__(self) -> int:
        return len(self._places) // 2

    def summary(self, number: int) -> Summary:
        place, which = self._places[2 * number : 2 * number + 2]
        try:
            episode = self._lines.value(place)
        except Unreadable as problem:
            return Summary(problem=f"line {self._lines.number(place)}: {problem}")
        traces = _traces(episode)
        trace = traces[which] if which < len(traces) else {}
        nodes = [node for node in _list(trace, "nodes") if isinstance(node, dict)]
        messages = [sendable(node.get("message")) for node in nodes]
        prompts = (text_of(message) for message in messages if message["role"] == "user")
        return Summary(next(filter(None, prompts), ""), _reward(trace), _model(trace))

    def _tell(self, number: int, builder: EventBuilder) -> None:
        place, which = self._places[2 * number : 2 * number + 2]
        where = f"line {self._lines.number(place)}"
        try:
            value = self._lines.value(place)
        except Unreadable as problem:
            builder.fails(f"{where} of the file cannot be read: {problem}")
            return
        traces = _traces(value)
        episode = {name: item for name, item in value.items() if name != "traces"} if traces else value
        if which < len(traces) and isinstance(traces[which], dict):
            tell_trace(Fields(traces[which]), builder)
            builder.extra(EPISODE, None if traces[which] is value else episode)
        else:
            builder.fails(f"{where} of the file has no trace")
            builder.extra(EPISODE, episode)


def _count(lines: LineFile, place: int) -> int:
    """How many traces a line has; looked at closely only where there may be several. At least one: the
    episode itself."""
    found = len(_GRAPH.findall(lines.line(place)))
    if found < 2:
        return 1
    try:
        return max(len(_traces(lines.value(place))), 1)
    except Unreadable:
        return 1


def _traces(episode: Any) -> list[Any]:
    """The traces of an episode; a trace by itself is one."""
    if isinstance(episode, dict) and "nodes" in episode:
        return [episode]
    return _list(episode, "traces")


def _list(value: Any, name: str) -> list[Any]:
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, list) else []


def _reward(trace: Any) -> float | None:
    """The sum of the rewards by their weights."""
    rewards = trace.get("rewards") if isinstance(trace, dict) else None
    parts = []
    for part in rewards.values() if isinstance(rewards, dict) else ():
        score = number_of(part.get("score")) if isinstance(part, dict) else number_of(part)
        weight = number_of(part.get("weight")) if isinstance(part, dict) else None
        if score is not None:
            parts.append(score * (1.0 if weight is None else weight))
    return sum(parts) if parts else None


def _model(trace: Any) -> str:
    models = (call.get("model") for call in _list(trace, "calls") if isinstance(call, dict))
    return next((model for model in models if isinstance(model, str)), "")


def tell_trace(trace: Fields, builder: EventBuilder) -> None:
    """Tell one trace: its calls in their order, each with the path of messages that led to it."""
    reward, model = _reward({"rewards": trace.peek("rewards")}), _model({"calls": trace.peek("calls")})
    graph = _Graph(trace.items("nodes"))
    calls = [Fields(call) for call in trace.items("calls")] or graph.calls()
    nodes = [Fields(call.rest).whole("node") for call in calls]
    system = [said for said in graph.path(nodes[0]) if said.sent["role"] in SYSTEM] if nodes else []
    timing = trace.peek("timing")
    beginning = Beginning(
        runner=trace.inner("agent").text("name"),
        model=model,
        system=[said.sent for said in system],
        tools=take_tools(trace),
        grader=GRADER if reward is not None else None,
    )
    builder.start(beginning, time_of(timing.get("start")) if isinstance(timing, dict) else None)
    exchanged = Exchanged(builder, _tell_message)
    for said in system:
        exchanged.know(said.key)
    for number, (call, node) in enumerate(zip(calls, nodes, strict=True), start=1):
        _tell_call(call, node, graph, exchanged)
        builder.aside("calls", f"call {number}", call.rest)
    for said in graph.said:
        exchanged.tell_late(said)
    _tell_end(trace, builder, reward)
    for place, rest in enumerate(graph.rests):
        builder.aside("nodes", f"node {place}", rest)
    builder.extra(TRACE, trace.rest)


class _Graph:
    """The messages of a trace, each with the one before it."""

    def __init__(self, nodes: list[Any]) -> None:
        self._nodes = [Fields(node) for node in nodes]
        self.said = [
            Said(place, node.any("message"), sendable(Fields(nodes[place]).any("message")))
            for place, node in enumerate(self._nodes)
        ]
        self._parents = [node.whole("parent") for node in self._nodes]
        self._left = _MOST

    @property
    def rests(self) -> list[Any]:
        """What is left of each node."""
        return [node.rest for node in self._nodes]

    def calls(self) -> list[Fields]:
        """The calls where the file lists none: one for each message that a model made."""
        return [
            Fields({"node": place}) for place, node in enumerate(self._nodes) if node.peek("sampled") is True
        ]

    def path(self, node: int | None) -> list[Said]:
        """The messages before a node, from the first one on."""
        path: list[Said] = []
        seen: set[int] = set()
        place = self._parent(node)
        while place is not None and place not in seen and self._left:
            self._left -= 1
            seen.add(place)
            path.append(self.said[place])
            place = self._parent(place)
        return path[::-1]

    def _parent(self, node: int | None) -> int | None:
        parent = self._parents[node] if node is not None and node < len(self._parents) else None
        return parent if parent is not None and parent < len(self.said) else None


def _tell_call(call: Fields, node: int | None, graph: _Graph, exchanged: Exchanged) -> None:
    builder = exchanged.builder
    time = call.inner("time")
    builder.at(time.time("start"))
    exchanged.ask(graph.path(node), call.text("model"), params=call.inner("sampling").rest)
    call.drop("sampling")
    builder.at(time.time("end"))
    problem = call.any("error")
    if problem is not None:
        builder.model_error(first_line(problem), as_text(problem))
        return
    if node is None or node >= len(graph.said):
        builder.model_error("the file does not have the answer of this call")
        return
    said = graph.said[node]
    exchanged.know(said.key)
    message = Fields(said.value)
    message.drop("role")
    answer = answer_of(message, said.sent)
    answer.finish_reason = call.text("finish_reason") or None
    builder.answer(answer)
    builder.extra(f"node {node}", message.rest, call=builder.call)
    usage = call.inner("usage")
    if usage.names:
        cached = usage.whole("cached_input_tokens") or 0
        builder.usage(
            UsageReported(
                call=0,
                input_tokens=(usage.whole("prompt_tokens") or 0) + cached,
                output_tokens=usage.whole("completion_tokens") or 0,
                cached_tokens=cached,
                reasoning_tokens=usage.whole("reasoning_tokens") or 0,
                cost=usage.number("cost"),
            )
        )


def _tell_message(builder: EventBuilder, message: Fields, sent: Message) -> None:
    tell_role(builder, message, sent["role"], sent)
    builder.extra("message", message.rest)


def _tell_end(trace: Fields, builder: EventBuilder, reward: float | None) -> None:
    reason, problems = trace.text("stop_condition"), trace.items("errors")
    for problem in problems:
        builder.agent_error(first_line(problem), as_text(problem))
    if trace.peek("ok") is False and problems:
        builder.ends("failed", first_line(problems[-1]))
    elif trace.peek("is_completed") is False:
        builder.ends("interrupted", reason or "the rollout did not complete")
    else:
        builder.ends("completed", reason)
    if reward is not None:
        builder.grade(Graded(grader=GRADER, turn=0, reward=reward, metrics=take_numbers(trace, "metrics")))
