"""Columns to a task: what may be missing, what may stand where, and what a dataset may not bring."""

from __future__ import annotations

from typing import Any

import pytest

from agentscope_tui.datasets.columns import Columns
from agentscope_tui.datasets.task import RowProblem, Task


def task(columns: Columns | None = None, **row: Any) -> Task:
    return (columns or Columns()).task(0, 1, {"user_prompt": "do", **row})


@pytest.mark.parametrize("missing", [{}, {"system_prompt": None, "ground_truth": None, "files": None}])
def test_only_the_prompt_is_needed(missing):
    found = task(**missing)
    assert (found.system, found.ground_truth, found.grader, found.files) == (None, None, None, {})


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a", "a"),
        ("", ""),
        (3, "3"),
        (2.5, "2.5"),
        (True, "true"),
        (["é", 1], '["é", 1]'),
        ({"a": None}, '{"a": null}'),
        (float("nan"), None),
        (10**30, "1" + "0" * 30),
    ],
)
def test_a_ground_truth_that_is_no_text_is_its_json(value, text):
    assert task(ground_truth=value).ground_truth == text


def test_a_column_that_was_asked_for_must_be_there():
    columns = Columns(user_prompt="q", ground_truth="answr")
    with pytest.raises(
        RowProblem, match=r"'answr' is missing; columns found: q, answer \(--map ground_truth="
    ):
        columns.task(0, 1, {"q": "do", "answer": "x"})
    with pytest.raises(RowProblem, match=r"'q' is missing; columns found: question \(--map user_prompt="):
        columns.task(0, 1, {"question": "do"})


@pytest.mark.parametrize("value", [5, ["a"], True])
def test_a_system_prompt_is_text(value):
    with pytest.raises(RowProblem, match="'system_prompt' must be a string, got"):
        task(system_prompt=value)


@pytest.mark.parametrize("grader", ["exact", " contains ", "regex:a|b", "numeric:1%", "command:test -f x"])
def test_a_row_may_name_a_built_in_grader(grader):
    assert task(grader=grader).grader == grader.strip()


@pytest.mark.parametrize("grader", [None, "", "  "])
def test_a_row_may_name_no_grader(grader):
    assert task(grader=grader).grader is None


@pytest.mark.parametrize(
    ("grader", "reason"),
    [
        ("os:system", "names a Python function, which no dataset may"),
        ("pkg.mod:Class.method", "names a Python function"),
        ("exakt", "unknown grader 'exakt'"),
        ("command:", "needs a command"),
        (3, "must be a string"),
    ],
)
def test_a_row_may_not_name(grader, reason):
    with pytest.raises(RowProblem, match=reason):
        task(grader=grader)


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ("x", "must be an object of path and text, got a string"),
        (["x"], "must be an object of path and text, got a list"),
        ({"a": 1}, "the text of 'a' must be a string, got a number"),
        ({"/etc/passwd": ""}, "is not a path inside the task's folder"),
        ({"../a": ""}, "is not a path inside"),
        ({"a/../../b": ""}, "is not a path inside"),
        ({"": ""}, "is not a path inside"),
        ({".": ""}, "is not a path inside"),
        ({"a\0b": ""}, "is not a path inside"),
        ({"a": "", "./a": ""}, "is there twice"),
        ({"a": "", "a/b": ""}, "'a' is both a file and a folder"),
    ],
)
def test_files_stay_inside_the_folder(files, reason):
    with pytest.raises(RowProblem, match=reason):
        task(files=files)
