"""Reading Chat Completions chunks: each gives a delta, all together one completion."""

from __future__ import annotations

from typing import Any

from agentscope_tui.models.chat import Completion, Delta, Usage
from agentscope_tui.models.tool_call_deltas import ToolCallReader


class ChunkReader:
    """The state of one streamed completion."""

    def __init__(self) -> None:
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._calls = ToolCallReader()
        self._details: list[dict[str, Any]] = []
        self._model = ""
        self.finish_reason: str | None = None
        self.usage: Usage | None = None
        """As the provider last told it; None: not yet, or never."""
        self.began = False
        """Whether a chunk with a choice has come."""

    def add(self, chunk: dict[str, Any]) -> Delta | None:
        """Take one chunk; the delta, if it adds to the completion."""
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
        return Completion(
            text="".join(self._text),
            reasoning="".join(self._reasoning),
            tool_calls=self._calls.parts(),
            finish_reason=self.finish_reason,
            usage=self.usage or Usage(),
            model=self._model,
            extra={"reasoning_details": self._details} if self._details else {},
        )

    def _add_message(self, message: dict[str, Any]) -> Delta | None:
        text = _string(message.get("content"))
        reasoning = _string(message.get("reasoning_content")) or _string(message.get("reasoning"))
        pieces, details = message.get("tool_calls"), message.get("reasoning_details")
        calls = self._calls.add(pieces) if isinstance(pieces, list) else ()
        self._text.append(text)
        self._reasoning.append(reasoning)
        if isinstance(details, list):
            self._add_details(details)
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


def _count(counts: Any, name: str) -> int:
    value = counts.get(name) if isinstance(counts, dict) else None
    return int(value) if isinstance(value, int | float) and value >= 0 else 0


def _string(value: Any) -> str:
    return value if isinstance(value, str) else ""
