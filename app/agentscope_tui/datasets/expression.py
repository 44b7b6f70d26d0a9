"""Filter expressions: a small, safe part of Python's, made into a function of a row's values.

Names are columns (`meta.answer`, `messages[0].content`), or what is known of a row itself (`FACTS`). There
are comparisons and chains of them, `in`, `and`, `or`, `not`, `len()` and `lower()`. Nothing else is
evaluated: an expression can neither reach a Python object nor run for longer than its row is long.
"""

from __future__ import annotations

import ast
import operator
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from agentscope_tui.errors import UsageError

LONGEST = 1_000
"""Characters of an expression."""
_DEEPEST = 40

FACTS = frozenset(
    {"index", "line", "prompt", "error", "state", "calls", "tokens", "reward", "duration", "sessions"}
)
"""Names that are no columns: where the row is, and how its session stands."""
METRIC = "reward"
"""What stands before the name of a metric: `reward.speed`, `reward["two words"]`."""
ROW = "row"
"""The whole row: `row["state"]` is the column that a fact hides, `row["odd name"]` one that is no name."""


class ExpressionError(UsageError):
    """An expression that cannot be evaluated; says what to write instead."""


class Fields(Protocol):
    """The values of one row; None where there is none."""

    def fact(self, name: str) -> Any:
        """One of `FACTS`."""

    def metric(self, name: str) -> float | None:
        """A number that graders gave beside the reward."""

    def column(self, path: str) -> Any:
        """The value at a dotted path; the whole row for the empty one."""


Value = Callable[[Fields], Any]


@dataclass(frozen=True)
class Expression:
    """A parsed expression: `facts` and `columns` are the names in it (a column's first part).

    The whole row, where it is asked for as such, is among the facts as `ROW`.
    """

    text: str
    facts: frozenset[str]
    columns: frozenset[str]
    value: Value

    def matches(self, fields: Fields) -> bool:
        """Whether the row passes."""
        try:
            return bool(self.value(fields))
        except RecursionError:
            # Two columns as deep as a parser reads them are not compared to their end.
            return False


def parse_expression(text: str) -> Expression:
    """The expression in a text.

    Raises:
        ExpressionError: it is none, or more than is supported.
    """
    if len(text) > LONGEST:
        raise ExpressionError(f"an expression has at most {LONGEST:,} characters")
    try:
        with warnings.catch_warnings():
            # An odd escape in a string is no matter of ours.
            warnings.simplefilter("ignore")
            tree = ast.parse(text.strip(), mode="eval")
    except SyntaxError as error:
        raise ExpressionError(_syntax(error.offset or 1, text.strip())) from None
    except (ValueError, RecursionError, MemoryError):
        raise ExpressionError("this is no expression") from None
    compiler = _Compiler()
    value = compiler.value(tree.body, 0)
    return Expression(text.strip(), frozenset(compiler.facts), frozenset(compiler.columns), value)


def _syntax(column: int, text: str) -> str:
    if text[column - 1 : column] == "=":
        return "write == to compare"
    return f"not a whole expression at column {column}"


class _Compiler:
    """Turns nodes into functions, and keeps the names that it meets."""

    def __init__(self) -> None:
        self.facts: set[str] = set()
        self.columns: set[str] = set()

    def value(self, node: ast.expr, depth: int) -> Value:
        if depth > _DEEPEST:
            raise ExpressionError("nested too deeply")
        match node:
            case ast.Constant(value=str() | int() | float() | None as constant):
                return lambda fields: constant
            case ast.Name() | ast.Attribute() | ast.Subscript():
                return self._name(node)
            case ast.List(elts=items) | ast.Tuple(elts=items):
                values = [self.value(item, depth + 1) for item in items]
                return lambda fields: [value(fields) for value in values]
            case ast.BoolOp(op=op, values=parts):
                terms = [self.value(part, depth + 1) for part in parts]
                if isinstance(op, ast.And):
                    return lambda fields: all(term(fields) for term in terms)
                return lambda fields: any(term(fields) for term in terms)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                inner = self.value(operand, depth + 1)
                return lambda fields: not inner(fields)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
                return lambda fields: -number
            case ast.Compare(left=left, ops=ops, comparators=others):
                return self._comparison([left, *others], ops, depth)
            case ast.Call(func=ast.Name(id=name), args=[argument], keywords=[]) if name in _FUNCTIONS:
                function, inner = _FUNCTIONS[name], self.value(argument, depth + 1)
                return lambda fields: function(inner(fields))
            case _:
                raise ExpressionError(f"{_shown(node)} is not supported: use ==, <, in, and, or, not, len()")

    def _comparison(self, operands: list[ast.expr], ops: list[ast.cmpop], depth: int) -> Value:
        values = [self.value(operand, depth + 1) for operand in operands]
        tests = [_COMPARISONS[type(op)] for op in ops]
        if len(tests) == 1:
            (first, second), (only,) = values, tests
            return lambda fields: only(first(fields), second(fields))

        def compare(fields: Fields) -> bool:
            left = values[0](fields)
            for test, value in zip(tests, values[1:], strict=True):
                right = value(fields)
                if not test(left, right):
                    return False
                left = right
            return True

        return compare

    def _name(self, node: ast.expr) -> Value:
        first, *rest = _steps(node)
        path = ".".join(rest)
        if first == ROW:
            if rest:
                self.columns.add(rest[0])
            else:
                self.facts.add(ROW)
            return lambda fields: fields.column(path)
        if first == METRIC and rest:
            self.facts.add(METRIC)
            return lambda fields: fields.metric(path)
        if first in FACTS and not rest:
            self.facts.add(first)
            return lambda fields: fields.fact(first)
        self.columns.add(first)
        whole = ".".join((first, *rest))
        return lambda fields: fields.column(whole)


def _steps(node: ast.expr) -> list[str]:
    steps: list[str] = []
    while True:
        match node:
            case ast.Name(id=name):
                return [name, *reversed(steps)]
            case ast.Attribute(value=inner, attr=name):
                steps.append(name)
                node = inner
            case ast.Subscript(value=inner, slice=ast.Constant(value=str() | int() as key)):
                steps.append(str(key))
                node = inner
            case _:
                raise ExpressionError(f"{_shown(node)} is no column: write name, name.field or name[0]")


def _shown(node: ast.expr) -> str:
    try:
        text = ast.unparse(node)
    except RecursionError:
        raise ExpressionError("nested too deeply") from None
    return text if len(text) <= 40 else f"{text[:39]}…"


def _ordered(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    def test(left: Any, right: Any) -> bool:
        try:
            return compare(left, right)
        except TypeError:
            # What is missing, or of another kind, is neither more nor less.
            return False

    return test


def _contains(item: Any, container: Any) -> bool:
    match container:
        case str():
            return isinstance(item, str) and item in container
        case list():
            return item in container
        case dict():
            return isinstance(item, str) and item in container
        case _:
            return False


_COMPARISONS: Mapping[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Is: operator.eq,
    ast.IsNot: operator.ne,
    ast.Lt: _ordered(operator.lt),
    ast.LtE: _ordered(operator.le),
    ast.Gt: _ordered(operator.gt),
    ast.GtE: _ordered(operator.ge),
    ast.In: _contains,
    ast.NotIn: lambda item, container: not _contains(item, container),
}

_FUNCTIONS: Mapping[str, Callable[[Any], Any]] = {
    "len": lambda value: len(value) if isinstance(value, str | list | dict) else None,
    "lower": lambda value: value.lower() if isinstance(value, str) else value,
}
