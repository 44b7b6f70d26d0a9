"""The old contract: an agent loop, its request and context, the model client that a host gives, results."""

from __future__ import annotations

import json
import os
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any


@dataclass
class RolloutRequest:
    rollout_id: str
    server_url: str
    messages: list[dict[str, Any]]
    completion_params: dict[str, Any]
    tool_server_url: str | None = None
    max_turns: int = 10
    max_tokens_total: int = 8192
    metadata: dict[str, Any] = field(default_factory=dict)
    api_key: str | None = None
    idempotency_key: str | None = None

    def __post_init__(self) -> None:
        if not 1 <= len(self.rollout_id.strip()) <= 256:
            raise ValueError("rollout_id has 1 to 256 characters")
        if not self.server_url.startswith(("http://", "https://")):
            raise ValueError("server_url is a URL")
        if len(json.dumps(self.metadata)) > 1 << 20:
            raise ValueError("metadata is too large")


@dataclass(frozen=True)
class CompletionsResult:
    message: dict[str, Any]
    token_ids: list[int]
    logprobs: list[float]
    usage: dict[str, Any]
    finish_reason: str

    @property
    def has_tool_calls(self) -> bool:
        return bool(self.tool_calls)

    @property
    def tool_calls(self) -> list[dict[str, Any]]:
        return self.message.get("tool_calls") or []

    @property
    def content(self) -> str | None:
        return self.message.get("content")


@dataclass
class RolloutMetrics:
    total_latency_ms: float = 0.0
    llm_latency_ms: float = 0.0
    tool_latency_ms: float = 0.0
    num_llm_calls: int = 0
    num_tool_calls: int = 0
    prompt_tokens: int = 0
    response_tokens: int = 0
    max_context_tokens: int = 0


@dataclass
class RolloutResult:
    status: str
    final_messages: list[dict[str, Any]]
    finish_reason: str
    error_message: str | None = None
    metrics: RolloutMetrics | None = None
    reward: float | None = None


@dataclass
class RolloutContext:
    request: RolloutRequest
    tools: list[Any]
    llm: Any
    _start_time: float = field(default_factory=time.monotonic)
    _debug_dir: str | None = None
    _tool_calls: int = 0
    _tool_ms: float = 0.0

    async def chat(self, messages: list[dict[str, Any]], **params: Any) -> CompletionsResult:
        result: CompletionsResult = await self.llm.chat_completions(messages, **params)
        return result

    def complete(
        self, final_messages: list[dict[str, Any]], finish_reason: str = "stop", reward: float | None = None
    ) -> RolloutResult:
        metrics = self._build_metrics()
        return RolloutResult("COMPLETED", final_messages, finish_reason, metrics=metrics, reward=reward)

    def error(self, error_message: str, final_messages: list[dict[str, Any]] | None = None) -> RolloutResult:
        return RolloutResult("ERROR", final_messages or [], "error", error_message, self._build_metrics())

    def record_tool_call(self, latency_ms: float = 0.0) -> None:
        self._tool_calls += 1
        self._tool_ms += latency_ms

    def log_event(self, event_type: str, **data: Any) -> None:
        if self._debug_dir is not None:
            with open(os.path.join(self._debug_dir, f"{self.request.rollout_id}.jsonl"), "a") as file:
                file.write(json.dumps({"event": event_type, **data}) + "\n")

    def _build_metrics(self) -> RolloutMetrics:
        metrics: RolloutMetrics = self.llm.get_metrics()
        metrics.num_tool_calls, metrics.tool_latency_ms = self._tool_calls, self._tool_ms
        return metrics


class RolloutAgentLoop(ABC):
    name: str

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if not isinstance(getattr(cls, "name", None), str):
            raise TypeError(f"{cls.__name__} has no name")

    @abstractmethod
    def get_tools(self, request: RolloutRequest) -> list[Any]: ...

    @abstractmethod
    async def run(self, ctx: RolloutContext) -> RolloutResult: ...


class OpenAIFunctionToolSchema:
    """As the SDK's model: attributes, and `model_dump`."""

    def __init__(self, function: dict[str, Any], type: str = "function") -> None:
        self.type = type
        self.function = function

    def model_dump(self, **options: Any) -> dict[str, Any]:
        return {"type": self.type, "function": self.function}


def create_tool_result(tool_call_id: str, content: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": tool_call_id, "content": content}


def get_tool_call_info(tool_call: dict[str, Any]) -> tuple[str, str, dict[str, Any]]:
    function = tool_call["function"]
    return tool_call["id"], function["name"], json.loads(function["arguments"] or "{}")
