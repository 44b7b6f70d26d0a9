"""OpenAI chat JSON lines: examples that keep the rules of fine-tuning, whatever happened in the session."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import agentscope_tui.events as ev
from agentscope_tui.models.chat import FunctionCall, ToolCallPart
from agentscope_tui.store.imports import open_trajectories
from fakes.past_sessions import eventful, exported, past

TOOL = {"name": "bash", "description": "run", "parameters": {"type": "object", "properties": {}}}
START = ev.SessionStarted(version="1", tools=[TOOL])
GO = ev.UserMessageSent(msg_id="m", text="go", turn=1)
CALL = {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": "{}"}}


def examples(*events: ev.SessionEvent, **choices: Any) -> list[dict[str, Any]]:
    lines = exported("openai", past(*events), **choices).splitlines()
    found = [json.loads(line) for line in lines]
    for example in found:
        check(example)
    return found


def check(example: dict[str, Any]) -> None:
    """The rules of OpenAI for an example with tools."""
    assert set(example) <= {"messages", "tools"}
    names = {tool["function"]["name"] for tool in example.get("tools", ())}
    open_calls: set[str] = set()
    for message in example["messages"]:
        match message:
            case {"role": "tool", "tool_call_id": str(call_id), "content": str() | list()}:
                open_calls.remove(call_id)
                continue
            case {"role": "system" | "developer" | "user", "content": str() | list()}:
                pass
            case {"role": "assistant", "content": str(text)} if not message.get("tool_calls"):
                assert text is not None
            case {"role": "assistant", "tool_calls": [_, *_] as calls}:
                assert not open_calls
                for call in calls:
                    assert set(call) == {"id", "type", "function"}
                    assert isinstance(call["function"]["arguments"], str)
                    assert call["function"]["name"] in names
                open_calls = {call["id"] for call in calls}
                continue
            case _:
                raise AssertionError(f"no message of an example: {message}")
        assert not open_calls
    assert example["messages"][-1]["role"] == "assistant"


def sent(call: int, *messages: dict[str, Any], base: int = 0, kept: int = 0) -> ev.LlmRequestSent:
    request = ev.LlmRequestSent(call=call, turn=1, req_id=f"r{call}", base=base, kept=kept)
    return request.model_copy(update={"messages": list(messages), "tools": ["bash"]})


def said(call: int, text: str, *calls: str, **fields: Any) -> ev.AssistantMessage:
    parts = [ToolCallPart(id=one, function=FunctionCall(name="bash", arguments="{}")) for one in calls]
    return ev.AssistantMessage(call=call, text=text, tool_calls=parts, **fields)


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def result(call_id: str, content: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def assistant(content: str | None, *calls: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {
        "role": "assistant",
        "content": content,
        **({"tool_calls": list(calls)} if calls else {}),
        **fields,
    }


async def test_a_session_with_everything_keeps_the_rules() -> None:
    notes: list[str] = []
    (line,) = exported("openai", await eventful(), say=notes.append).splitlines()
    example = json.loads(line)
    roles = [message["role"] for message in example["messages"]]
    assert roles[:5] == ["system", "user", "assistant", "tool", "assistant"]
    assert example["messages"][-1] == {"role": "assistant", "content": "Quick it is."}
    assert notes == []


def test_the_last_answer_ends_the_example() -> None:
    (example,) = examples(
        START,
        GO,
        sent(1, user("go")),
        said(1, "I look.", "c1"),
        sent(2, assistant("I look.", CALL), result("c1", "a.txt"), base=1, kept=1),
        said(2, "There is a.txt."),
    )
    assert example["messages"] == [
        user("go"),
        assistant("I look.", CALL),
        result("c1", "a.txt"),
        assistant("There is a.txt."),
    ]
    assert example["tools"] == [{"type": "function", "function": TOOL}]


def test_an_answer_that_was_cut_off_failed_or_was_refused_is_in_no_example() -> None:
    first = [START, GO, sent(1, user("go")), said(1, "one")]
    again = [sent(2, assistant("one"), user("more"), base=1, kept=1)]
    hold = ev.Paused(hold=1, step="completion", call=2)
    refused = ev.Resumed(hold=1, decision="refuse")
    for events in (
        [said(2, "tw", partial=True)],
        [said(2, "two"), hold, refused],
        [ev.ErrorOccurred(source="model", call=2, message="busy")],
    ):
        (example,) = examples(*first, *again, *events)
        assert example["messages"] == [user("go"), assistant("one")]
    assert examples(START, GO, sent(1, user("go"))) == []


def test_what_a_runner_sent_wrong_is_put_right() -> None:
    messages = [user("go"), assistant(None, CALL), user("and?"), result("c9", "stray")]
    (example,) = examples(START, GO, sent(1, *messages), said(1, "done"))
    assert [message["role"] for message in example["messages"]] == [
        "user",
        "assistant",
        "tool",
        "user",
        "assistant",
    ]


def test_reasoning_and_fields_of_providers_are_left_out_unless_asked_for() -> None:
    before = assistant("<think>hm</think>\n\none", reasoning_content="deep", signature="xyz")
    events = [START, GO, sent(1, user("go"), before, user("more")), said(1, "two", reasoning="deeper")]
    (example,) = examples(*events)
    assert example["messages"][1:] == [assistant("one"), user("more"), assistant("two")]
    (example,) = examples(*events, reasoning=True)
    assert [message.get("reasoning_content") for message in example["messages"]] == [
        None,
        "deep",
        None,
        "deeper",
    ]
    assert "signature" not in str(example)


def test_only_sessions_with_the_reward_are_written() -> None:
    running = ev.StateChanged(status="running", turn=1)
    graded = [running, ev.Graded(grader="exact", turn=1, reward=0.5)]
    session = [START, GO, sent(1, user("go")), said(1, "one")]
    notes: list[str] = []
    assert len(examples(*session, *graded, min_reward=0.5)) == 1
    assert examples(*session, *graded, min_reward=0.6, say=notes.append) == []
    assert examples(*session, min_reward=0, say=notes.append) == []
    assert notes == ["s has reward 0.5: left out", "s has no reward: left out"]


def test_a_history_that_was_rewritten_is_told() -> None:
    notes: list[str] = []
    (example,) = examples(
        START,
        GO,
        sent(1, user("a long story")),
        said(1, "one"),
        sent(2, user("in short")),
        said(2, "two"),
        say=notes.append,
    )
    assert example["messages"] == [user("in short"), assistant("two")]
    assert notes == [
        "s has more than one conversation: the one that ends with call #2 is written, not those that end "
        "with #1"
    ]


def test_a_tool_of_which_only_the_name_is_known_is_declared_without_parameters() -> None:
    request = sent(1, user("go")).model_copy(update={"tools": ["own"]})
    (example,) = examples(START, GO, request, said(1, "one"))
    assert example["tools"] == [
        {"type": "function", "function": {"name": "own", "parameters": {"type": "object", "properties": {}}}}
    ]


def test_an_example_of_another_tool_comes_back_as_it_was(tmp_path: Path) -> None:
    example = {
        "messages": [
            {"role": "system", "content": "Be brief."},
            user("go"),
            assistant("I look.", CALL),
            result("c1", "a.txt"),
            assistant("There is a.txt."),
            user("and now?"),
            assistant("Nothing."),
        ],
        "tools": [{"type": "function", "function": TOOL}],
    }
    path = tmp_path / "train.jsonl"
    path.write_text(json.dumps(example) + "\n" + json.dumps({"messages": [user("x"), assistant("y")]}) + "\n")
    opened = open_trajectories(path)
    assert json.loads(exported("openai", opened.session(0).events)) == example
