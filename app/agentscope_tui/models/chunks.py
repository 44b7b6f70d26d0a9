"""Reading Chat Completions chunks: each gives a delta, all together one completion."""

from __future__ import annotations

import json
from typing import Any

from agentscope_tui.models.chat import Completion, Delta, ReasoningField, ToolCallDelta, Usage
from agentscope_tui.models.dialect import NotTheApi, StreamedError
from agentscope_tui.models.sse import ServerSentEvent
from agentscope_tui.models.think_tags import ThinkTags
from agentscope_tui.models.tool_call_deltas import ToolCallReader

_DONE = "[DONE]"
_REASONING: tuple[ReasoningField, ...] = ("reasoning_content", "reasoning")


class ChunkReader:
    """The state of one streamed completion."""

    def __init__(self) -> None:
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._reasoning_field: ReasoningField = ""
        self._tags = ThinkTags()
        self._calls = ToolCallReader()
        self._details: list[dict[str, Any]] = []
        self._model = ""
        self.finish_reason: str | None = None
        self.usage: Usage | None = None
        self.began = False
        self.done = False

    def add(self, event: ServerSentEvent) -> Delta | None:
        """Take one event; the delta, if it adds to the completion.

        Raises:
            NotTheApi: it is no JSON object.
            StreamedError: it is an error object.
        """
        if event.data == _DONE:
            self.done = True
            return self._add_split(*self._tags.rest())
        chunk = read_object(event)
        if chunk.get("error"):
            raise StreamedError(chunk["error"])
        self._model = _string(chunk.get("model")) or self._model
        if isinstance(chunk.get("usage"), dict):
            self.usage = read_usage(chunk["usage"])
        choices = chunk.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        if not isinstance(choice, dict):
            return None
        self.began = True
        self.finish_reason = _string(choice.get("finish_reason")) or self.finish_reason
        message = choice.get("delta")
        return self._add_message(message) if isinstance(message, dict) else None

    def completion(self) -> Completion:
        """What has been streamed. Its usage is zero where the provider told none."""
        self._add_split(*self._tags.rest())
        field: ReasoningField = "<think>" if self._tags.found else self._reasoning_field
        return Completion(
            text="".join(self._text),
            reasoning="".join(self._reasoning),
            # Details hold the reasoning too, with its signatures: it goes back once.
            reasoning_field="" if self._details else field,
            tool_calls=self._calls.parts(),
            finish_reason=self.finish_reason,
            usage=self.usage or Usage(),
            model=self._model,
            extra={"reasoning_details": self._details} if self._details else {},
        )

    def _add_message(self, message: dict[str, Any]) -> Delta | None:
        content, thought = _read_content(message.get("content"))
        inline, text = self._tags.split(content) if content else ("", "")
        field: ReasoningField = next((name for name in _REASONING if _string(message.get(name))), "")
        self._reasoning_field = self._reasoning_field or field
        reasoning = (_string(message.get(field)) if field else thought) + inline
        # Some send a refusal's text in a field of its own.
        text += _string(message.get("refusal"))
        pieces, details = message.get("tool_calls"), message.get("reasoning_details")
        calls = self._calls.add(pieces if isinstance(pieces, list) else _old_call(message))
        if isinstance(details, list):
            self._add_details(details)
        return self._add_split(reasoning, text, calls)

    def _add_split(self, reasoning: str, text: str, calls: tuple[ToolCallDelta, ...] = ()) -> Delta | None:
        self._text.append(text)
        self._reasoning.append(reasoning)
        return Delta(text=text, reasoning=reasoning, tool_calls=calls) if text or reasoning or calls else None

    def _add_details(self, details: list[Any]) -> None:
        """Join the pieces of one block; blocks must go back whole, in order."""
        for piece in details:
            if not isinstance(piece, dict):
                continue
            last = self._details[-1] if self._details else None
            if last is None or any(last.get(name) != piece.get(name) for name in ("type", "index")):
                self._details.append(dict(piece))
                continue
            for name, value in piece.items():
                if name in _STREAMED and isinstance(last.get(name), str) and isinstance(value, str):
                    last[name] += value
                elif value is not None:
                    last[name] = value


_STREAMED = ("text", "summary", "data")
"""The fields of a reasoning block that come in pieces."""


def read_usage(usage: dict[str, Any]) -> Usage:
    """The `usage` object of Chat Completions; counts that are absent are 0."""
    prompt, written = usage.get("prompt_tokens_details"), usage.get("completion_tokens_details")
    return Usage(
        input_tokens=_count(usage, "prompt_tokens"),
        output_tokens=_count(usage, "completion_tokens"),
        cached_tokens=_count(prompt, "cached_tokens") or _count(usage, "prompt_cache_hit_tokens"),
        reasoning_tokens=_count(written, "reasoning_tokens"),
    )


def read_object(event: ServerSentEvent) -> dict[str, Any]:
    """The JSON object that an event holds.

    Raises:
        NotTheApi: it holds none.
    """
    try:
        value = json.loads(event.data)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise NotTheApi("sent an event that is no JSON object", event.data)
    return value


def _read_content(content: Any) -> tuple[str, str]:
    """The text and the reasoning of a piece of content: a string, or a list of typed parts (Mistral)."""
    if not isinstance(content, list):
        return _string(content), ""
    parts = [part for part in content if isinstance(part, dict)]
    text = "".join(_string(part.get("text")) for part in parts if part.get("type") == "text")
    thoughts = [_read_content(part.get("thinking"))[0] for part in parts if part.get("type") == "thinking"]
    return text, "".join(thoughts)


def _old_call(message: dict[str, Any]) -> list[Any]:
    """The only call of a server that still writes `function_call`."""
    call = message.get("function_call")
    return [{"index": 0, "function": call}] if isinstance(call, dict) else []


def _count(counts: Any, name: str) -> int:
    value = counts.get(name) if isinstance(counts, dict) else None
    return int(value) if isinstance(value, int | float) and 0 <= value < float("inf") else 0


def _string(value: Any) -> str:
    return value if isinstance(value, str) else ""
