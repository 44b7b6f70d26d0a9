"""Tool calls in every dialect give the same calls, and deltas that add up to them."""

from __future__ import annotations

from typing import Any

import pytest

from agentscope_tui.models.tool_call_deltas import ToolCallReader

Call = tuple[str, str, str]
"""id, name, arguments"""


def piece(**fields: Any) -> dict[str, Any]:
    """A piece: `name` and `arguments` belong to its function, the rest to itself."""
    function = {name: fields.pop(name) for name in ("name", "arguments") if name in fields}
    return {**fields, "function": function}


def read(chunks: list[list[Any]]) -> ToolCallReader:
    reader = ToolCallReader()
    summed: dict[int, list[str]] = {}
    for chunk in chunks:
        for delta in reader.add(chunk):
            call = summed.setdefault(delta.index, ["", "", ""])
            for place, value in enumerate((delta.id, delta.name, delta.arguments)):
                call[place] += value
    for place, part in enumerate(reader.parts()):
        streamed_id, name, arguments = summed[place]
        assert (part.function.name, part.function.arguments) == (name, arguments)
        assert streamed_id in ("", part.id)
    return reader


ARGUMENTS = '{"city": "Paris"}'
PARIS = [("c1", "weather", ARGUMENTS)]
BOTH = [("c1", "weather", ARGUMENTS), ("c2", "time", "{}")]

DIALECTS: dict[str, tuple[list[list[Any]], list[Call]]] = {
    "one token at a time": (
        [
            [piece(index=0, id="c1", type="function", name="weather", arguments="")],
            *([piece(index=0, arguments=character)] for character in ARGUMENTS),
        ],
        PARIS,
    ),
    "whole": ([[piece(index=0, id="c1", name="weather", arguments=ARGUMENTS)]], PARIS),
    "two, one after the other": (
        [
            [piece(index=0, id="c1", name="weather", arguments="")],
            [piece(index=0, arguments=ARGUMENTS)],
            [piece(index=1, id="c2", name="time", arguments="")],
            [piece(index=1, arguments="{}")],
        ],
        BOTH,
    ),
    "two, mixed": (
        [
            [piece(index=0, id="c1", name="weather"), piece(index=1, id="c2", name="time")],
            [piece(index=1, arguments="{"), piece(index=0, arguments=ARGUMENTS[:5])],
            [piece(index=0, arguments=ARGUMENTS[5:]), piece(index=1, arguments="}")],
        ],
        BOTH,
    ),
    "indices that begin at 1": (
        [
            [piece(index=1, id="c1", name="weather", arguments=ARGUMENTS)],
            [piece(index=2, id="c2", name="time", arguments="{}")],
        ],
        BOTH,
    ),
    "name and id in each piece": (
        [
            [piece(index=0, id="c1", name="weather", arguments=ARGUMENTS[:3])],
            [piece(index=0, id="c1", name="weather", arguments=ARGUMENTS[3:])],
        ],
        PARIS,
    ),
    "the name repeated before the arguments": (
        [
            [piece(index=0, id="c1", name="weather")],
            [piece(index=0, name="weather", arguments="")],
            [piece(index=0, name="weather", arguments=ARGUMENTS)],
        ],
        PARIS,
    ),
    "the name split": (
        [[piece(index=0, id="c1", name="wea")], [piece(index=0, name="ther", arguments=ARGUMENTS)]],
        PARIS,
    ),
    "a new id in each piece": (
        [
            [piece(index=0, id="c1", name="weather", arguments="")],
            [piece(index=0, id="zz", arguments=ARGUMENTS)],
        ],
        PARIS,
    ),
    "the id later than the name": (
        [[piece(index=0, name="weather")], [piece(index=0, id="c1", arguments=ARGUMENTS)]],
        PARIS,
    ),
    "index 0 for all, told apart by id": (
        [
            [piece(index=0, id="c1", name="weather", arguments=ARGUMENTS)],
            [piece(index=0, id="c2", name="time", arguments="{}")],
        ],
        BOTH,
    ),
    "no index, told apart by id": (
        [
            [piece(id="c1", name="weather"), piece(id="c2", name="time")],
            [piece(id="c1", arguments=ARGUMENTS)],
            [piece(id="c2", arguments="{}")],
        ],
        BOTH,
    ),
    "no index, the rest goes to the last": (
        [
            [piece(id="c1", name="weather", arguments=ARGUMENTS[:4])],
            [piece(arguments=ARGUMENTS[4:])],
            [piece(id="c2", name="time")],
            [piece(arguments="{}")],
        ],
        BOTH,
    ),
    "no index, no id, in pieces": (
        [
            [piece(name="weather", arguments=ARGUMENTS[:4])],
            [piece(name="weather", arguments=ARGUMENTS[4:])],
            [piece(name="time", arguments="{}")],
        ],
        [("call_1", "weather", ARGUMENTS), ("call_2", "time", "{}")],
    ),
    "no index, no id, all in one chunk": (
        [[piece(name="weather", arguments=""), piece(name="time", arguments="")]],
        [("call_1", "weather", ""), ("call_2", "time", "")],
    ),
    "no id": (
        [[piece(index=0, name="weather", arguments=ARGUMENTS)]],
        [("call_1", "weather", ARGUMENTS)],
    ),
    "id null, index null": (
        [[piece(index=None, id=None, name="weather", arguments=ARGUMENTS)]],
        [("call_1", "weather", ARGUMENTS)],
    ),
    "no arguments": ([[piece(index=0, id="c1", name="weather", arguments="")]], [("c1", "weather", "")]),
    "arguments null": ([[piece(index=0, id="c1", name="weather", arguments=None)]], [("c1", "weather", "")]),
    "arguments as an object": (
        [[piece(index=0, id="c1", name="weather", arguments={"city": "Paris"})]],
        PARIS,
    ),
    "arguments that are no JSON stay as they are": (
        [[piece(index=0, id="c1", name="weather", arguments="{city:")]],
        [("c1", "weather", "{city:")],
    ),
    "no function, no object": (
        [[None, "x", {"index": 0, "id": "c1"}], [{"index": 0, "function": None}], [piece(index=0, name="f")]],
        [("c1", "f", "")],
    ),
}


@pytest.mark.parametrize(("chunks", "calls"), DIALECTS.values(), ids=DIALECTS.keys())
def test_dialects(chunks: list[list[Any]], calls: list[Call]) -> None:
    parts = read(chunks).parts()
    assert [(part.id, part.function.name, part.function.arguments) for part in parts] == calls


def test_fields_of_a_provider_go_back_with_the_call() -> None:
    signature = {"google": {"thought_signature": "abc"}}
    parts = read([[piece(index=0, id="c1", name="f", extra_content=signature)]]).parts()
    assert parts[0].model_dump()["extra_content"] == signature


def test_a_repetition_gives_no_delta() -> None:
    reader = ToolCallReader()
    assert len(reader.add([piece(index=0, id="c1", name="f")])) == 1
    assert reader.add([piece(index=0, id="c1", name="f", arguments="")]) == ()
