"""Tools that an agent brings along as typed functions: what the model is told of them, how they are run."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import inspect
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Optional, TypedDict

import pytest
from pydantic import BaseModel

from agentscope_tui.events import ToolCallStarted, ToolOutput, ToolResult
from agentscope_tui.runners.python_agent.schema import bind, declare, read_docstring, schema_of
from agentscope_tui.tools.spec import validate_tools
from fakes.engine import FakeModel, FakeTools, returns, says
from fakes.python_agents import agent_rig, log_of


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclasses.dataclass
class Point:
    x: int
    y: float = 0.0


class Place(TypedDict, total=False):
    name: str
    at: list[int]


class Size(BaseModel):
    width: int


TYPES = [
    (str, {"type": "string"}),
    (bool, {"type": "boolean"}),
    (int, {"type": "integer"}),
    (float, {"type": "number"}),
    (Any, {}),
    (object, {}),
    (list, {"type": "array"}),
    (list[int], {"type": "array", "items": {"type": "integer"}}),
    (Sequence[str], {"type": "array", "items": {"type": "string"}}),
    (tuple[int, ...], {"type": "array", "items": {"type": "integer"}}),
    (set[str], {"type": "array", "items": {"type": "string"}}),
    (dict, {"type": "object"}),
    (dict[str, int], {"type": "object", "additionalProperties": {"type": "integer"}}),
    (dict[str, Any], {"type": "object"}),
    (Optional[str], {"type": ["string", "null"]}),  # noqa: UP045
    (int | str, {"type": ["integer", "string"]}),
    (str | None, {"type": ["string", "null"]}),
    (list[int] | None, {"anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "null"}]}),
    (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}),
    (Literal[1, "b"], {"enum": [1, "b"]}),
    (Colour, {"type": "string", "enum": ["red", "blue"]}),
    (datetime.date, {"type": "string", "format": "date"}),
    (Annotated[int, "how many"], {"type": "integer", "description": "how many"}),
    (
        Point,
        {
            "type": "object",
            "properties": {"x": {"type": "integer"}, "y": {"type": "number"}},
            "required": ["x"],
        },
    ),
    (
        Place,
        {
            "type": "object",
            "properties": {"name": {"type": "string"}, "at": {"type": "array", "items": {"type": "integer"}}},
        },
    ),
    (Size, Size.model_json_schema()),
    (Path, {}),
]


@pytest.mark.parametrize(("hint", "schema"), TYPES, ids=lambda value: str(value)[:30])
def test_the_schema_of_a_type(hint: Any, schema: dict[str, Any]) -> None:
    assert schema_of(hint) == schema


def google(city: str, days: int = 3, *, unit: Literal["C", "F"] = "C", **more: Any) -> str:
    """Tell the weather.

    Of any place.

    Args:
        city (str): the town,
            with its country: DE
        days: how far ahead
        **more: what else

    Returns:
        the weather
    """
    return f"{city} {days} {unit}"


def numpy(city, days=3):
    """Tell the weather.

    Parameters
    ----------
    city : str
        the town
    days : int, optional
        how far ahead

    Returns
    -------
    str
        the weather
    """


def sphinx(city: str, days: int) -> None:
    """Tell the weather.

    :param str city: the town
    :param days: how far
        ahead
    :returns: the weather
    """


def test_a_declaration_from_signature_and_docstring() -> None:
    assert declare(google) == {
        "name": "google",
        "description": "Tell the weather.\n\nOf any place.",
        "parameters": {
            "type": "object",
            "properties": {
                "city": {"type": "string", "description": "the town, with its country: DE"},
                "days": {"type": "integer", "description": "how far ahead", "default": 3},
                "unit": {"type": "string", "enum": ["C", "F"], "default": "C"},
            },
            "required": ["city"],
        },
    }


@pytest.mark.parametrize("function", [google, numpy, sphinx])
def test_the_three_styles_of_docstrings(function: Callable[..., Any]) -> None:
    about, texts = read_docstring(inspect.getdoc(function) or "")
    assert about.startswith("Tell the weather.")
    assert "the weather" not in about.removeprefix("Tell the weather.")
    assert texts["city"].startswith("the town")
    assert texts["days"] in ("how far ahead",)


def test_every_declaration_is_one_that_a_session_takes() -> None:
    def nothing() -> None: ...

    validate_tools([declare(function) for function in (google, numpy, sphinx, nothing)])


@pytest.mark.parametrize("wrong", [5, lambda x: x, "bash"])
def test_what_is_no_tool(wrong: Any) -> None:
    with pytest.raises(TypeError, match="a tool is a function with a name"):
        declare(wrong)


def test_arguments_become_what_the_function_wants() -> None:
    def tool(
        point: Point,
        colours: list[Colour],
        size: Size | None = None,
        by_name: dict[str, Point] | None = None,
    ) -> Any:
        return point, colours, size, by_name

    tool.__annotations__ = {
        "point": Point,
        "colours": list[Colour],
        "size": Size | None,
        "by_name": dict[str, Point] | None,
    }
    arguments = {
        "point": {"x": 1},
        "colours": ["red"],
        "size": {"width": 3},
        "by_name": {"a": {"x": 2, "y": 5}},
    }
    given = bind(tool, arguments)()
    assert given == (Point(1), [Colour.RED], Size(width=3), {"a": Point(2, 5)})
    assert bind(tool, {"point": {"x": 1}, "colours": []})() == (Point(1), [], None, None)


@pytest.mark.parametrize("arguments", [{}, {"city": "a", "town": "b"}])
def test_arguments_that_do_not_fit(arguments: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match=r"^numpy: (missing|got an unexpected)"):
        bind(numpy, arguments)


AGENT = """
    import asyncio, sys, time

    {a}def add(a: int, b: int = 1) -> int:
        "Add two numbers."
        print("adding", a)
        print("and", b, file=sys.stderr)
        if a < 0:
            raise ValueError("too small")
        return a + b

    {a}def run(ctx):
        messages = ctx.messages
        reply = {w}ctx.chat(messages, tools=[add, *ctx.tools])
        messages.append(reply.message)
        for call in reply.tool_calls:
            result = {w}ctx.call_tool(call.name, call.arguments)
            messages.append({{"role": "tool", "tool_call_id": call.id, "content": result}})
        return ({w}ctx.chat(messages)).content
"""


@pytest.mark.parametrize("words", [("async ", "await "), ("", "")], ids=["async", "sync"])
async def test_own_tools_are_shown_with_arguments_output_and_result(
    words: tuple[str, str], tmp_path: Path
) -> None:
    calls = [("add", '{"a": 2}'), ("add", '{"a": -1, "b": 5}'), ("look", "{}"), ("add", "{}"), ("add", "[1")]
    model = FakeModel(says("", *calls), says("done"))
    source = AGENT.format(a=words[0], w=words[1])
    async with agent_rig(tmp_path, source, model, FakeTools(look=returns("seen"))) as rig:
        await rig.run()
        assert model.requests[0].tools[0] == {
            "type": "function",
            "function": {
                "name": "add",
                "description": "Add two numbers.",
                "parameters": {
                    "type": "object",
                    "properties": {"a": {"type": "integer"}, "b": {"type": "integer", "default": 1}},
                    "required": ["a"],
                },
            },
        }
        results = {event.call_id: event for event in rig.of(ToolResult)}
        assert [(results[f"c{n}"].status, results[f"c{n}"].content) for n in range(1, 5)] == [
            ("done", "3"),
            ("failed", "ValueError: too small (agent.py:9)"),
            ("done", "seen"),
            ("failed", "TypeError: add: missing a required argument: 'a'"),
        ]
        assert results["c5"].content.startswith("The arguments are not valid JSON")
        assert {event.call_id: event.own for event in rig.of(ToolCallStarted)} == {
            "c1": True,
            "c2": True,
            "c3": False,
            "c4": True,
            "c5": True,
        }
        output = [(event.stream, event.text) for event in rig.of(ToolOutput) if event.call_id == "c1"]
        assert sorted(output) == [("stderr", "and 1\n"), ("stdout", "adding 2\n")]
        errors = "".join(event.text for event in rig.of(ToolOutput) if event.call_id == "c2")
        assert 'Traceback (most recent call last):\n  File "agent.py", line 9, in add' in errors
        assert [text for role, text in rig.asked(2) if role == "tool"][:2] == [
            "3",
            "ValueError: too small (agent.py:9)",
        ]
    assert "adding" not in log_of(rig)


async def test_own_tools_at_the_same_time_and_tools_that_no_model_called(tmp_path: Path) -> None:
    source = """
        import asyncio

        async def wait(name: str, other: asyncio.Event = None) -> str:
            print("begun", name)
            barrier.append(name)
            while len(barrier) < 2:
                await asyncio.sleep(0.01)
            print("ended", name)
            return name

        barrier = []

        async def run(ctx):
            await ctx.chat(tools=[wait])
            return "+".join(await asyncio.gather(*(ctx.call_tool("wait", {"name": n}) for n in "ab")))
    """
    async with agent_rig(tmp_path, source, FakeModel(says("no call"))) as rig:
        await rig.run()
        assert rig.has("submit", answer="a+b")
        calls = {call.call_id: "".join(piece.text for piece in call.output) for call in rig.state.calls}
        assert calls == {"runner_1": "begun a\nended a\n", "runner_2": "begun b\nended b\n"}
        assert [call.state for call in rig.state.calls] == ["done", "done"]


async def test_tools_that_the_agent_runs_unseen_are_read_off_the_conversation(tmp_path: Path) -> None:
    source = """
        TOOL = {"name": "add", "parameters": {"type": "object", "properties": {}}}

        def run(ctx):
            messages = ctx.messages
            reply = ctx.chat(messages, tools=[TOOL])
            result = {"role": "tool", "tool_call_id": reply.tool_calls[0].id, "content": "3"}
            messages += [reply.message, result]
            return ctx.chat(messages).content
    """
    async with agent_rig(tmp_path, source, FakeModel(says("", ("add", "{}")), says("done"))) as rig:
        await rig.run()
        [call] = rig.state.calls
        assert (call.state, call.content) == ("done", "3")
