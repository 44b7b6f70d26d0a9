"""An event is looked at as JSON first: nothing that the look at each of its texts masks gets by."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from test_secret_masking import KEYS, PIECES

from agentscope_tui.events import AgentNote, ExtraKept, LlmRequestSent, ToolCallStarted, ToolOutput
from agentscope_tui.masked_events import _masked_model, masked_event
from agentscope_tui.secrets import MASK, MAX_DEPTH, SHORTEST, Masker

VALUES = ["abcdefgh", 'quo"ted\\value\n', "\u00fcml\u00e4ut-\u2028-secret", "tab\tbed-secret"]
AROUND = ["", "\n", "\t", "\x01", "\x1b[31m", '"', "\\", "\u00e9", "=", " "]


def same(event: Any) -> bool:
    masker = Masker(VALUES)
    return masked_event(event, masker) == _masked_model(event, masker)


@pytest.mark.parametrize("after", AROUND, ids=repr)
@pytest.mark.parametrize("before", AROUND, ids=repr)
def test_a_secret_is_found_whatever_stands_around_it(before: str, after: str) -> None:
    secrets = [*VALUES, *(head + secret for head, secret in KEYS.values())]
    for secret in secrets:
        text = f"it is {before}{secret}{after}."
        for event in (
            ToolOutput(call_id="c", stream="stdout", text=text),
            ToolCallStarted(call_id="c", call=1, req_id="r", name="t", arguments={"a": [{text: text}]}),
            LlmRequestSent(call=1, turn=1, req_id="r", messages=[{"role": "user", "content": text}]),
        ):
            assert same(event), (secret, before, after)


@given(PIECES, st.lists(st.sampled_from(AROUND), min_size=1, max_size=3))
def test_whatever_is_made_of_pieces_of_secrets(parts: list[str], around: list[str]) -> None:
    text = "".join(part + around[place % len(around)] for place, part in enumerate(parts))
    assert same(ExtraKept(about=text, data={"x": [text, {"y": text[::-1]}]}))


TOLD: list[Callable[[str], str]] = [
    str,
    json.dumps,
    lambda secret: json.dumps({"key": secret}, ensure_ascii=False),
    lambda secret: secret.encode().decode("latin-1"),
    quote,
]
"""How a secret may stand in a text."""


@given(st.text(alphabet='a"\\\n\té–x', min_size=8, max_size=40), st.sampled_from(TOLD), st.booleans())
@example('pa"ss"word-very-long', json.dumps, False)
@example("a line\nand more of a key", TOLD[2], True)
@example("schlüssel-und-schloß", json.dumps, True)
def test_whatever_a_secret_consists_of(secret: str, told: Callable[[str], str], twice: bool) -> None:
    text = f"it is {told(secret)}, as I said"
    masker = Masker([secret])
    event = AgentNote(text=json.dumps([text]) if twice else text)
    assert masked_event(event, masker).text == masker.mask(event.text)
    if len(secret.strip()) >= SHORTEST and not twice:
        assert MASK in masker.mask(text)


def test_what_json_cannot_tell_is_looked_at_text_by_text() -> None:
    assert masked_event(ExtraKept(about="\ud800 abcdefgh"), Masker(VALUES)).about == "\ud800 ***"
    deep: Any = "abcdefgh"
    for _ in range(MAX_DEPTH * 3):
        deep = [deep]
    assert same(ExtraKept(about="deep", data=deep))
    wide = [["x"] for _ in range(MAX_DEPTH * 2)]
    assert masked_event(ExtraKept(about="wide", data=wide), Masker(VALUES)).data == wide


def test_an_event_with_nothing_to_hide_stays_the_same_object() -> None:
    event = ToolOutput(call_id="c", stream="stdout", text="tasks and desks" * 100)
    assert masked_event(event, Masker(VALUES)) is event
