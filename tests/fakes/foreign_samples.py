"""One small file of each format: a question, a tool call with its result, an answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fakes.foreign_files import archive, lines

CALL = {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": '{"command": "ls"}'}}


def atif() -> dict[str, Any]:
    return {
        "schema_version": "ATIF-v1.8",
        "session_id": "run",
        "agent": {
            "name": "tester",
            "version": "2",
            "model_name": "m1",
            "tool_definitions": [{"type": "function", "function": {"name": "bash"}}],
        },
        "steps": [
            {"step_id": 1, "source": "system", "message": "Be brief."},
            {"step_id": 2, "timestamp": "2026-01-01T10:00:00Z", "source": "user", "message": "What is here?"},
            {
                "step_id": 3,
                "timestamp": "2026-01-01T10:00:02Z",
                "source": "agent",
                "message": "Looking.",
                "reasoning_content": "I need ls",
                "tool_calls": [
                    {"tool_call_id": "c1", "function_name": "bash", "arguments": {"command": "ls"}}
                ],
                "observation": {"results": [{"source_call_id": "c1", "content": "a.txt"}]},
                "metrics": {
                    "prompt_tokens": 20,
                    "completion_tokens": 5,
                    "cached_tokens": 8,
                    "cost_usd": 0.01,
                },
            },
            {"step_id": 4, "source": "agent", "message": "One file.", "extra": {"mood": "calm"}},
        ],
        "final_metrics": {"total_prompt_tokens": 40},
    }


def chat() -> dict[str, Any]:
    return {
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "What is here?"},
            {"role": "assistant", "content": "Looking.", "tool_calls": [CALL]},
            {"role": "tool", "tool_call_id": "c1", "content": "a.txt"},
            {"role": "assistant", "content": "One file."},
        ],
        "tools": [{"type": "function", "function": {"name": "bash", "parameters": {"type": "object"}}}],
        "parallel_tool_calls": False,
    }


def rollout() -> dict[str, Any]:
    messages = chat()["messages"]
    return {
        "example_id": 7,
        "task": "files",
        "prompt": messages[:2],
        "completion": messages[2:],
        "reward": 0.5,
        "metrics": {"right": 1.0},
        "timing": {"start_time": 1750000000.0},
        "is_completed": True,
        "answer": "one",
        "token_usage": {"input_tokens": 30.0, "output_tokens": 9.0},
    }


def episode() -> dict[str, Any]:
    messages = chat()["messages"]
    nodes = [
        {"parent": place - 1 if place else None, "message": message, "timestamp": 1750000000.0 + place}
        for place, message in enumerate(messages)
    ]
    nodes[2]["message"] = {
        "role": "assistant",
        "content": "Looking.",
        "tool_calls": [{"id": "c1", "name": "bash", "arguments": '{"command": "ls"}'}],
    }
    nodes[2]["sampled"] = nodes[4]["sampled"] = True
    calls = [
        {
            "node": node,
            "model": "m1",
            "finish_reason": reason,
            "usage": {"prompt_tokens": 10, "completion_tokens": 4, "cached_input_tokens": 2},
            "time": {"start": 1750000001.0 + node, "end": 1750000001.5 + node},
        }
        for node, reason in ((2, "tool_calls"), (4, "stop"))
    ]
    trace = {
        "version": 1,
        "task": {"type": "Files", "data": {"prompt": "What is here?"}},
        "agent": {"name": "solver", "config": {}},
        "tools": [{"name": "bash", "description": "", "parameters": {}}],
        "nodes": nodes,
        "calls": calls,
        "rewards": {"right": {"score": 1.0, "weight": 0.5}},
        "metrics": {"length": 2.0},
        "is_completed": True,
        "ok": True,
        "errors": [],
    }
    return {"id": "e1", "task": {"type": "Files", "data": {}}, "ok": True, "errors": [], "traces": [trace]}


def claude(*more: Any) -> str:
    base = {"sessionId": "s1", "cwd": "/w", "version": "1.2", "userType": "external", "isSidechain": False}
    usage = {"input_tokens": 10, "cache_read_input_tokens": 5, "output_tokens": 4}

    def entry(kind: str, uuid: str, parent: str | None, second: int, message: Any, **fields: Any) -> Any:
        at = f"2026-01-01T10:00:{second:02}Z"
        return {
            **base,
            "type": kind,
            "uuid": uuid,
            "parentUuid": parent,
            "timestamp": at,
            "message": message,
            **fields,
        }

    def said(*blocks: Any, reason: str) -> dict[str, Any]:
        message_id = f"msg_{reason}"
        return {
            "id": message_id,
            "role": "assistant",
            "model": "claude-x",
            "content": list(blocks),
            "stop_reason": reason,
            "usage": usage,
        }

    result = {"type": "tool_result", "tool_use_id": "c1", "content": "a.txt"}
    use = {"type": "tool_use", "id": "c1", "name": "Bash", "input": {"command": "ls"}}
    return lines(
        {"type": "summary", "summary": "Looking around", "leafUuid": "u5"},
        entry("user", "u1", None, 0, {"role": "user", "content": "What is here?"}),
        entry("assistant", "u2", "u1", 2, said({"type": "text", "text": "Looking."}, reason="tool_use")),
        entry("assistant", "u3", "u2", 2, said(use, reason="tool_use")),
        entry("user", "u4", "u3", 3, {"role": "user", "content": [result]}, toolUseResult={"stdout": "a"}),
        entry(
            "assistant",
            "u5",
            "u4",
            5,
            said(
                {"type": "thinking", "thinking": "Only one.", "signature": "x"},
                {"type": "text", "text": "One file."},
                reason="end_turn",
            ),
        ),
        *more,
    )


def pi(*more: Any, version: int = 3) -> str:
    cost = {"input": 0.001, "total": 0.01}
    usage = {"input": 10, "output": 4, "cacheRead": 5, "cacheWrite": 1, "cost": cost}
    messages: list[Any] = [
        {"role": "user", "content": [{"type": "text", "text": "What is here?"}]},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "I need ls"},
                {"type": "text", "text": "Looking."},
                {"type": "toolCall", "id": "c1", "name": "bash", "arguments": {"command": "ls"}},
            ],
            "provider": "p",
            "model": "m1",
            "usage": usage,
            "stopReason": "toolUse",
        },
        {
            "role": "toolResult",
            "toolCallId": "c1",
            "toolName": "bash",
            "content": [{"type": "text", "text": "a.txt"}],
            "isError": False,
        },
        {
            "role": "assistant",
            "content": [{"type": "text", "text": "One file."}],
            "provider": "p",
            "model": "m1",
            "usage": usage,
            "stopReason": "stop",
        },
    ]
    entries = []
    for place, message in enumerate(messages, start=1):
        entry = {"type": "message", "timestamp": f"2026-01-01T10:00:0{place}Z", "message": message}
        if version > 1:
            entry |= {"id": f"e{place}", "parentId": f"e{place - 1}" if place > 1 else None}
        entries.append(entry)
    header = {"type": "session", "id": "s1", "timestamp": "2026-01-01T10:00:00Z", "cwd": "/w"}
    return lines(header if version == 1 else {**header, "version": version}, *entries, *more)


def swe() -> dict[str, Any]:
    history = [
        {"role": "system", "content": "Be brief.", "agent": "main", "message_type": "system_prompt"},
        {"role": "user", "content": "A demonstration", "is_demo": True, "agent": "main"},
        {"role": "user", "content": "What is here?", "agent": "main", "message_type": "observation"},
        {
            "role": "assistant",
            "content": "Looking.\n```\nls\n```",
            "thought": "Looking.",
            "action": "ls\n",
            "agent": "main",
        },
        {"role": "user", "content": "a.txt\n(bash)", "agent": "main", "message_type": "observation"},
        {"role": "assistant", "content": "One file.", "action": "", "agent": "main"},
    ]
    step = {
        "action": "ls\n",
        "observation": "a.txt",
        "response": "Looking.\n```\nls\n```",
        "thought": "Looking.",
        "execution_time": 0.25,
        "state": {"open_file": "n/a"},
    }
    return {
        "environment": "swe_main",
        "history": history,
        "trajectory": [step],
        "info": {
            "exit_status": "submitted",
            "submission": "diff",
            "model_stats": {"instance_cost": 0.5, "tokens_sent": 100},
        },
    }


def mini() -> dict[str, Any]:
    return {
        "trajectory_format": "mini-swe-agent-1.1",
        "info": {
            "mini_version": "2.0.0",
            "exit_status": "Submitted",
            "submission": "diff",
            "config": {"model": {"model_name": "m1"}},
        },
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "What is here?", "extra": {"timestamp": 1750000000.0}},
            {
                "role": "assistant",
                "content": "Looking.\n```mswea_bash_command\nls\n```",
                "extra": {
                    "actions": [{"command": "ls"}],
                    "cost": 0.02,
                    "timestamp": 1750000002.0,
                    "response": {
                        "model": "m1",
                        "choices": [{"finish_reason": "stop"}],
                        "usage": {"prompt_tokens": 20, "completion_tokens": 5},
                    },
                },
            },
            {
                "role": "user",
                "content": "<returncode>0</returncode>\na.txt",
                "extra": {"returncode": 0, "timestamp": 1750000003.0, "raw_output": "a.txt"},
            },
            {"role": "exit", "content": "diff", "extra": {"exit_status": "Submitted", "submission": "diff"}},
        ],
    }


def inspect_sample(number: int = 1, epoch: int = 1) -> dict[str, Any]:
    """A sample with pooled messages, an attachment, a tool with its own times and a score."""
    asked = {"id": "i1", "role": "user", "content": "What is here?", "source": "input"}
    called = {
        "id": "i2",
        "role": "assistant",
        "content": [{"type": "reasoning", "reasoning": "I need ls"}, {"type": "text", "text": "Looking."}],
        "tool_calls": [{"id": "c1", "function": "bash", "arguments": {"command": "ls"}}],
    }
    told = {"id": "i3", "role": "tool", "content": "attachment://aa", "tool_call_id": "c1"}
    answered = {"id": "i4", "role": "assistant", "content": "One file."}
    tools = [{"name": "bash", "description": "Runs", "parameters": {"type": "object"}}]

    def model(second: int, spans: Any, message: Any, reason: str) -> dict[str, Any]:
        return {
            "event": "model",
            "uuid": f"m{second}",
            "timestamp": f"2026-01-01T10:00:{second:02}+00:00",
            "completed": f"2026-01-01T10:00:{second + 1:02}+00:00",
            "model": "p/m1",
            "input": [],
            "input_refs": spans,
            "tools": tools,
            "tool_choice": "auto",
            "config": {"temperature": 0.5},
            "output": {
                "model": "m1",
                "choices": [{"message": message, "stop_reason": reason}],
                "usage": {"input_tokens": 10, "output_tokens": 4, "input_tokens_cache_read": 5},
            },
        }

    return {
        "id": number,
        "epoch": epoch,
        "input": "What is here?",
        "target": "one",
        "messages": [asked, called, told, answered],
        "output": {"model": "m1", "choices": []},
        "scores": {"match": {"value": "C", "answer": "One file.", "explanation": "right"}},
        "events": [
            {"event": "span_begin", "timestamp": "2026-01-01T10:00:00+00:00", "name": "solver"},
            model(1, [[0, 1]], called, "tool_calls"),
            {
                "event": "tool",
                "id": "c1",
                "function": "bash",
                "arguments": {"command": "ls"},
                "result": "attachment://aa",
                "timestamp": "2026-01-01T10:00:03+00:00",
                "completed": "2026-01-01T10:00:07+00:00",
            },
            {"event": "info", "timestamp": "2026-01-01T10:00:04+00:00", "source": "me", "data": {"a": 1}},
            model(8, [[0, 3]], answered, "stop"),
        ],
        "events_data": {"messages": [asked, called, told], "calls": []},
        "attachments": {"aa": "a.txt", "bb": "never used"},
        "model_usage": {"p/m1": {"input_tokens": 20}},
    }


INSPECT_HEADER = {
    "version": 2,
    "status": "success",
    "eval": {"task": "look", "model": "p/m1", "dataset": {"name": "files"}},
    "plan": {},
}


def inspect_parts(*samples: dict[str, Any]) -> dict[str, Any]:
    """The parts of an `.eval` file."""
    samples = samples or (inspect_sample(),)
    short = [{key: one[key] for key in ("id", "epoch", "input", "scores")} for one in samples]
    named = {f"samples/{one['id']}_epoch_{one['epoch']}.json": one for one in samples}
    return {
        "_journal/start.json": INSPECT_HEADER,
        **named,
        "summaries.json": short,
        "header.json": INSPECT_HEADER,
    }


def inspect_eval() -> bytes:
    return archive(inspect_parts())


def inspect_json() -> dict[str, Any]:
    return {**INSPECT_HEADER, "samples": [inspect_sample()]}


FILES: dict[str, Callable[[], Any]] = {
    "ATIF 1.8": atif,
    "OpenAI chat": lambda: lines(chat()),
    "verifiers results": lambda: lines(rollout()),
    "verifiers traces": lambda: lines(episode()),
    "Claude Code": claude,
    "pi session 3": pi,
    "SWE-agent": swe,
    "mini-swe-agent-1.1": mini,
    "Inspect log 2": inspect_json,
}
"""By the name that the format gets; all JSON."""
