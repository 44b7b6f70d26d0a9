"""Columns that nobody named: found by conventional names, told, overridden, reached by dotted paths."""

from __future__ import annotations

from typing import Any

import pytest

from agentscope_tui.datasets.columns import Columns
from agentscope_tui.datasets.fields import NoField, locate, lookup, without
from agentscope_tui.datasets.task import RowProblem


def resolved(*rows: dict[str, Any], **named: Any) -> Columns:
    return Columns(**named).resolved(rows)


@pytest.mark.parametrize(
    ("row", "prompt"),
    [
        ({"question": "q", "input": "i", "problem": "p"}, "q"),
        ({"input": "i", "instruction": "do", "problem": "p"}, "i"),
        ({"problem": "p", "messages": [{"role": "user", "content": "m"}]}, "p"),
        ({"messages": [{"role": "user", "content": "m"}], "id": 3}, "m"),
        ({"PROMPT": "loud", "Question": "q"}, "loud"),
        ({"Prompt": "other case", "question": "exact"}, "exact"),
        ({"prompt": "p", "user_prompt": "own name"}, "own name"),
    ],
)
def test_the_prompt_is_found_by_its_name(row, prompt):
    assert resolved(row).task(0, 1, row).prompt == prompt


@pytest.mark.parametrize("column", ["ground_truth", "answer", "label", "target", "expected", "Answer"])
def test_the_ground_truth_is_found_by_its_name(column):
    row = {"question": "q", column: 7}
    assert resolved(row).task(0, 1, row).ground_truth == "7"


def test_the_system_prompt_is_found_by_its_name():
    row = {"question": "q", "system": "Be brief."}
    assert resolved(row).task(0, 1, row).system == "Be brief."


def test_a_column_that_is_mostly_blank_is_not_the_prompt():
    rows = [{"input": " " if number else "x", "instruction": f"do {number}"} for number in range(4)]
    assert resolved(*rows).guessed["user_prompt"] == "instruction"
    assert resolved({"input": ""}, {"input": ""}).guessed["user_prompt"] == "input"


def test_a_column_that_the_first_row_lacks_is_found():
    assert resolved({"id": 1}, {"id": 2, "question": "q"}).guessed["user_prompt"] == "question"


def test_what_was_guessed_is_told_and_what_is_obvious_is_not():
    columns = resolved({"question": "q", "answer": "a", "system_prompt": "s"})
    assert columns.guesses == "question → user_prompt, answer → ground_truth (guessed; --map changes it)"
    assert resolved({"user_prompt": "q", "ground_truth": "a"}).guesses == ""
    assert resolved({"question": "q"}, user_prompt="question").guesses == ""
    assert Columns().guesses == ""


def test_a_named_column_is_not_guessed():
    row = {"question": "q", "text": "t", "answer": "a", "gold": "g"}
    task = resolved(row, user_prompt="text", ground_truth="gold").task(0, 1, row)
    assert (task.prompt, task.ground_truth) == ("t", "g")


def test_without_any_such_name_the_row_says_which_columns_there_are():
    columns = resolved({"text": "t", "id": 1})
    with pytest.raises(RowProblem) as problem:
        columns.task(0, 1, {"text": "t", "id": 1})
    assert str(problem.value) == (
        "column 'user_prompt' is missing; columns found: text, id (--map user_prompt=COLUMN names another)"
    )


def test_a_row_without_the_guessed_ground_truth_is_a_task():
    columns = resolved({"question": "q", "answer": "a"})
    assert columns.task(1, 2, {"question": "q"}).ground_truth is None
    with pytest.raises(RowProblem, match="column 'question' is missing; columns found: answer"):
        columns.task(2, 3, {"answer": "a"})


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("a", {"b.c": 1, "b": {"c": 2}, "d": [{"e": 3}, [4]]}),
        ("a.b.c", 1),
        ("a.b", {"c": 2}),
        ("a.d.0.e", 3),
        ("a.d.1.0", 4),
        ("x.y", 5),
        ("x.y.z", 6),
    ],
)
def test_a_dotted_path_leads_inside_and_a_key_with_dots_wins(path, value):
    row = {"a": {"b.c": 1, "b": {"c": 2}, "d": [{"e": 3}, [4]]}, "x.y": 5, "x": {"y.z": 6}}
    assert lookup(row, path) == value


@pytest.mark.parametrize(
    ("path", "there_is"),
    [
        ("b", "columns found: a, n"),
        ("a.x", "'a' is an object with b, c"),
        ("a.b.0", "'a.b' is an object with nothing"),
        ("a.c.2", "'a.c' is a list of 2"),
        ("a.c.-1", "'a.c' is a list of 2"),
        ("a.c.0.x", "'a.c.0' is a string"),
        ("n.x", "'n' is null"),
        (".", "columns found: a, n"),
    ],
)
def test_a_missing_field_says_what_there_is(path, there_is):
    with pytest.raises(NoField) as missing:
        lookup({"a": {"b": {}, "c": ["x", "y"]}, "n": None}, path)
    assert str(missing.value) == f"column '{path}' is missing; {there_is}"


def test_a_ground_truth_inside_a_column():
    columns = Columns(ground_truth="meta.answer.0")
    row = {"user_prompt": "q", "meta": {"answer": ["42", "forty-two"]}}
    assert columns.task(0, 1, row).ground_truth == "42"
    with pytest.raises(RowProblem) as problem:
        columns.task(0, 1, {"user_prompt": "q", "meta": {"answer": []}})
    assert str(problem.value) == (
        "column 'meta.answer.0' is missing; 'meta.answer' is a list of 0 "
        "(--map ground_truth=COLUMN names another)"
    )


def test_fields_are_left_out_of_a_copy():
    row = {"a": {"b": 1, "c": [1, 2, 3]}, "d.e": 4, "f": [{"g": 5}]}
    ways = [locate(row, path) for path in ("a.c.0", "a.c.2", "d.e", "f.0.g", "f")]
    assert without(row, [*ways, ("gone",)]) == {"a": {"b": 1, "c": [2]}}
    assert row == {"a": {"b": 1, "c": [1, 2, 3]}, "d.e": 4, "f": [{"g": 5}]}
