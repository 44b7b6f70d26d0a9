"""Reasoning in all the places where servers put it, and how it goes back in a tool loop."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentscope_tui.models.chat import ChatRequest, Completion
from agentscope_tui.models.factory import open_model
from agentscope_tui.models.think_tags import ThinkTags
from fakes.raw_server import DONE, RawServer, delta, stream

TEXTS = {
    "": ("", ""),
    "plain": ("", "plain"),
    "<think>a</think>b": ("a", "b"),
    "\n<think>\na\n</think>\n\nb\n": ("\na\n", "b\n"),
    "<think></think>b": ("", "b"),
    "<think>a</think>": ("a", ""),
    "<think>never ends": ("never ends", ""),
    "<think>a</thin": ("a</thin", ""),
    "<think>a</think>b <think>c</think>": ("a", "b <think>c</think>"),
    "see <think>a</think>": ("", "see <think>a</think>"),
    "<thinking>a": ("", "<thinking>a"),
    "<thi": ("", "<thi"),
    "  ": ("", "  "),
    "  x": ("", "  x"),
}


def split(pieces: list[str]) -> tuple[str, str]:
    tags = ThinkTags()
    parts = [*(tags.split(piece) for piece in pieces), tags.rest()]
    return "".join(thought for thought, _ in parts), "".join(text for _, text in parts)


@pytest.mark.parametrize(("whole", "parts"), TEXTS.items())
def test_texts_whole_and_in_characters(whole: str, parts: tuple[str, str]) -> None:
    assert split([whole]) == parts
    assert split(list(whole)) == parts


@settings(deadline=None)
@given(whole=st.text(alphabet="<>/think a\n", max_size=40), cuts=st.lists(st.integers(0, 40), max_size=5))
def test_pieces_do_not_matter(whole: str, cuts: list[int]) -> None:
    places = [0, *sorted(cuts), len(whole)]
    pieces = [whole[a:b] for a, b in pairwise(places)]
    assert split(pieces) == split([whole])


CALL = {"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}}


async def read(*steps: bytes) -> Completion:
    async with RawServer([stream(*steps, DONE)]) as server:
        model = open_model("openai:m", base_url=server.base_url)
        completion = await model.complete(
            ChatRequest(messages=[{"role": "user", "content": "hi"}]), lambda piece: None
        )
        await model.aclose()
    return completion


ECHOES: dict[str, tuple[list[bytes], str, dict[str, Any]]] = {
    "a field": (
        [delta(reasoning_content="th"), delta(reasoning_content="ink"), delta(content="t")],
        "think",
        {"content": "t", "reasoning_content": "think"},
    ),
    "another field": ([delta(reasoning="think")], "think", {"content": None, "reasoning": "think"}),
    "tags": (
        [delta(content="<thi"), delta(content="nk>\nthink\n</think>\n"), delta(content="\nt")],
        "\nthink\n",
        {"content": "<think>\nthink\n</think>\n\nt"},
    ),
    "details, which hold it all": (
        [
            delta(reasoning="th", reasoning_details=[{"type": "reasoning.text", "index": 0, "text": "th"}]),
            delta(
                reasoning="ink",
                reasoning_details=[
                    {"type": "reasoning.text", "index": 0, "text": "ink", "signature": "s"},
                    {"type": "reasoning.encrypted", "index": 1, "data": "d"},
                ],
            ),
        ],
        "think",
        {
            "content": None,
            "reasoning_details": [
                {"type": "reasoning.text", "index": 0, "text": "think", "signature": "s"},
                {"type": "reasoning.encrypted", "index": 1, "data": "d"},
            ],
        },
    ),
    "parts of the content": (
        [
            delta(content=[{"type": "thinking", "thinking": [{"type": "text", "text": "think"}]}]),
            delta(content=[{"type": "text", "text": "t"}]),
        ],
        "think",
        {"content": "t"},
    ),
}


@pytest.mark.parametrize(("steps", "reasoning", "fields"), ECHOES.values(), ids=ECHOES.keys())
async def test_reasoning_goes_back_where_it_came_from(
    steps: list[bytes], reasoning: str, fields: dict[str, Any]
) -> None:
    completion = await read(*steps, delta(tool_calls=[CALL]), delta("tool_calls"))
    assert completion.reasoning == reasoning
    message = completion.message()
    assert message.pop("tool_calls")
    assert message == {"role": "assistant", **fields}


async def test_reasoning_does_not_go_back_without_a_tool_call() -> None:
    completion = await read(delta(reasoning_content="think"), delta(content="t"), delta("stop"))
    assert completion.message() == {"role": "assistant", "content": "t"}


async def test_text_that_looked_like_a_tag_is_not_lost() -> None:
    completion = await read(delta(content="<thi"), delta("stop"))
    assert completion.text == "<thi"
