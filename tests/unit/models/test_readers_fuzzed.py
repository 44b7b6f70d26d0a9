"""Whatever JSON a server sends, a reader gives a completion or one of its two errors, and loses no text."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentscope_tui.models.anthropic_blocks import conversation
from agentscope_tui.models.anthropic_events import MessageReader
from agentscope_tui.models.chunks import ChunkReader
from agentscope_tui.models.dialect import NotTheApi, Reader, StreamedError
from agentscope_tui.models.sse import ServerSentEvent

_NAMES = """
    type index choices delta content reasoning_content reasoning reasoning_details tool_calls function name
    arguments id finish_reason message content_block text thinking signature partial_json input stop_reason
    data model role citation
"""
_COUNTS = """
    prompt_tokens completion_tokens input_tokens output_tokens cache_read_input_tokens
    prompt_tokens_details output_tokens_details cached_tokens thinking_tokens
"""
_WORDS = """
    message_start content_block_start content_block_delta content_block_stop message_delta message_stop ping
    text thinking tool_use redacted_thinking text_delta thinking_delta signature_delta input_json_delta
    citations_delta stop length function <think> </think>
"""
NAMES = st.sampled_from(_NAMES.split())
COUNTS = st.sampled_from(_COUNTS.split())
WORDS = st.sampled_from(_WORDS.split())
LEAVES = st.none() | st.booleans() | st.integers(-2, 3) | st.floats() | WORDS | st.text(max_size=3)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)


USAGES = st.dictionaries(COUNTS, LEAVES | st.dictionaries(COUNTS, LEAVES, max_size=2), max_size=3)


@st.composite
def chunks(draw: st.DrawFn) -> dict[str, Any]:
    """An object that has the shape of a chunk or of an event, as far as it goes."""
    fields = draw(st.dictionaries(NAMES, VALUES, max_size=4))
    if draw(st.booleans()):
        fields["usage"] = draw(USAGES)
    if draw(st.booleans()):
        fields["choices"] = [{"delta": draw(st.dictionaries(NAMES, VALUES, max_size=4))}]
    else:
        fields["type"] = draw(WORDS)
        fields["index"] = draw(st.integers(0, 2))
    return fields


@pytest.mark.parametrize("make", [ChunkReader, MessageReader])
@settings(deadline=None, max_examples=100)
@given(events=st.lists(chunks(), max_size=8))
def test_readers(make: type[Reader], events: list[dict[str, Any]]) -> None:
    reader = make()
    texts = []
    for event in events:
        try:
            delta = reader.add(ServerSentEvent(json.dumps(event)))
        except (NotTheApi, StreamedError):
            break
        texts.append(delta.text if delta else "")
    completion = reader.completion()
    assert completion.text.startswith("".join(texts)) or make is MessageReader
    assert sorted("".join(texts)) == sorted(completion.text) or make is ChunkReader
    json.dumps(completion.to_openai())
    conversation([{"role": "user", "content": "x"}, completion.message()])
