"""Templates of a row's fields: as the prompt, and as the path of a folder."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentscope_tui.datasets.columns import Columns
from agentscope_tui.datasets.fields import as_text
from agentscope_tui.datasets.task import RowProblem, SeedFolder
from agentscope_tui.datasets.template import Template
from agentscope_tui.errors import UsageError


def filled(text: str, **row: object) -> str:
    return Template.parse(text, "--prompt").fill(row, lambda path, value: as_text(value))


@pytest.mark.parametrize(
    ("text", "prompt"),
    [
        ("Solve: {question}", "Solve: 1 + 1"),
        ("{question}{question}", "1 + 11 + 1"),
        ("{ question }!", "1 + 1!"),
        ("{meta.options.1}", "b"),
        ("{meta.options}", '["a", "b"]'),
        ("{number}", "2.5"),
        ('{{"q": "{question}"}}', '{"q": "1 + 1"}'),
        ("{{{question}}}", "{1 + 1}"),
        ("{{question}}", "{question}"),
        ("Read row.json.", "Read row.json."),
    ],
)
def test_a_template_has_the_fields_of_the_row(text, prompt):
    assert filled(text, question="1 + 1", number=2.5, meta={"options": ["a", "b"]}) == prompt


@given(st.text(), st.text())
def test_any_text_can_be_written_and_any_value_is_taken_as_it_is(literal, value):
    escaped = literal.replace("{", "{{").replace("}", "}}")
    assert filled(f"{escaped}{{x}}{escaped}", x=value) == literal + value + literal


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Solve {question", "--prompt: the '{' at column 7 is no {field}: write {{ for a brace"),
        ("a } b", "--prompt: the '}' at column 3 is no {field}: write }} for a brace"),
        ("{}", "--prompt: the '{' at column 1 is no {field}: write {{ for a brace"),
        ("x{ }", "--prompt: the '{' at column 2 is no {field}: write {{ for a brace"),
        ("{a{b}}", "--prompt: the '{' at column 1 is no {field}: write {{ for a brace"),
        ("{{x}", "--prompt: the '}' at column 4 is no {field}: write }} for a brace"),
    ],
)
def test_braces_that_do_not_pair_are_refused(text, message):
    with pytest.raises(UsageError) as refused:
        Template.parse(text, "--prompt")
    assert str(refused.value) == message


def test_the_template_replaces_the_prompt_column_and_guesses_none():
    row = {"user_prompt": "p", "question": "q", "answer": "a"}
    columns = Columns(prompt=Template.parse("Solve: {question}", "--prompt")).resolved([row])
    task = columns.task(0, 1, row)
    assert (task.prompt, task.ground_truth) == ("Solve: q", "a")
    assert columns.guesses == "answer → ground_truth (guessed; --map changes it)"


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"q": "x"}, "'{a} {b.c}': column 'a' is missing; columns found: q"),
        ({"a": "x", "b": {"d": 1}}, "'{a} {b.c}': column 'b.c' is missing; 'b' is an object with d"),
        ({"a": None, "b": {"c": 1}}, "'a' cannot be null"),
        ({"a": float("nan"), "b": {"c": 1}}, "'a' cannot be null"),
        ({"a": "", "b": {"c": " "}}, "the prompt '{a} {b.c}' cannot be empty"),
    ],
)
def test_a_row_that_does_not_fill_the_prompt_is_a_bad_row(row, reason):
    with pytest.raises(RowProblem) as problem:
        Columns(prompt=Template.parse("{a} {b.c}", "--prompt")).task(0, 1, row)
    assert str(problem.value) == reason


@pytest.mark.parametrize("value", ["t-1", 7, "..a", "with space", "~x"])
def test_a_field_names_a_folder(value):
    columns = Columns(folder=Template.parse("tasks/{id}/in", "--files"))
    folder = columns.task(0, 1, {"user_prompt": "p", "id": value}).folder
    assert folder == SeedFolder(f"tasks/{value}/in", "tasks")


@pytest.mark.parametrize(
    ("template", "path", "root"),
    [
        ("{id}", "7", "."),
        ("t{id}", "t7", "."),
        ("/{id}", "/7", "/"),
        ("/a/b-{id}/c", "/a/b-7/c", "/a"),
        ("shared", "shared", "shared"),
    ],
)
def test_what_stands_before_the_first_field_is_the_root(template, path, root):
    columns = Columns(folder=Template.parse(template, "--files"))
    assert columns.task(0, 1, {"user_prompt": "p", "id": 7}).folder == SeedFolder(path, root)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("..", "'id' must be the name of a folder and no path, got '..'"),
        (".", "must be the name of a folder and no path"),
        ("", "must be the name of a folder and no path"),
        ("a/b", "must be the name of a folder and no path"),
        ("/etc", "must be the name of a folder and no path"),
        ("a\\b", "must be the name of a folder and no path"),
        ("a\0", "must be the name of a folder and no path"),
        (1.5, "must be a string or a whole number to name a folder, got a number"),
        (True, "must be a string or a whole number to name a folder, got true or false"),
        (["a"], "must be a string or a whole number to name a folder, got a list"),
        (None, "'id' cannot be null"),
    ],
)
def test_a_field_leads_nowhere_else(value, reason):
    columns = Columns(folder=Template.parse("tasks/{id}", "--files"))
    with pytest.raises(RowProblem) as problem:
        columns.task(0, 1, {"user_prompt": "p", "id": value})
    assert reason in str(problem.value)
