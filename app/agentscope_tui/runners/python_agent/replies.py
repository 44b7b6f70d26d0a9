"""What a model call and a tool call give to the agent: plain JSON data that also has attributes."""

from __future__ import annotations

import dataclasses
import json
from typing import Any


class AgentError(Exception):
    """What the user has to put right, in one line: no traceback is needed."""


class ModelCallError(RuntimeError):
    """The model call failed, was refused or given up; the message says why."""


class Data(dict):  # type: ignore[type-arg]
    """An object of JSON whose keys are attributes too, all the way down."""

    def __init__(self, fields: Any) -> None:
        super().__init__({key: wrapped(value) for key, value in fields.items()})

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"there is no {name!r} here, only {', '.join(map(str, self))}") from None


def wrapped(value: Any) -> Any:
    """JSON data with attributes."""
    if isinstance(value, dict):
        return value if isinstance(value, Data) else Data(value)
    return [wrapped(item) for item in value] if isinstance(value, list) else value


class ToolCall(Data):
    """One call that the model asks for: `id`, `name`, `arguments`, and `function` as OpenAI has it."""

    @property
    def name(self) -> str:
        return str(self["function"]["name"])

    @property
    def arguments(self) -> Any:
        """The object; or the text as the model wrote it, where that is no JSON object."""
        text = self["function"]["arguments"]
        try:
            arguments = json.loads(text or "{}")
        except ValueError:
            return text
        return arguments if isinstance(arguments, dict) else text


class Completion(Data):
    """An OpenAI chat completion, with its first choice at hand."""

    @property
    def message(self) -> Data:
        """The assistant message, to be appended to the conversation."""
        message: Data = self["choices"][0]["message"]
        return message

    @property
    def content(self) -> str:
        """The text; empty if there is none."""
        return self.message.get("content") or ""

    @property
    def tool_calls(self) -> list[ToolCall]:
        """The calls that the model asks for. One that was cut off at the output limit is among them."""
        return [ToolCall(call) for call in self.message.get("tool_calls") or []]

    @property
    def finish_reason(self) -> str | None:
        reason: str | None = self["choices"][0].get("finish_reason")
        return reason

    @property
    def usage(self) -> Data:
        """`prompt_tokens`, `completion_tokens`, `total_tokens`."""
        usage: Data = self.get("usage") or Data({})
        return usage


class ToolResult(str):
    """A tool's result for the model; `is_error` says whether the tool failed."""

    is_error: bool

    def __new__(cls, content: str, is_error: bool = False) -> ToolResult:
        result = super().__new__(cls, content)
        result.is_error = is_error
        return result

    @property
    def content(self) -> str:
        return str(self)


def plain(value: Any) -> Any:
    """JSON data of what agents put into messages: also models of pydantic and dataclasses.

    Raises:
        TypeError: something else.
    """
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if hasattr(value, "model_dump"):
        return plain(value.model_dump(exclude_none=True))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return plain(dataclasses.asdict(value))
    raise TypeError(f"a {type(value).__name__} is no JSON: {value!r:.80}")
