"""ATIF, the Agent Trajectory Interchange Format, versions 1.0 to 1.8: one JSON object.

What is left of the file is kept under the words of `TRAJECTORY` and `step_about`: an object in the shape of
the trajectory, or of the step, without what other events tell.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentscope_tui.events import UsageReported
from agentscope_tui.models.chat import Message
from agentscope_tui.store.imports.building import EventBuilder
from agentscope_tui.store.imports.fields import Fields, time_of
from agentscope_tui.store.imports.messages import as_text, assistant_message, take_content, take_tools
from agentscope_tui.store.imports.our_atif import restored
from agentscope_tui.store.imports.parts import Action, Answer, Beginning, Outcome, ProposedCall
from agentscope_tui.store.imports.trajectories import Summary, Trajectories, summary_of

TRAJECTORY = "ATIF trajectory"
OBSERVATION = "observation"
"""The name of the tool whose result names no tool call."""
_VERSION = re.compile(r"ATIF-v\d")


def step_about(number: int) -> str:
    """What an `extra` is about that keeps the rest of a step."""
    return f"ATIF step {number}"


def is_atif(value: Any) -> bool:
    """Whether a JSON value is a trajectory."""
    match value:
        case {"schema_version": str(version), "steps": list()}:
            return _VERSION.match(version) is not None
        case _:
            return False


@dataclass(frozen=True)
class _Part:
    """One trajectory of the file, and the number of the one that it was a subagent of."""

    value: dict[str, Any]
    parent: int | None


class AtifFile(Trajectories):
    """The trajectory, and after it those of its subagents."""

    def __init__(self, path: Path, value: dict[str, Any]) -> None:
        super().__init__(path, str(value["schema_version"]).replace("-v", " "))
        self._parts = list(_parts(value, None, 0))

    def __len__(self) -> int:
        return len(self._parts)

    def summary(self, number: int) -> Summary:
        value = self._parts[number].value
        if (events := restored(value)) is not None:
            return summary_of(events)
        trajectory = Fields(value)
        steps = [Fields(step) for step in trajectory.items("steps")]
        prompts = [take_content(step, "message") for step in steps if step.peek("source") == "user"]
        model = trajectory.inner("agent").text("model_name")
        return Summary(next(filter(None, prompts), ""), model=model)

    def _tell(self, number: int, builder: EventBuilder) -> None:
        part = self._parts[number]
        if (events := restored(part.value)) is not None:
            builder.adopt(events)
            return
        links = {
            str(child.value.get("trajectory_id")): place
            for place, child in enumerate(self._parts, start=1)
            if child.parent == number
        }
        tell_trajectory(part.value, builder, links, part.parent)


def _parts(value: dict[str, Any], parent: int | None, number: int) -> Iterator[_Part]:
    """A trajectory that is to be number `number`, and all below it."""
    children = value.get("subagent_trajectories")
    below = [child for child in children if is_atif(child)] if isinstance(children, list) else []
    own = dict(value)
    if below and isinstance(children, list) and len(below) == len(children):
        del own["subagent_trajectories"]
    yield _Part(own, parent)
    place = number + 1
    for child in below:
        parts = list(_parts(child, number, place))
        yield from parts
        place += len(parts)


def tell_trajectory(
    value: dict[str, Any], builder: EventBuilder, links: dict[str, int], parent: int | None
) -> None:
    """Tell one trajectory. `links`: which number in the file a subagent's id is, from 1."""
    trajectory = Fields(value)
    steps = [Fields(step) for step in trajectory.items("steps")]
    agent = trajectory.inner("agent")
    system = _leading(steps, 0, lambda step: step.peek("source") == "system" and not step.has("observation"))
    copied = _leading(steps, system, lambda step: step.peek("is_copied_context") is True)
    while copied > system and steps[copied - 1].peek("source") != "agent":
        # Nothing was answered yet: this is what the first turn asks.
        copied -= 1
    names = (agent.peek("name"), agent.peek("version"))
    builder.start(
        Beginning(
            runner=" ".join(name for name in names if isinstance(name, str)),
            model=agent.text("model_name"),
            system=[{"role": "system", "content": take_content(step, "message")} for step in steps[:system]],
            history=[message for step in steps[system:copied] for message in _copied_messages(step)],
            tools=take_tools(agent, "tool_definitions"),
        ),
        next(filter(None, (time_of(step.peek("timestamp")) for step in steps)), None),
    )
    builder.extra(TRAJECTORY, trajectory.rest)
    if parent is not None:
        builder.note(f"this is a subagent of trajectory {parent + 1} of the file", title="subagent")
    for number, step in enumerate(steps, start=1):
        if number <= system:
            step.drop("source", "step_id")
        elif number > copied:
            _tell_step(builder, step, number)
        builder.extra(step_about(number), step.rest, call=builder.call or None)
        for found in _subagents(step.rest, links):
            builder.note(f"a subagent ran: trajectory {found} of the file", title="subagent")


def _leading(steps: Sequence[Fields], start: int, fits: Any) -> int:
    """Where the steps from `start` on that fit end."""
    place = start
    while place < len(steps) and fits(steps[place]):
        place += 1
    return place


def _copied_messages(step: Fields) -> Iterator[Message]:
    """The messages of a step that was copied from an earlier trajectory. The step itself is kept whole."""
    step = Fields(step.rest)
    text = take_content(step, "message")
    if step.peek("source") != "agent":
        yield {"role": "user" if step.peek("source") == "user" else "system", "content": text}
        return
    yield assistant_message(Answer(text, calls=_calls(step)))
    for result in step.inner("observation").each("results"):
        call_id, content = result.text("source_call_id"), take_content(result)
        if call_id:
            yield {"role": "tool", "tool_call_id": call_id, "content": content}
        else:
            yield {"role": "user", "content": content}


def _tell_step(builder: EventBuilder, step: Fields, number: int) -> None:
    source = step.peek("source")
    if step.peek("step_id") == number:
        step.drop("step_id")
    if source not in ("system", "user", "agent") or not isinstance(step.peek("message"), str | list):
        builder.problem(f"step {number} cannot be read: it has no source or no message that is known")
        return
    step.drop("source")
    builder.at(step.time("timestamp"))
    content = step.peek("message")
    text = take_content(step, "message")
    if source == "user":
        builder.user(text, {"role": "user", "content": content})
    elif source == "system":
        if text:
            builder.system({"role": "system", "content": content})
    elif step.peek("llm_call_count") == 0:
        if text:
            builder.note(text)
        _tell_dispatch(builder, step)
        return
    else:
        _tell_answer(builder, step, text)
    for result in step.inner("observation").each("results"):
        _tell_result(builder, result)


def _tell_answer(builder: EventBuilder, step: Fields, text: str) -> None:
    answer = Answer(text, step.text("reasoning_content"), _calls(step))
    builder.answer(answer, model=step.text("model_name"))
    metrics = step.inner("metrics")
    if any(metrics.has(name) for name in ("prompt_tokens", "completion_tokens", "cost_usd")):
        builder.usage(
            UsageReported(
                call=0,
                input_tokens=metrics.whole("prompt_tokens") or 0,
                output_tokens=metrics.whole("completion_tokens") or 0,
                cached_tokens=metrics.whole("cached_tokens") or 0,
                cost=metrics.number("cost_usd"),
            )
        )


def _calls(step: Fields) -> list[ProposedCall]:
    return [
        ProposedCall(call.text("tool_call_id"), call.text("function_name"), as_text(call.any("arguments")))
        for call in step.each("tool_calls")
    ]


def _tell_result(builder: EventBuilder, result: Fields) -> None:
    """A result without an id is that of the first call without a result, or of no call."""
    call_id = result.text("source_call_id") or builder.next_result
    content = result.peek("content")
    outcome = Outcome(call_id or "", take_content(result))
    if call_id:
        builder.tool_result(outcome, {"role": "tool", "tool_call_id": call_id, "content": content or ""})
    else:
        builder.action(Action(OBSERVATION, {}, outcome), {"role": "user", "content": content or ""})


def _tell_dispatch(builder: EventBuilder, step: Fields) -> None:
    """What an agent did without asking a model."""
    results = step.inner("observation").each("results")
    for call in step.each("tool_calls"):
        call_id, arguments = call.text("tool_call_id"), call.peek("arguments")
        if isinstance(arguments, dict):
            call.drop("arguments")
        own = [result for result in results if result.peek("source_call_id") == call_id]
        texts = []
        for result in own:
            result.drop("source_call_id")
            texts.append(take_content(result))
        outcome = Outcome(call_id, "\n".join(texts))
        arguments = arguments if isinstance(arguments, dict) else {}
        builder.action(Action(call.text("function_name"), arguments, outcome))
    for result in results:
        if result.has("source_call_id") or result.has("content"):
            _tell_result(builder, result)


def _subagents(rest: Any, links: dict[str, int]) -> Iterator[int]:
    """The numbers of the subagents that a step's results refer to."""
    match rest:
        case {"observation": {"results": list(results)}}:
            for result in results:
                refs = result.get("subagent_trajectory_ref") if isinstance(result, dict) else None
                for ref in refs if isinstance(refs, list) else ():
                    found = links.get(str(ref.get("trajectory_id"))) if isinstance(ref, dict) else None
                    if found is not None:
                        yield found
        case _:
            pass
