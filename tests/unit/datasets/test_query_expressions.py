"""Filter expressions: what they say of a row, and that nothing else can be said with them."""

from __future__ import annotations

from typing import Any

import pytest

from agentscope_tui.datasets.expression import ExpressionError, parse_expression
from agentscope_tui.datasets.query import needs_no_rows
from agentscope_tui.datasets.raw import RawRow
from agentscope_tui.datasets.record import Record, Standing
from agentscope_tui.datasets.task import RowError, Task

ROW: dict[str, Any] = {
    "question": "What is the tax on $100?",
    "answer": 7,
    "level": 3,
    "state": "Ohio",
    "odd name": "x",
    "empty": None,
    "nan": float("nan"),
    "meta": {"source": "web", "tags": ["hard", "money"], "a.b": 1},
    "messages": [{"role": "user", "content": "hi"}],
}


def record(row: dict[str, Any] | None = None, standing: Standing | None = None) -> Record:
    raw = RawRow(6, ROW if row is None else row, 10)
    return Record(5, raw, standing or Standing(), lambda index, raw: Task(5, raw.line, "the prompt"))


@pytest.mark.parametrize(
    ("text", "passes"),
    [
        ('"tax" in question', True),
        ('"Tax" in question', False),
        ('"tax" in lower(question)', True),
        ('"tax" not in question', False),
        ("answer == 7", True),
        ("answer == 7.0", True),
        ('answer == "7"', False),
        ("answer != 7", False),
        ("1 < level <= 3", True),
        ("1 < level < 3", False),
        ("level > -1", True),
        ("level in (1, 2, 3)", True),
        ("level in [1, 2]", False),
        ('"money" in meta.tags', True),
        ('"tags" in meta', True),
        ('meta.source == "web" and level == 3', True),
        ('meta["source"] == "web"', True),
        ('meta["a.b"] == 1', True),
        ('messages[0].content == "hi"', True),
        ("messages[3].content == None", True),
        ("len(question) > 20", True),
        ("len(meta.tags) == 2 and len(meta) == 3", True),
        ("len(answer) == None", True),
        ("not (level == 3 or level == 4)", False),
        ("level", True),
        ("empty", False),
        ("empty is None", True),
        ("missing is None", True),
        ("answer is not None", True),
        ("nan == None", True),
        # What is missing or of another kind is neither more nor less.
        ("missing < 1 or missing >= 1", False),
        ("question > 3", False),
        ('"x" in answer', False),
        ('3 in "123"', False),
        ('row["odd name"] == "x"', True),
        ('row.state == "Ohio"', True),
        ("state == None", True),
        ("len(row) == 9", True),
        ("index == 5 and line == 6", True),
        ('prompt == "the prompt"', True),
        ("error == None", True),
        ("reward < 0.5", False),
    ],
)
def test_what_an_expression_says_of_a_row(text: str, passes: bool) -> None:
    assert parse_expression(text).matches(record()) is passes


def test_facts_of_a_session() -> None:
    one = record(standing=Standing("failed", 3, 0.25, 12.5))
    assert parse_expression('state == "failed" and reward < 0.5').matches(one)
    assert parse_expression("calls == 3 and 12 < duration < 13").matches(one)
    assert not parse_expression('state == "done"').matches(one)


def test_a_bad_row_has_a_state_and_a_reason_and_no_columns() -> None:
    reason = RowError(5, 6, "invalid JSON")
    bad = Record(5, reason, Standing(), lambda index, raw: RowError(5, 6, "never asked"))
    assert parse_expression('state == "bad row" and "JSON" in error').matches(bad)
    assert not parse_expression('"tax" in question or answer == 7').matches(bad)
    no_task = Record(5, RawRow(6, ROW, 1), Standing(), lambda index, raw: RowError(5, 6, "no prompt"))
    assert parse_expression('state == "bad row" and error == "no prompt" and level == 3').matches(no_task)


def test_names_are_told_apart() -> None:
    expression = parse_expression('meta.source == "web" and state == "done" and row.state == "Ohio"')
    assert expression.columns == {"meta", "state"}
    assert expression.facts == {"state"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("answer = 7", "write == to compare"),
        ("answer ==", "not a whole expression at column"),
        ("answer + 1 == 8", "answer + 1 is not supported"),
        ("9 ** 9 ** 9", "is not supported"),
        ("open('x')", "open('x') is not supported"),
        ("len(question, 1)", "is not supported"),
        ("question.lower() == 'x'", "is not supported"),
        ("(lambda: 1)()", "is not supported"),
        ("[x for x in meta]", "is not supported"),
        ("(answer == 7).real", "is no column"),
        ("meta[level]", "is no column"),
        ("f'{answer}'", "is not supported"),
        ("b'x' == answer", "is not supported"),
        ("not " * 100 + "answer", "nested too deeply"),
        ("-" * 900 + "answer", "nested too deeply"),
        ("+".join(["a"] * 480), "nested too deeply"),
        ("(" * 300 + "1" + ")" * 300, "no"),
        ("x" * 2_000, "at most 1,000 characters"),
        ("a\0b", "no"),
    ],
)
def test_what_is_no_expression_says_what_to_write(text: str, said: str) -> None:
    with pytest.raises(ExpressionError, match=r"^[^\n]+$") as error:
        parse_expression(text)
    assert said in str(error.value)


def test_attributes_are_fields_and_never_python() -> None:
    assert parse_expression("question.__class__ == None").matches(record())
    assert parse_expression("__builtins__ == None and __import__ == None").matches(record())


def test_very_deep_columns_are_not_compared_to_their_end() -> None:
    deep: Any = []
    other: Any = []
    for _ in range(100_000):
        deep, other = [deep], [other]
    assert not parse_expression("a == b").matches(record({"a": deep, "b": other}))


@pytest.mark.parametrize(
    ("text", "only_sessions"),
    [
        ('state == "failed"', True),
        ("reward < 0.5 and calls > 3", True),
        ('state == "bad row"', False),
        ("reward == None", False),
        ("not state", False),
        ('state == "failed" and level == 3', False),
        ("index < 10", False),
        ('"level" in row', False),
        ("len(row) > 3 and calls == None", False),
    ],
)
def test_rows_without_a_session_are_not_read_where_they_cannot_pass(text: str, only_sessions: bool) -> None:
    assert needs_no_rows(parse_expression(text)) is only_sessions


def test_a_graders_metrics_stand_after_the_reward() -> None:
    graded = record(
        standing=Standing("done", reward=0.5, metrics={"style": 0.25, "style.clear": 1.0, "two words": 3})
    )
    for text in (
        "reward.style < reward",
        "reward.style.clear == 1",
        'reward["two words"] > 2',
        "reward == 0.5",
    ):
        expression = parse_expression(text)
        assert expression.matches(graded)
        assert not expression.matches(record())
        assert (expression.facts, expression.columns) == ({"reward"}, frozenset())
        assert needs_no_rows(expression)
    assert not needs_no_rows(parse_expression("reward.style == None"))
