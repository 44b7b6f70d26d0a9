"""What one API of a provider is to the endpoint: requests read into chat, completions written back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, Protocol


class Refusal(Exception):
    """A request that cannot be expressed as a chat request: the message names what in it cannot."""


@dataclass(frozen=True)
class Answer:
    """A chat completion on its way to a client: what the client asked, an id for it, and when (Unix time)."""

    completion: dict[str, Any]
    asked: dict[str, Any]
    id: str
    created: int

    @property
    def message(self) -> dict[str, Any]:
        """The assistant message."""
        message: dict[str, Any] = self.completion["choices"][0]["message"]
        return message

    @property
    def text(self) -> str:
        return str(self.message.get("content") or "")

    @property
    def reasoning(self) -> dict[str, str]:
        """What the model thought, by the field of Chat Completions that holds it; empty if it told none."""
        return dict(self.completion["choices"][0].get("reasoning") or {})

    @property
    def thought(self) -> str:
        return "".join(self.reasoning.values())

    @property
    def tool_calls(self) -> list[dict[str, Any]]:
        return list(self.message.get("tool_calls") or [])

    @property
    def finish_reason(self) -> str:
        """In the words of Chat Completions. Some providers say `stop` where there are tool calls."""
        reason = self.completion["choices"][0].get("finish_reason")
        if self.tool_calls and reason in (None, "stop"):
            return "tool_calls"
        return str(reason or "stop")

    @property
    def model(self) -> str:
        return str(self.completion.get("model") or self.asked.get("model") or "")

    @property
    def tokens(self) -> tuple[int, int, int, int]:
        """Tokens in, of them cached, out, of them reasoning."""
        usage = self.completion.get("usage") or {}
        cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0
        reasoning = (usage.get("completion_tokens_details") or {}).get("reasoning_tokens") or 0
        return usage.get("prompt_tokens") or 0, cached, usage.get("completion_tokens") or 0, reasoning


class Api(Protocol):
    """One API of a provider."""

    kind: Literal["openai", "anthropic"]
    ping: bytes
    """What keeps a stream alive that has nothing to say yet."""

    def read(self, body: dict[str, Any]) -> dict[str, Any]:
        """A request as the body of a chat request.

        Raises:
            Refusal: something in it cannot be expressed as one.
        """

    def whole(self, answer: Answer) -> dict[str, Any]:
        """The response that does not stream."""

    def events(self, answer: Answer) -> Iterator[bytes]:
        """The same as server-sent events."""

    def error(self, message: str, code: str) -> dict[str, Any]:
        """An error as the body of a response; `code` is one word for programs."""

    def error_event(self, message: str, code: str) -> bytes:
        """An error within a stream."""


def event(data: dict[str, Any], name: str = "") -> bytes:
    """One server-sent event."""
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(data)}\n\n".encode()


def openai_error(message: str, code: str) -> dict[str, Any]:
    """An error as both of OpenAI's APIs write it."""
    return {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": code}}


def refuse(body: dict[str, Any], *names: str, why: str = "agentscope cannot pass it on to the model") -> None:
    """Refuse a request that uses any of these parameters.

    Raises:
        Refusal: names the first that is set.
    """
    for name in names:
        if body.get(name):
            raise Refusal(f"`{name}` is not supported here: {why}")


def objects(value: object, what: str) -> list[dict[str, Any]]:
    """A list of objects; none for None.

    Raises:
        Refusal: it is something else.
    """
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise Refusal(f"`{what}` must be a list of objects")
    return value
