"""Reading the events of the Messages API: blocks that begin, grow and stop, all together one completion."""

from __future__ import annotations

import json
from typing import Any

from agentscope_tui.models.anthropic_blocks import CONTENT
from agentscope_tui.models.chat import (
    Completion,
    Delta,
    FunctionCall,
    ToolCallDelta,
    ToolCallPart,
    Usage,
)
from agentscope_tui.models.chunks import read_object
from agentscope_tui.models.dialect import NotTheApi, StreamedError
from agentscope_tui.models.sse import ServerSentEvent

_FINISH = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "pause_turn": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
    "refusal": "content_filter",
}
"""Stop reasons in the words of Chat Completions; an unknown one stays as it is."""


class MessageReader:
    """The state of one streamed message."""

    def __init__(self) -> None:
        self._blocks: dict[int, dict[str, Any]] = {}
        self._json: dict[int, str] = {}
        """The input of each tool call as far as it was written, by the index of its block."""
        self._counts: dict[str, int] = {}
        self._model = ""
        self.finish_reason: str | None = None
        self.usage: Usage | None = None
        self.began = False
        self.done = False

    def add(self, event: ServerSentEvent) -> Delta | None:
        """Take one event; the delta, if it adds to the completion.

        Raises:
            NotTheApi: it is no JSON object, or one of another API.
            StreamedError: it is an error.
        """
        value = read_object(event)
        kind = value.get("type") or event.event
        if kind == "error" or value.get("error"):
            raise StreamedError(value.get("error") or value)
        match kind:
            case "message_start":
                self._start(_object(value.get("message")))
            case "content_block_start":
                return self._open(_index(value), _object(value.get("content_block")))
            case "content_block_delta":
                return self._grow(_index(value), _object(value.get("delta")))
            case "message_delta":
                reason = _object(value.get("delta")).get("stop_reason")
                self.finish_reason = _FINISH.get(str(reason), str(reason)) if reason else self.finish_reason
                self._count(value.get("usage"))
            case "message_stop":
                self.done = True
            case "message" if "choices" in value:
                raise NotTheApi("sent Chat Completions instead of Messages", event.data)
        return None

    def completion(self) -> Completion:
        """What has been streamed. Its usage is zero where the provider told none."""
        blocks = [self._blocks[index] for index in sorted(self._blocks)]
        return Completion(
            text="".join(block["text"] for block in blocks if block["type"] == "text"),
            reasoning="".join(block["thinking"] for block in blocks if block["type"] == "thinking"),
            tool_calls=tuple(self._part(index) for index in self._calls()),
            finish_reason=self.finish_reason,
            usage=self.usage or Usage(),
            model=self._model,
            extra=self._extra(),
        )

    def _start(self, message: dict[str, Any]) -> None:
        self.began = True
        self._model = _string(message.get("model"))
        self._count(message.get("usage"))

    def _open(self, index: int, block: dict[str, Any]) -> Delta | None:
        self.began = True
        block = {"type": "", **block}
        self._blocks[index] = block
        match block["type"]:
            case "text":
                block["text"] = _string(block.get("text"))
                return Delta(text=block["text"]) if block["text"] else None
            case "thinking":
                block["thinking"] = _string(block.get("thinking"))
                return Delta(reasoning=block["thinking"]) if block["thinking"] else None
            case "tool_use":
                # A whole input comes here only from servers that do not stream it.
                given = block.get("input")
                self._json[index] = json.dumps(given, ensure_ascii=False) if given else ""
                return self._call_delta(
                    index,
                    id=_string(block.get("id")),
                    name=_string(block.get("name")),
                    arguments=self._json[index],
                )
        return None

    def _grow(self, index: int, delta: dict[str, Any]) -> Delta | None:
        kind = _string(delta.get("type"))
        if index not in self._blocks:
            self._open(index, {"type": _BLOCK_OF.get(kind, "")})
        block = self._blocks[index]
        match kind:
            case "text_delta":
                text = _string(delta.get("text"))
                block["text"] = _string(block.get("text")) + text
                return Delta(text=text) if text else None
            case "thinking_delta":
                thought = _string(delta.get("thinking"))
                block["thinking"] = _string(block.get("thinking")) + thought
                return Delta(reasoning=thought) if thought else None
            case "signature_delta":
                block["signature"] = _string(block.get("signature")) + _string(delta.get("signature"))
            case "citations_delta":
                block["citations"] = [*(block.get("citations") or []), delta.get("citation")]
            case "input_json_delta":
                piece = _string(delta.get("partial_json"))
                self._json[index] = self._json.get(index, "") + piece
                if piece and block["type"] == "tool_use":
                    return self._call_delta(index, arguments=piece)
        return None

    def _calls(self) -> list[int]:
        """The indices of the blocks that are tool calls of ours; a provider runs its own tools itself."""
        return [index for index in sorted(self._blocks) if self._blocks[index]["type"] == "tool_use"]

    def _call_delta(self, index: int, **fields: str) -> Delta:
        return Delta(tool_calls=(ToolCallDelta(index=self._calls().index(index), **fields),))

    def _part(self, index: int) -> ToolCallPart:
        block = self._blocks[index]
        call_id = _string(block.get("id")) or f"call_{self._calls().index(index) + 1}"
        name, arguments = _string(block.get("name")), self._json[index]
        return ToolCallPart(id=call_id, function=FunctionCall(name=name, arguments=arguments))

    def _extra(self) -> dict[str, Any]:
        """The blocks as they came, where there are others than text and calls: thoughts must go back."""
        if all(block["type"] in ("text", "tool_use") for block in self._blocks.values()):
            return {}
        whole = []
        for index in sorted(self._blocks):
            block = dict(self._blocks[index])
            if index in self._json:
                block["input"] = _parsed(self._json[index])
            if block["type"] and block.get("text") != "":
                whole.append(block)
        return {CONTENT: whole}

    def _count(self, usage: object) -> None:
        """Counts are cumulative, and a later event tells only some of them."""
        for name, value in _object(usage).items():
            if isinstance(value, int) and not isinstance(value, bool):
                self._counts[name] = max(value, 0)
            elif name == "output_tokens_details":
                thoughts = _object(value).get("thinking_tokens")
                self._counts["thinking_tokens"] = thoughts if isinstance(thoughts, int) else 0
        count = self._counts
        if not count:
            return
        cached = count.get("cache_read_input_tokens", 0)
        written = count.get("cache_creation_input_tokens", 0)
        self.usage = Usage(
            # This API counts what the cache had or got beside the rest of the input.
            input_tokens=count.get("input_tokens", 0) + cached + written,
            output_tokens=count.get("output_tokens", 0),
            cached_tokens=cached,
            reasoning_tokens=count.get("thinking_tokens", 0),
        )


_BLOCK_OF = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "tool_use"}
"""The type of a block whose start did not come."""


def _parsed(text: str) -> Any:
    try:
        value = json.loads(text or "{}")
    except (ValueError, RecursionError):
        value = None
    return value if isinstance(value, dict) else {"invalid_json": text}


def _index(value: dict[str, Any]) -> int:
    index = value.get("index")
    return index if isinstance(index, int) else 0


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""
