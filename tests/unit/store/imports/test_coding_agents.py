"""Sessions of Claude Code and pi, which are trees; trajectories of SWE-agent and mini-SWE-agent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from agentscope_tui.events import AgentNote, Interrupted, SessionStarted, ToolResult, UsageReported
from agentscope_tui.store.imports import claude_entries, open_trajectories, pi_entries
from agentscope_tui.store.imports.commands import FILE, MESSAGES
from fakes import foreign_files as foreign
from fakes import foreign_samples as samples


def claude_entry(kind: str, uuid: str, parent: str | None, content: Any, **fields: Any) -> dict[str, Any]:
    message = {"role": kind, "content": content}
    if kind == "assistant":
        message |= {"id": f"msg {uuid}", "model": "claude-x", "stop_reason": "end_turn"}
    base = {"sessionId": "s1", "isSidechain": False, "timestamp": "2026-01-01T10:01:00Z"}
    return {**base, "type": kind, "uuid": uuid, "parentUuid": parent, "message": message, **fields}


def text(said: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": said}]


def users(opened: foreign.Opened) -> list[str]:
    return [entry.text for entry in opened.state.entries if entry.kind == "user"]


def notes(opened: foreign.Opened) -> list[tuple[str, str]]:
    return [(note.title, note.text) for note in opened.of(AgentNote)]


# Claude Code


def test_the_pieces_of_a_completion_are_one_and_its_usage_is_told_once(tmp_path: Path) -> None:
    opened = foreign.open_file(tmp_path / "s", samples.claude())
    assert opened.shown() == [
        ("note", "Looking around"),
        ("user", "What is here?"),
        ("assistant", "Looking."),
        ("tool", "Bash: a.txt"),
        ("reasoning", "Only one."),
        ("assistant", "One file."),
        ("ended", ""),
    ]
    first, second = opened.of(UsageReported)
    assert (first.input_tokens, first.cached_tokens, second.output_tokens) == (15, 5, 4)
    assert [event.duration for event in opened.of(ToolResult)] == [1.0]
    kept = opened.extras()
    assert kept["line 5"] == {"toolUseResult": {"stdout": "a"}}
    assert kept["content of the answer"] == {"signature": "x"}
    assert kept[claude_entries.IDS]["line 2"]["cwd"] == "/w"
    assert "cwd" not in kept[claude_entries.IDS]["line 3"]


def test_the_newest_branch_is_the_session_and_others_are_trajectories_that_name_it(tmp_path: Path) -> None:
    left = [
        claude_entry("user", "b1", "u5", text("And hidden ones?")),
        claude_entry("assistant", "b2", "b1", text("None.")),
    ]
    taken = [
        claude_entry("user", "n1", "u5", text("How big?")),
        claude_entry("assistant", "n2", "n1", text("4 KiB.")),
        {"type": "file-history-snapshot", "messageId": "n2", "snapshot": {}},
    ]
    path = foreign.write(tmp_path / "s", samples.claude(*left, *taken))
    trajectories = open_trajectories(path)
    assert len(trajectories) == 2
    main, branch = foreign.shown(trajectories, 0), foreign.shown(trajectories, 1)
    assert users(main) == ["What is here?", "How big?"]
    assert users(branch) == ["What is here?", "And hidden ones?"]
    started = branch.events[0]
    assert isinstance(started, SessionStarted)
    assert (started.parent, started.parent_call) == (trajectories.session_id(0), 3)
    assert main.extras()["line 11"]["type"] == "file-history-snapshot"


def test_results_that_stand_beside_the_way_belong_to_it(tmp_path: Path) -> None:
    uses = [{"type": "tool_use", "id": f"t{n}", "name": "Read", "input": {}} for n in (1, 2)]
    results = [[{"type": "tool_result", "tool_use_id": f"t{n}", "content": f"R{n}"}] for n in (1, 2)]
    first, second = (claude_entry("assistant", f"a{n}", f"a{n - 1}", [uses[n - 1]]) for n in (1, 2))
    first["message"]["id"] = second["message"]["id"] = "same"
    first["parentUuid"] = "q"
    entries = [
        claude_entry("user", "q", None, text("read both")),
        first,
        claude_entry("user", "r1", "a1", results[0]),
        second,
        claude_entry("user", "r2", "a2", results[1]),
        claude_entry("assistant", "end", "r2", text("read")),
    ]
    trajectories = open_trajectories(foreign.write(tmp_path / "s", foreign.lines(*entries)))
    assert len(trajectories) == 1
    opened = foreign.shown(trajectories)
    assert [(call.content, call.state) for call in opened.state.calls] == [("R1", "done"), ("R2", "done")]
    assert opened.state.call == 2


def test_a_subagent_is_a_trajectory_of_its_own(tmp_path: Path) -> None:
    prompt = 'count "all" files'
    use = {"type": "tool_use", "id": "t", "name": "Task", "input": {"prompt": prompt}}
    side = [
        claude_entry("user", "s1", None, prompt, isSidechain=True),
        claude_entry("assistant", "s2", "s1", text("3"), isSidechain=True),
    ]
    entries = [
        claude_entry("user", "q", None, text("how many?")),
        claude_entry("assistant", "a", "q", [use]),
        *side,
        claude_entry("user", "r", "a", [{"type": "tool_result", "tool_use_id": "t", "content": "3"}]),
    ]
    trajectories = open_trajectories(foreign.write(tmp_path / "s", foreign.lines(*entries)))
    assert [trajectories.summary(n).prompt for n in range(2)] == ["how many?", prompt]
    assert notes(foreign.shown(trajectories, 0)) == [("subagent", "a subagent ran: trajectory 2 of the file")]
    assert ("assistant", "3") in foreign.shown(trajectories, 1).shown()
    alone = open_trajectories(foreign.write(tmp_path / "agent", foreign.lines(*side)))
    assert len(alone) == 1
    assert foreign.shown(alone).state.call == 1


def test_interrupts_errors_compactions_and_bad_lines_of_claude_code(tmp_path: Path) -> None:
    use = {"type": "tool_use", "id": "t9", "name": "Bash", "input": {"command": "sleep"}}
    error = claude_entry("assistant", "f", "e", text("API Error: overloaded"), isApiErrorMessage=True)
    error["message"]["model"] = "<synthetic>"
    more = [
        claude_entry("user", "a", "u5", text("wait")),
        claude_entry("assistant", "b", "a", [use]),
        claude_entry("user", "c", "b", text("[Request interrupted by user for tool use]")),
        "not json",
        "42",
        claude_entry("user", "e", "c", text("go on")),
        error,
        {
            **claude_entry("user", "g", None, ""),
            "type": "system",
            "subtype": "compact_boundary",
            "content": "Conversation compacted",
            "logicalParentUuid": "f",
            "compactMetadata": {"trigger": "auto"},
        },
        claude_entry("user", "h", "g", "It was about files.", isCompactSummary=True),
        claude_entry("assistant", "i", "h", text("Right.")),
    ]
    opened = foreign.open_file(tmp_path / "s", samples.claude(*more))
    (stopped,) = opened.of(Interrupted)
    assert stopped.reason.startswith("[Request interrupted")
    assert opened.state.calls[1].state == "interrupted"
    assert [problem.partition(":")[0] for problem in opened.problems()] == [
        "line 10 of the file cannot be read",
        "line 11 of the file cannot be read",
        "API Error",
    ]
    assert opened.state.request_messages(5) == [{"role": "user", "content": "It was about files."}]
    assert opened.state.model == "claude-x"
    assert ("compact boundary", "Conversation compacted") in notes(opened)


# pi


def test_a_session_of_pi_is_shown_whole_in_each_version(tmp_path: Path) -> None:
    for version in (1, 2, 3):
        opened = foreign.open_file(tmp_path / "s", samples.pi(version=version))
        assert opened.shown() == [
            ("user", "What is here?"),
            ("reasoning", "I need ls"),
            ("assistant", "Looking."),
            ("tool", "bash: a.txt"),
            ("assistant", "One file."),
            ("ended", ""),
        ]
        assert opened.state.cost == 0.02
        assert opened.state.input_tokens == 32
        assert opened.state.model == "p/m1"
        assert opened.extras()[pi_entries.PRICES]["call 1"] == {"cacheWrite": 1, "input": 0.001}


def pi_entry(place: int, parent: int, message: Any, **fields: Any) -> dict[str, Any]:
    entry = {"type": "message", "id": f"e{place}", "parentId": f"e{parent}", **fields}
    return entry | ({"message": message} if message is not None else {})


def test_the_branches_of_a_tree_are_trajectories(tmp_path: Path) -> None:
    said = {"role": "assistant", "content": [{"type": "text", "text": "None."}], "stopReason": "stop"}
    more = [
        pi_entry(5, 4, {"role": "user", "content": "And hidden?"}),
        pi_entry(6, 5, said),
        pi_entry(7, 4, None, type="branch_summary", summary="looked for hidden files", fromId="e6"),
        pi_entry(8, 7, {"role": "user", "content": "How big?"}),
        pi_entry(9, 8, said),
        pi_entry(10, 9, None, type="label", targetId="e8", label="here"),
    ]
    trajectories = open_trajectories(foreign.write(tmp_path / "s", samples.pi(*more)))
    assert len(trajectories) == 2
    main, branch = foreign.shown(trajectories, 0), foreign.shown(trajectories, 1)
    assert users(main) == ["What is here?", "How big?"]
    assert users(branch) == ["What is here?", "And hidden?"]
    started = branch.events[0]
    assert isinstance(started, SessionStarted)
    assert (started.parent, started.parent_call) == (trajectories.session_id(0), 3)
    assert ("summary of a branch", "looked for hidden files") in notes(main)
    assert main.state.request_messages(3)[-2]["content"] == "looked for hidden files"
    assert main.extras()["line 11"] == {"type": "label", "targetId": "e8", "label": "here"}


def test_a_compaction_a_command_of_the_user_a_stop_and_an_error_of_pi(tmp_path: Path) -> None:
    def assistant(said: str, reason: str, **fields: Any) -> dict[str, Any]:
        content = [{"type": "text", "text": said}] if said else []
        return {"role": "assistant", "content": content, "stopReason": reason, "model": "m2", **fields}

    bash = {"role": "bashExecution", "command": "du", "output": "4", "exitCode": 1, "truncated": True}
    more = [
        pi_entry(5, 4, None, type="compaction", summary="Files were listed.", firstKeptEntryId="e4"),
        pi_entry(6, 5, bash),
        pi_entry(7, 6, {**bash, "excludeFromContext": True, "cancelled": True}),
        pi_entry(8, 7, {"role": "user", "content": "go on"}),
        pi_entry(9, 8, assistant("Half an", "error", errorMessage="terminated")),
        pi_entry(10, 9, assistant("", "aborted", errorMessage="Request was aborted")),
        pi_entry(11, 10, None, type="model_change", provider="p", modelId="m2"),
        pi_entry(12, 11, {"role": "ghost"}),
        pi_entry(13, 12, None, type="custom_message", customType="todo", content="Remember it", display=True),
    ]
    opened = foreign.open_file(tmp_path / "s", samples.pi(*more))
    request = opened.state.request_messages(3)
    assert [message["content"] for message in request[:1]] == ["Files were listed."]
    assert request[1]["content"] == "One file."
    assert request[2]["content"] == "$ du\n4"
    assert request[3]["content"] == "go on"
    assert [(call.own, call.state, call.exit_code) for call in opened.state.calls[1:]] == [
        (True, "failed", 1),
        (True, "interrupted", 1),
    ]
    assert opened.problems()[:1] == ["terminated"]
    assert "no known role" in opened.problems()[1]
    (stopped,) = opened.of(Interrupted)
    assert (stopped.reason, stopped.model_call) == ("Request was aborted", 4)
    assert ("model", "the user chose p/m2") in notes(opened)
    assert ("todo", "Remember it") in notes(opened)


# SWE-agent


def test_a_trajectory_of_swe_agent_has_its_commands_its_demonstration_and_its_answer(tmp_path: Path) -> None:
    opened = foreign.open_file(tmp_path / "t", samples.swe())
    assert opened.shown() == [
        ("earlier", "A demonstration"),
        ("user", "What is here?"),
        ("assistant", "Looking.\n```\nls\n```"),
        ("tool", "bash: a.txt\n(bash)"),
        ("assistant", "One file."),
        ("note", "diff"),
        ("ended", "submitted"),
    ]
    (call,) = opened.state.calls
    assert (json.loads(call.arguments), call.duration) == ({"command": "ls"}, 0.25)
    kept = opened.extras()
    assert kept[FILE]["info"]["model_stats"] == {"instance_cost": 0.5, "tokens_sent": 100}
    assert kept["rest of the steps"]["step 1"]["state"] == {"open_file": "n/a"}
    assert kept[MESSAGES]["message 2"] == {"is_demo": True, "agent": "main"}


def test_one_of_swe_agent_may_be_only_a_history_with_tool_calls_or_only_steps(tmp_path: Path) -> None:
    messages = samples.chat()["messages"]
    messages[3] = {"role": "tool", "content": "a.txt", "tool_call_ids": ["c1"]}
    opened = foreign.open_file(tmp_path / "t", {"history": messages})
    assert ("tool", "bash: a.txt") in opened.shown()
    assert opened.state.request_messages(2)[-1] == {"role": "tool", "content": "a.txt", "tool_call_id": "c1"}
    query = samples.chat()["messages"][:2]
    steps = [{"action": "ls", "observation": "a.txt", "response": "Looking.", "query": query}]
    alone = foreign.open_file(tmp_path / "t", {"trajectory": steps, "info": {"exit_status": "exit_cost"}})
    assert alone.shown()[:3] == [
        ("user", "What is here?"),
        ("assistant", "Looking."),
        ("tool", "bash: a.txt"),
    ]
    assert (alone.state.outcome, alone.state.outcome_reason) == ("limit", "exit_cost")


def test_both_formats_of_mini_swe_agent(tmp_path: Path) -> None:
    new = samples.mini()
    opened = foreign.open_file(tmp_path / "t", new)
    assert opened.shown() == [
        ("user", "What is here?"),
        ("assistant", "Looking.\n```mswea_bash_command\nls\n```"),
        ("tool", "bash: <returncode>0</returncode>\na.txt"),
        ("note", "diff"),
        ("note", "diff"),
        ("ended", "Submitted"),
    ]
    assert (opened.state.cost, opened.state.input_tokens) == (0.02, 20)
    assert opened.state.calls[0].duration == 1.0
    assert "extra" not in opened.state.request_messages(1)[-1]
    assert opened.extras()[MESSAGES]["message 4"]["extra"] == {"raw_output": "a.txt"}
    old = [{key: message[key] for key in ("role", "content")} for message in new["messages"][:4]]
    again = foreign.open_file(tmp_path / "t", old)
    assert again.shown()[:3] == opened.shown()[:3]
    assert again.state.calls[0].exit_code == 0
    assert foreign.open_file(tmp_path / "t", {"info": {}, "messages": old}).shown() == again.shown()


def test_mini_swe_agent_with_tool_calls_and_a_bad_format(tmp_path: Path) -> None:
    file = samples.mini()
    file["messages"][2:4] = [
        {"role": "assistant", "content": "no command", "extra": {"timestamp": 1.75e9}},
        {"role": "user", "content": "Use a tool.", "extra": {"interrupt_type": "FormatError"}},
        {"role": "assistant", "content": None, "tool_calls": [samples.CALL]},
        {"role": "tool", "tool_call_id": "c1", "content": "a.txt", "extra": {"returncode": 2}},
    ]
    file["info"]["exit_status"] = "LimitsExceeded"
    opened = foreign.open_file(tmp_path / "t", file)
    assert users(opened) == ["What is here?", "Use a tool."]
    (call,) = opened.state.calls
    assert (call.own, call.exit_code, call.state) == (False, 2, "failed")
    assert opened.state.outcome == "limit"
