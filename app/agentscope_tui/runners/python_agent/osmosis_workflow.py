"""Workflows of the Osmosis SDK, new contract (`AgentWorkflow`, 0.3): run by the SDK's own local backend.

A workflow has no model client that could be wrapped: it calls the address in its rollout's context, which is
agentscope's endpoint. The grader is the one in the workflow's module.
"""

from __future__ import annotations

import importlib
import inspect
import json
import os
import sys
import uuid
from typing import Any

from .replies import AgentError


async def run(workflow: Any, ctx: Any) -> None:
    """Run a workflow's class for one turn; the answer, and its grader's reward, become those of `ctx`.

    Raises:
        AgentError: its module has several graders or configs.
    """
    sdk = importlib.import_module("osmosis_ai.rollout")
    module = vars(sys.modules[workflow.__module__])
    graders = [
        value
        for value in module.values()
        if inspect.isclass(value) and issubclass(value, sdk.Grader) and not inspect.isabstract(value)
    ]
    grader = _only(graders, f"{workflow.__module__} has several graders")
    backend = sdk.LocalBackend(
        workflow=workflow,
        workflow_config=_instance(module, sdk.AgentWorkflowConfig),
        grader=grader,
        grader_config=_instance(module, sdk.GraderConfig),
    )
    rollout = sdk.RolloutContext(
        chat_completions_url=os.environ["OPENAI_BASE_URL"],
        api_key=os.environ["OPENAI_API_KEY"],
        rollout_id=f"{ctx.session_id}-{uuid.uuid4().hex[:8]}",
    )
    with rollout:
        outcome = await backend.execute(_request(sdk, rollout.rollout_id, ctx, grade=grader is not None))
    for part, result in (("workflow", outcome.workflow), ("grader", outcome.grader)):
        if result is not None and result.status is not sdk.RolloutStatus.SUCCESS:
            ctx.fail(f"the {part} failed: {result.err_message or result.err_category or result.status}")
            return
    sample = outcome.result.sample
    ctx.done(_answer(sample), None if sample is None else sample.reward)


def _request(sdk: Any, rollout_id: str, ctx: Any, *, grade: bool) -> Any:
    """The row as the SDK's own evaluation asks it: a label to compare with, or metadata."""
    row = dict(ctx.row)
    prompt = [
        dict(message)
        for message in ctx.messages
        if message["role"] != "system" or row.get("system_prompt") is not None
    ]
    label = row.get("ground_truth", row.get("label"))
    metadata = row.get("metadata")
    return sdk.ExecutionRequest(
        id=rollout_id,
        prompt=prompt,
        label=label if label is None or isinstance(label, str) else json.dumps(label),
        metadata=json.loads(metadata) if isinstance(metadata, str) else metadata,
        grade=grade,
    )


def _instance(module: dict[str, Any], kind: type) -> Any:
    found = [value for value in module.values() if isinstance(value, kind)]
    return _only(found, f"{module['__name__']} has several configs of the type {kind.__name__}")


def _only(found: list[Any], several: str) -> Any:
    if len(found) > 1:
        raise AgentError(f"{several}: keep one in the module that --agent names")
    return found[0] if found else None


def _answer(sample: Any) -> str | None:
    """The last text of the assistant."""
    for message in reversed(sample.messages if sample is not None else []):
        content = message.get("content")
        if message.get("role") == "assistant" and isinstance(content, str) and content:
            return content
    return None
