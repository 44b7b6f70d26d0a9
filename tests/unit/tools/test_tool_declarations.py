"""Bad declarations and bad arguments are refused with the place and the reason."""

from typing import Any

import pytest

from agentscope_tui.tools.arguments import ArgumentError, check_arguments
from agentscope_tui.tools.spec import ToolSpecError, validate_tools

GOOD: dict[str, Any] = {
    "name": "add",
    "description": "Add.",
    "parameters": {"type": "object", "properties": {"a": {"type": "integer"}, "b": True}, "required": ["a"]},
}


def parameters(**fields: Any) -> dict[str, Any]:
    return {**GOOD, "parameters": {**GOOD["parameters"], **fields}}


def test_good_declarations_pass() -> None:
    other = {**GOOD, "name": "x" * 64}
    bare = {"name": "no_arguments", "parameters": {"type": "object"}}
    validate_tools([GOOD, {"type": "function", "function": other}, bare])
    validate_tools(())


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (None, "tool 1: a declaration is an object, not null"),
        ("add", "tool 1: a declaration is an object, not str"),
        ([], "tool 1: a declaration is an object, not list"),
        ({"type": "function"}, "tool 1: function is missing"),
        ({"type": "function", "name": "flat"}, "tool 1: function is missing"),
        ({"type": "function", "function": None}, "tool 1: function is missing"),
        ({"type": "function", "function": "add"}, "tool 1: function is an object, not str"),
        ({}, "tool 1: name is missing"),
        ({"function": {}}, "tool 1: name is missing"),
        ({**GOOD, "name": None}, "tool 1: name is missing"),
        ({**GOOD, "name": 5}, "tool 1: name is a string, not int"),
        ({**GOOD, "name": ""}, "tool 1: name is empty"),
        ({**GOOD, "name": "a b"}, "tool 1 ('a b'): a name has 1 to 64 letters, digits, _ or -"),
        ({**GOOD, "name": "a\n"}, r"tool 1 ('a\n'): a name has 1 to 64 letters, digits, _ or -"),
        ({**GOOD, "name": "grün"}, "tool 1 ('grün'): a name has 1 to 64 letters, digits, _ or -"),
        ({**GOOD, "name": "x" * 65}, f"tool 1 ('{'x' * 65}'): a name has 1 to 64 letters, digits, _ or -"),
        ({**GOOD, "name": "first"}, "tool 1 ('first'): tool 0 has the same name"),
        (
            {"type": "function", "function": {**GOOD, "name": "first"}},
            "tool 1 ('first'): tool 0 has the same",
        ),
        ({**GOOD, "description": 5}, "tool 1 ('add'): description is a string, not int"),
        ({"name": "add"}, "tool 1 ('add'): parameters is a JSON Schema object"),
        ({**GOOD, "parameters": None}, "tool 1 ('add'): parameters is a JSON Schema object"),
        ({**GOOD, "parameters": []}, "tool 1 ('add'): parameters is a JSON Schema object"),
        ({**GOOD, "parameters": {"type": "string"}}, "tool 1 ('add'): parameters is a JSON Schema object"),
        (parameters(properties=None), "tool 1 ('add'): properties is an object, not null"),
        (parameters(properties=["a"]), "tool 1 ('add'): properties is an object, not list"),
        (parameters(properties={"a": "int"}), "tool 1 ('add'): property 'a' is a JSON Schema, not str"),
        (parameters(required="a"), "tool 1 ('add'): required is a list of property names"),
        (parameters(required=None), "tool 1 ('add'): required is a list of property names"),
        (parameters(required=[["a"]]), "tool 1 ('add'): required is a list of property names"),
        (parameters(required=["a", "c"]), "tool 1 ('add'): required names 'c', which is no property"),
    ],
)
def test_a_bad_declaration_is_named(spec: Any, message: str) -> None:
    with pytest.raises(ToolSpecError) as caught:
        validate_tools([{**GOOD, "name": "first"}, spec])
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("specs", [None, {}, "bash", 5])
def test_tools_are_a_list(specs: Any) -> None:
    with pytest.raises(ToolSpecError, match="the tools are a list of declarations, not"):
        validate_tools(specs)


SPEC = {
    "name": "t",
    "parameters": {
        "type": "object",
        "properties": {
            "text": {"type": "string"},
            "count": {"type": "integer"},
            "ratio": {"type": "number"},
            "flag": {"type": "boolean"},
            "any": {},
            "either": {"type": ["string", "null"]},
            "free": True,
        },
        "required": ["text"],
    },
}


def test_arguments_that_fit_pass() -> None:
    check_arguments(SPEC, {"text": "", "count": 1, "ratio": 1, "flag": True})
    check_arguments(SPEC, {"text": "x", "ratio": 0.5, "any": [], "either": None, "free": {}})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "t: argument 'text' is missing"),
        (
            {"text": "", "txt": ""},
            "t: unknown argument 'txt' (it takes: text, count, ratio, flag, any, either, free)",
        ),
        ({"text": 5}, "t: argument 'text' must be of type string, not integer"),
        ({"text": None}, "t: argument 'text' must be of type string, not null"),
        ({"text": ["a"]}, "t: argument 'text' must be of type string, not array"),
        ({"text": "", "count": True}, "t: argument 'count' must be of type integer, not boolean"),
        ({"text": "", "count": 1.5}, "t: argument 'count' must be of type integer, not number"),
        ({"text": "", "ratio": "1"}, "t: argument 'ratio' must be of type number, not string"),
        ({"text": "", "flag": 1}, "t: argument 'flag' must be of type boolean, not integer"),
    ],
)
def test_a_bad_argument_is_named(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        check_arguments(SPEC, arguments)
    assert str(caught.value) == message
