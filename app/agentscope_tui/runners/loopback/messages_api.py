"""Anthropic's Messages for clients of the endpoint: completions written as blocks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Literal

from agentscope_tui.models.anthropic_blocks import Block, assistant_blocks
from agentscope_tui.runners.loopback.api import Answer, event
from agentscope_tui.runners.loopback.messages_request import read_request

_STOP_REASONS = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "content_filter": "refusal",
}


class MessagesApi:
    """`POST /v1/messages`."""

    kind: Literal["openai", "anthropic"] = "anthropic"
    ping = event({"type": "ping"}, "ping")

    def read(self, body: dict[str, Any]) -> dict[str, Any]:
        return read_request(body)

    def whole(self, answer: Answer) -> dict[str, Any]:
        return {
            **_head(answer),
            "content": _blocks(answer),
            "stop_reason": _stop_reason(answer),
            "usage": {**_input_usage(answer), "output_tokens": answer.tokens[2]},
        }

    def events(self, answer: Answer) -> Iterator[bytes]:
        start = {**_head(answer), "usage": {**_input_usage(answer), "output_tokens": 0}}
        yield _typed("message_start", message=start)
        for index, block in enumerate(_blocks(answer)):
            first, deltas = _streamed(block)
            yield _typed("content_block_start", index=index, content_block=first)
            for delta in deltas:
                yield _typed("content_block_delta", index=index, delta=delta)
            yield _typed("content_block_stop", index=index)
        yield _typed(
            "message_delta",
            delta={"stop_reason": _stop_reason(answer), "stop_sequence": None},
            usage={"output_tokens": answer.tokens[2]},
        )
        yield _typed("message_stop")

    def error(self, message: str, code: str) -> dict[str, Any]:
        kind = "authentication_error" if code == "unauthorized" else "invalid_request_error"
        return {"type": "error", "error": {"type": kind, "message": message}}

    def error_event(self, message: str, code: str) -> bytes:
        return event(self.error(message, code), "error")


def _typed(kind: str, **fields: Any) -> bytes:
    return event({"type": kind, **fields}, kind)


def _head(answer: Answer) -> dict[str, Any]:
    return {
        "id": f"msg_{answer.id}",
        "type": "message",
        "role": "assistant",
        "model": answer.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
    }


def _blocks(answer: Answer) -> list[Block]:
    """The message as blocks. What another provider's model thought comes first where the client asked for
    thoughts; it has no signature."""
    blocks = assistant_blocks(answer.message)
    match answer.asked.get("thinking"):
        case {"type": "enabled" | "adaptive"} if answer.thought and not any(map(_is_thought, blocks)):
            return [{"type": "thinking", "thinking": answer.thought, "signature": ""}, *blocks]
        case _:
            return blocks


def _is_thought(block: Block) -> bool:
    return block.get("type") in ("thinking", "redacted_thinking")


def _stop_reason(answer: Answer) -> str:
    return _STOP_REASONS.get(answer.finish_reason, answer.finish_reason)


def _input_usage(answer: Answer) -> dict[str, int]:
    """The API counts what was read from a cache beside the input, not in it."""
    given, cached, _, _ = answer.tokens
    return {
        "input_tokens": max(given - cached, 0),
        "cache_read_input_tokens": cached,
        "cache_creation_input_tokens": 0,
    }


def _streamed(block: Block) -> tuple[Block, list[Block]]:
    """A block as its start, and what is added to it then."""
    match block:
        case {"type": "text", "text": str(text)}:
            return {**block, "text": ""}, [{"type": "text_delta", "text": text}]
        case {"type": "tool_use", "input": dict(given)}:
            partial = {"type": "input_json_delta", "partial_json": json.dumps(given)}
            return {**block, "input": {}}, [partial]
        case {"type": "thinking", "thinking": str(thought)}:
            signature = {"type": "signature_delta", "signature": block.get("signature", "")}
            added = [{"type": "thinking_delta", "thinking": thought}, signature]
            return {**block, "thinking": "", "signature": ""}, added
        case _:
            return block, []
