"""A chat as the prompt column: history, prompt, expected answer, and what is no chat."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentscope_tui.datasets.columns import Columns
from agentscope_tui.datasets.fields import without
from agentscope_tui.datasets.task import RowProblem, Task

CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
CHAT = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Hello"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": "seen"},
    {"role": "assistant", "content": "Hi"},
    {"role": "user", "content": [{"type": "text", "text": "2 + "}, {"type": "text", "text": "2?"}]},
    {"role": "assistant", "content": "Let me think."},
    {"role": "assistant", "content": "4"},
]


def task(*messages: Any, **row: Any) -> Task:
    row = {"messages": list(messages), **row}
    return Columns().resolved([row]).task(0, 1, row)


def test_a_chat_starts_with_its_history_and_asks_its_last_user_message():
    found = task(*CHAT)
    assert (found.system, found.prompt, found.ground_truth) == ("Be brief.", "2 + 2?", "4")
    assert list(found.history) == CHAT[1:5]


def test_a_chat_without_an_answer_has_no_ground_truth():
    found = task(*CHAT[:2])
    assert (found.prompt, found.history, found.ground_truth) == ("Hello", (), None)


def test_columns_of_their_own_win_over_the_chat():
    found = task(*CHAT, system="From the column.", answer="four")
    assert (found.system, found.ground_truth) == ("From the column.", "four")
    assert list(found.history) == CHAT[1:5]
    assert task(*CHAT, system=None, answer=None).system == "Be brief."
    assert task(*CHAT, answer=None).ground_truth == "4"


def test_a_ground_truth_that_was_named_is_not_replaced_by_the_chat():
    row = {"messages": CHAT, "gold": None}
    assert Columns(ground_truth="gold").resolved([row]).task(0, 1, row).ground_truth is None


def test_a_system_message_in_the_middle_stays_there():
    middle = {"role": "system", "content": "Now in French."}
    found = task(
        {"role": "developer", "content": "A"},
        {"role": "system", "content": "B"},
        *CHAT[1:2],
        middle,
        *CHAT[1:2],
    )
    assert found.system == "A\n\nB"
    assert list(found.history) == [CHAT[1], middle]


def test_nulls_of_table_formats_are_left_out_and_arguments_become_text():
    call = {"id": "c1", "type": None, "index": None, "function": {"name": "look", "arguments": {"at": "é"}}}
    found = task(
        {"role": "assistant", "content": None, "name": None, "tool_calls": [call]},
        {"role": "tool", "content": "ok", "tool_call_id": "c1", "tool_calls": None},
        {"role": "user", "content": "go", "tool_calls": [], "tool_call_id": None},
    )
    function = {"name": "look", "arguments": json.dumps({"at": "é"}, ensure_ascii=False)}
    assert list(found.history) == [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "type": "function", "function": function}],
        },
        {"role": "tool", "content": "ok", "tool_call_id": "c1"},
    ]


def test_any_prompt_column_may_hold_a_chat():
    row = {"conversation": {"turns": CHAT}}
    assert Columns(user_prompt="conversation.turns").task(0, 1, row).prompt == "2 + 2?"


@pytest.mark.parametrize(
    ("messages", "reason"),
    [
        ([{"role": "assistant", "content": "x"}], "'messages' has no user message"),
        ([{"role": "system", "content": "x"}], "'messages' has no user message"),
        (
            [{"role": "user", "content": "x"}, 5],
            "'messages' message 2 must be an object with a role and content, got a number",
        ),
        (
            [{"role": "human", "content": "x"}],
            "'messages' message 1: the role must be system, user, assistant or tool, got 'human'",
        ),
        (
            [{"from": "human", "value": "x"}],
            "'messages' message 1: the role must be system, user, assistant or tool, got null",
        ),
        (
            [{"role": "user", "content": 5}],
            "'messages' message 1: the content must be a string or a list of parts, got a number",
        ),
        (
            [{"role": "user"}],
            "'messages' message 1: the content must be a string or a list of parts, got null",
        ),
        (
            [{"role": "user", "content": ["x"]}],
            "'messages' message 1: each part of the content must be an object with a type",
        ),
        (
            [{"role": "user", "content": [{"type": "text", "text": 1}]}],
            "'messages' message 1: the text of a part must be a string",
        ),
        ([{"role": "user", "content": " \n"}], "'messages' message 1 cannot be empty"),
        (
            [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:,"}}]}],
            "'messages' message 1: the last user message must be text: an agent is asked in words",
        ),
        (
            [{"role": "tool", "content": "x"}, {"role": "user", "content": "x"}],
            "'messages' message 1: a tool message needs a tool_call_id",
        ),
        (
            [{"role": "user", "content": "x", "tool_calls": [CALL]}],
            "'messages' message 1: only an assistant message can have tool_calls",
        ),
        (
            [{"role": "assistant", "tool_calls": "x"}],
            "'messages' message 1: tool_calls must be a list, got a string",
        ),
        (
            [{"role": "assistant", "tool_calls": [{"id": "c"}]}],
            "'messages' message 1: a tool call needs an id and a function with a name",
        ),
        ([], "'messages' cannot be empty"),
        (["x"], "'messages' must be a string, got a list"),
    ],
)
def test_what_is_no_chat_says_why(messages, reason):
    with pytest.raises(RowProblem) as problem:
        task(*messages)
    assert str(problem.value) == reason


def test_what_the_row_file_leaves_out_is_known_wherever_it_stands():
    row = {
        "id": 1,
        "messages": CHAT,
        "meta": {"gold": ["4", "four"], "level": 2},
        "Answer": "4",
        "grader": "regex:4",
        "files": {"a": "text"},
    }
    found = Columns(ground_truth="meta.gold.0").resolved([row]).task(0, 1, row)
    assert without(row, found.left_out) == {"id": 1, "messages": CHAT[:6], "meta": {"level": 2}}
    assert found.row == row
