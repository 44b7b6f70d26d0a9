"""Results of verifiers and rollouts of prime-rl: a line a rollout, with a prompt, a completion and a reward.

What a line has beside its messages, its reward and its tokens is kept under `ROLLOUT`.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from agentscope_tui.events import Graded, UsageReported
from agentscope_tui.store.imports.building import EventBuilder
from agentscope_tui.store.imports.fields import Fields, time_of
from agentscope_tui.store.imports.messages import as_text, take_tools
from agentscope_tui.store.imports.openai_chat import first_prompt, tell_chat
from agentscope_tui.store.imports.parts import Beginning
from agentscope_tui.store.imports.reading import Unreadable, parse_json
from agentscope_tui.store.imports.records import RecordFile, Records
from agentscope_tui.store.imports.trajectories import Summary

ROLLOUT = "rollout"
GRADER = "verifiers"


def is_rollout(value: Any) -> bool:
    """Whether a JSON value is a rollout."""
    match value:
        case {"prompt": list() | str() | None, "completion": list() | str() | None}:
            return "reward" in value or "example_id" in value
        case _:
            return False


class RolloutFile(RecordFile):
    """A rollout a record."""

    def __init__(self, records: Records) -> None:
        super().__init__(records, "verifiers results")

    def _summarize(self, record: Fields) -> Summary:
        return Summary(
            first_prompt(_messages(record.any("prompt"), "user")),
            record.number("reward"),
            record.text("model"),
        )

    def _tell_record(self, record: Fields, builder: EventBuilder) -> None:
        asked = _messages(record.any("prompt"), "user")
        answered = _messages(record.any("completion"), "assistant")
        began, ended = _times(record.peek("timing"))
        beginning = Beginning(
            model=record.text("model"),
            tools=take_tools(record, "tool_defs") or _old_tools(record),
            dataset=record.text("task"),
            row=record.whole("example_id"),
            grader=GRADER,
        )
        tell_chat(builder, _whole(asked, answered), beginning, began)
        builder.at(ended)
        _tell_usage(record, builder)
        _tell_end(record, builder)
        builder.extra(ROLLOUT, record.rest)


def _times(timing: Any) -> tuple[datetime | None, datetime | None]:
    """When the agent began and ended, which is all that is told of its times."""
    if not isinstance(timing, dict):
        return None, None
    span = timing.get("generation")
    span = span if isinstance(span, dict) else {}
    began = time_of(span.get("start")) or time_of(timing.get("start_time"))
    return began, time_of(span.get("end")) or began


def _messages(value: Any, role: str) -> list[Any]:
    """A conversation, or the only text of one; tool calls that are JSON text as what that says."""
    if isinstance(value, str):
        return [{"role": role, "content": value}]
    return [_read_calls(message) for message in value] if isinstance(value, list) else []


def _whole(asked: list[Any], answered: list[Any]) -> list[Any]:
    """The conversation; some environments tell the prompt again as the beginning of the completion."""
    again = list(map(_said, answered[: len(asked)])) == list(map(_said, asked))
    return answered if again else [*asked, *answered]


def _said(message: Any) -> Any:
    return (message.get("role"), message.get("content")) if isinstance(message, dict) else message


def _read_calls(message: Any) -> Any:
    calls = message.get("tool_calls") if isinstance(message, dict) else None
    if not isinstance(calls, list) or not any(isinstance(call, str) for call in calls):
        return message
    return {**message, "tool_calls": [_read_text(call) for call in calls]}


def _read_text(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return parse_json(value.encode())
    except Unreadable:
        return {"function": {"name": "unknown", "arguments": value}}


def _old_tools(record: Fields) -> list[dict[str, Any]]:
    """The tools where older versions kept them: `info.oai_tools`, which may be JSON text."""
    info = record.peek("info")
    tools = info.get("oai_tools") if isinstance(info, dict) else None
    return take_tools(Fields({"tools": _read_text(tools)}))


def _tell_usage(record: Fields, builder: EventBuilder) -> None:
    """The tokens of the whole rollout, told of its last call: they are not known by call."""
    usage = record.inner("token_usage")
    taken, made = usage.whole("input_tokens"), usage.whole("output_tokens")
    if builder.call and (taken or made):
        builder.usage(UsageReported(call=0, input_tokens=taken or 0, output_tokens=made or 0))
        builder.note("these are the tokens of the whole rollout", title="tokens")


def _tell_end(record: Fields, builder: EventBuilder) -> None:
    reason, problem = record.text("stop_condition"), record.any("error")
    if problem:
        builder.agent_error(first_line(problem), as_text(problem))
        builder.ends("failed", first_line(problem))
    elif record.peek("is_truncated") is True:
        builder.ends("limit", reason or "the answer was cut off")
    elif record.peek("is_completed") is False:
        builder.ends("interrupted", reason or "the rollout did not complete")
    else:
        builder.ends("completed", reason)
    reward = record.number("reward")
    if reward is not None:
        builder.grade(Graded(grader=GRADER, turn=0, reward=reward, metrics=take_numbers(record, "metrics")))


def take_numbers(record: Fields, name: str) -> dict[str, float]:
    """The numbers of an object, by their names."""
    numbers = record.inner(name)
    found = {key: numbers.number(key) for key in numbers.names}
    return {key: number for key, number in found.items() if number is not None}


def first_line(problem: Any) -> str:
    """What an error says, in one line."""
    if isinstance(problem, dict):
        told = [problem.get(name) for name in ("error", "type", "message", "error_chain_str")]
        return ": ".join(part for part in told if isinstance(part, str) and part) or "the rollout failed"
    return as_text(problem).strip().partition("\n")[0]
