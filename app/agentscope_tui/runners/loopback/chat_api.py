"""OpenAI's Chat Completions for clients of the endpoint: the host speaks it too, so little is changed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from agentscope_tui.runners.loopback.api import Answer, Refusal, event, objects, openai_error, refuse

_NEVER = ("functions", "function_call", "logprobs", "top_logprobs", "audio")


class ChatApi:
    """`POST /v1/chat/completions`."""

    kind: Literal["openai", "anthropic"] = "openai"
    ping = b": ping\n\n"

    def read(self, body: dict[str, Any]) -> dict[str, Any]:
        refuse(body, *_NEVER)
        if body.get("n") not in (None, 1):
            raise Refusal("`n` is not supported here: one call has one answer, which can be stepped")
        if body.get("modalities") not in (None, ["text"]):
            raise Refusal("`modalities` other than text are not supported here")
        for tool in objects(body.get("tools"), "tools"):
            if tool.get("type", "function") != "function":
                raise Refusal(f"tools of the type `{tool['type']}` are not supported here: use functions")
        return {name: value for name, value in body.items() if value is not None}

    def whole(self, answer: Answer) -> dict[str, Any]:
        choice = {
            "index": 0,
            "message": {"refusal": None, **answer.reasoning, **answer.message},
            "logprobs": None,
            "finish_reason": answer.finish_reason,
        }
        return {**_head(answer, "chat.completion"), "choices": [choice], "usage": answer.completion["usage"]}

    def events(self, answer: Answer) -> Iterator[bytes]:
        head = _head(answer, "chat.completion.chunk")
        options = answer.asked.get("stream_options")
        with_usage = isinstance(options, dict) and bool(options.get("include_usage"))
        told = {"usage": None} if with_usage else {}

        def chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
            return event({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}], **told})

        message = answer.reasoning | answer.message
        yield chunk({name: value for name, value in message.items() if name != "tool_calls"})
        for index, call in enumerate(answer.tool_calls):
            yield chunk({"tool_calls": [{"index": index, **call}]})
        yield chunk({}, answer.finish_reason)
        if with_usage:
            yield event({**head, "choices": [], "usage": answer.completion["usage"]})
        yield b"data: [DONE]\n\n"

    def error(self, message: str, code: str) -> dict[str, Any]:
        return openai_error(message, code)

    def error_event(self, message: str, code: str) -> bytes:
        return event(openai_error(message, code))


def _head(answer: Answer, kind: str) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{answer.id}",
        "object": kind,
        "created": answer.created,
        "model": answer.model,
    }
