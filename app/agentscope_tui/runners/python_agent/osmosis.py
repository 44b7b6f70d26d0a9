"""Agents of the Osmosis SDK, old contract (`RolloutAgentLoop`, 0.2): found by what they have, run unchanged.

The row becomes a request as that SDK's test mode builds it; the agent's model client is ours.
"""

from __future__ import annotations

import importlib
import inspect
import json
import time
from typing import Any

from .replies import AgentError, plain

_NEEDED = ("RolloutRequest", "RolloutContext", "RolloutMetrics", "CompletionsResult")


def is_agent(found: Any) -> bool:
    """Whether this is an instance of an agent loop: a name, `get_tools`, and an async `run`."""
    return (
        isinstance(getattr(found, "name", None), str)
        and callable(getattr(found, "get_tools", None))
        and inspect.iscoroutinefunction(getattr(found, "run", None))
    )


def is_workflow(found: Any) -> bool:
    """Whether this is a workflow of the new contract (0.3.x)."""
    bases = getattr(found if inspect.isclass(found) else type(found), "__mro__", ())
    return any(base.__name__ == "AgentWorkflow" for base in bases)


async def run(agent: Any, ctx: Any) -> None:
    """Run the agent loop for one turn; its result becomes that of `ctx`.

    Raises:
        AgentError: the SDK of the user's environment does not have the old contract.
    """
    sdk = importlib.import_module("osmosis_ai.rollout")
    for name in _NEEDED:
        if not hasattr(sdk, name):
            raise AgentError(
                f"osmosis_ai.rollout has no {name}: an agent loop needs the SDK's 0.2.9 to 0.2.17"
            )
    request = _request(sdk, ctx)
    tools = agent.get_tools(request)
    llm = _Client(sdk, ctx, [plain(tool) for tool in tools])
    rollout = sdk.RolloutContext(request=request, tools=tools, llm=llm)
    _observe(rollout, ctx)
    result = await agent.run(rollout)
    if str(getattr(result, "status", "COMPLETED")) != "COMPLETED":
        ctx.fail(str(getattr(result, "error_message", None) or "the agent reported an error"))
        return
    ctx.done(_last_text(getattr(result, "final_messages", None) or []), getattr(result, "reward", None))


def _request(sdk: Any, ctx: Any) -> Any:
    row = dict(ctx.row)
    known = ("user_prompt", "system_prompt", "ground_truth")
    metadata = {
        "ground_truth": row.get("ground_truth"),
        "row_index": ctx.row_index,
        "test_mode": True,
        **{name: value for name, value in row.items() if name not in known},
    }
    return sdk.RolloutRequest(
        rollout_id=f"test-{ctx.row_index}",
        server_url="http://localhost:8080",
        messages=[dict(message) for message in ctx.messages],
        completion_params={"temperature": ctx.temperature, "max_tokens": ctx.max_output_tokens},
        max_turns=ctx.max_calls,
        max_tokens_total=ctx.max_output_tokens,
        metadata=metadata,
    )


class _Client:
    """The `llm` of the rollout: the host's model. Tools are added here, not by the agent."""

    def __init__(self, sdk: Any, ctx: Any, tools: list[Any]) -> None:
        self._sdk = sdk
        self._ctx = ctx
        self._tools = tools
        self._calls = 0
        self._seconds = 0.0
        self._tokens = {"prompt_tokens": 0, "completion_tokens": 0}

    async def chat_completions(self, messages: Any, **params: Any) -> Any:
        """One model call, as the SDK's `CompletionsResult`."""
        tools = params.pop("tools", None) or self._tools
        started = time.monotonic()
        completion = await self._ctx.chat(messages, tools=tools, **params)
        self._seconds += time.monotonic() - started
        self._calls += 1
        for name in self._tokens:
            self._tokens[name] += completion.usage.get(name) or 0
        return self._sdk.CompletionsResult(
            message=dict(completion.message),
            token_ids=[],
            logprobs=[],
            usage=dict(completion.usage),
            finish_reason=completion.finish_reason,
        )

    def get_metrics(self) -> Any:
        """What the calls so far took, as the SDK's `RolloutMetrics`."""
        latency = self._seconds * 1000
        return self._sdk.RolloutMetrics(
            total_latency_ms=latency,
            llm_latency_ms=latency,
            tool_latency_ms=0.0,
            num_llm_calls=self._calls,
            num_tool_calls=0,
            prompt_tokens=self._tokens["prompt_tokens"],
            response_tokens=self._tokens["completion_tokens"],
            max_context_tokens=0,
        )


def _observe(rollout: Any, ctx: Any) -> None:
    """Show what the agent records beside its model calls; the SDK's own methods still do their work."""
    record_tool_call, log_event = rollout.record_tool_call, rollout.log_event

    def recorded(latency_ms: float = 0.0) -> None:
        record_tool_call(latency_ms=latency_ms)
        ctx.log(f"tool call recorded: {latency_ms:g} ms")

    def logged(event_type: str, **data: Any) -> None:
        log_event(event_type, **data)
        ctx.log(event_type, json.dumps(data, default=str, ensure_ascii=False) if data else "")

    rollout.record_tool_call, rollout.log_event = recorded, logged


def _last_text(messages: list[Any]) -> str | None:
    for message in reversed(messages):
        if message.get("role") == "assistant":
            content = message.get("content")
            return content if isinstance(content, str) and content else None
    return None
