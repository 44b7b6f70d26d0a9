"""OpenAI's Responses for clients of the endpoint: completions written as items."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import count
from typing import Any, Literal

from agentscope_tui.runners.loopback.api import Answer, event, openai_error
from agentscope_tui.runners.loopback.responses_request import read_request

Item = dict[str, Any]

_INCOMPLETE = {"length": "max_output_tokens", "content_filter": "content_filter"}
_ECHOED = ("instructions", "metadata", "temperature", "top_p", "max_output_tokens", "reasoning", "text")


class ResponsesApi:
    """`POST /v1/responses`."""

    kind: Literal["openai", "anthropic"] = "openai"
    ping = b": ping\n\n"

    def read(self, body: dict[str, Any]) -> dict[str, Any]:
        return read_request(body)

    def whole(self, answer: Answer) -> dict[str, Any]:
        cause = _INCOMPLETE.get(answer.finish_reason)
        return {
            **_head(answer),
            "status": "incomplete" if cause else "completed",
            "incomplete_details": {"reason": cause} if cause else None,
            "output": _items(answer),
            "usage": _usage(answer),
        }

    def events(self, answer: Answer) -> Iterator[bytes]:
        numbers = count()

        def told(kind: str, **fields: Any) -> bytes:
            return event({"type": kind, "sequence_number": next(numbers), **fields}, kind)

        yield told("response.created", response=_head(answer))
        yield told("response.in_progress", response=_head(answer))
        whole = self.whole(answer)
        for index, item in enumerate(whole["output"]):
            place = {"output_index": index}
            yield told("response.output_item.added", **place, item=_begun(item))
            for kind, fields in _pieces(item):
                yield told(kind, item_id=item["id"], **place, **fields)
            yield told("response.output_item.done", **place, item=item)
        yield told(f"response.{whole['status']}", response=whole)

    def error(self, message: str, code: str) -> dict[str, Any]:
        return openai_error(message, code)

    def error_event(self, message: str, code: str) -> bytes:
        fields = {"type": "error", "code": code, "message": message, "param": None, "sequence_number": 0}
        return event(fields, "error")


def _head(answer: Answer) -> dict[str, Any]:
    asked = answer.asked
    return {
        "id": f"resp_{answer.id}",
        "object": "response",
        "created_at": answer.created,
        "status": "in_progress",
        "error": None,
        "incomplete_details": None,
        "model": answer.model,
        "output": [],
        "parallel_tool_calls": asked.get("parallel_tool_calls", True),
        "previous_response_id": None,
        "store": False,
        "tool_choice": asked.get("tool_choice", "auto"),
        "tools": asked.get("tools") or [],
        "truncation": "disabled",
        "usage": None,
        **{name: asked.get(name) for name in _ECHOED},
    }


def _items(answer: Answer) -> list[Item]:
    """Reasoning, text and calls. What of the message has no place in these is hidden in the first, so that it
    comes back with the next request."""
    items: list[Item] = []
    kept = {
        name: value
        for name, value in answer.message.items()
        if name not in ("role", "content", "tool_calls") and value
    }
    if kept or answer.thought:
        summary = [{"type": "summary_text", "text": answer.thought}] if answer.thought else []
        hidden = json.dumps(kept)
        items.append(
            {"id": f"rs_{answer.id}", "type": "reasoning", "summary": summary, "encrypted_content": hidden}
        )
    if answer.text or not answer.tool_calls:
        part = {"type": "output_text", "text": answer.text, "annotations": [], "logprobs": []}
        items.append(
            {
                "id": f"msg_{answer.id}",
                "type": "message",
                "role": "assistant",
                "status": "completed",
                "content": [part],
            }
        )
    for number, call in enumerate(answer.tool_calls):
        items.append(
            {
                "id": f"fc_{answer.id}_{number}",
                "type": "function_call",
                "status": "completed",
                "call_id": call["id"],
                "name": call["function"]["name"],
                "arguments": call["function"]["arguments"],
            }
        )
    return items


def _begun(item: Item) -> Item:
    """The item before anything of it was streamed."""
    match item["type"]:
        case "message":
            return {**item, "status": "in_progress", "content": []}
        case "function_call":
            return {**item, "status": "in_progress", "arguments": ""}
        case _:
            return {**item, "summary": []}


def _pieces(item: Item) -> Iterator[tuple[str, dict[str, Any]]]:
    """The events between an item's start and its end."""
    match item["type"]:
        case "message":
            part = item["content"][0]
            place = {"content_index": 0}
            text = part["text"]
            yield "response.content_part.added", {**place, "part": {**part, "text": ""}}
            if text:
                yield "response.output_text.delta", {**place, "delta": text, "logprobs": []}
            yield "response.output_text.done", {**place, "text": text, "logprobs": []}
            yield "response.content_part.done", {**place, "part": part}
        case "function_call":
            arguments = item["arguments"]
            yield "response.function_call_arguments.delta", {"delta": arguments}
            yield "response.function_call_arguments.done", {"arguments": arguments, "name": item["name"]}
        case _:
            for part in item["summary"]:
                place = {"summary_index": 0}
                yield "response.reasoning_summary_part.added", {**place, "part": {**part, "text": ""}}
                yield "response.reasoning_summary_text.delta", {**place, "delta": part["text"]}
                yield "response.reasoning_summary_text.done", {**place, "text": part["text"]}
                yield "response.reasoning_summary_part.done", {**place, "part": part}


def _usage(answer: Answer) -> dict[str, Any]:
    given, cached, written, reasoning = answer.tokens
    return {
        "input_tokens": given,
        "input_tokens_details": {"cached_tokens": cached},
        "output_tokens": written,
        "output_tokens_details": {"reasoning_tokens": reasoning},
        "total_tokens": given + written,
    }
