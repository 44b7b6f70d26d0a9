"""How long a conversation was, in the words of each provider."""

from __future__ import annotations

import pytest

from agentscope_tui.models.overflow import token_counts

WORDS = {
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 130001 tokens. "
    "Please reduce the length of the messages.": (130001, 128000),
    "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (8000 in the "
    "messages, 1000 in the completion).": (9000, 8192),
    "This endpoint's maximum context length is 200,000 tokens. However, you requested about 210,500 tokens": (
        210500,
        200000,
    ),
    "This model's maximum context length is 4096 tokens. However, your request has 5000 input tokens.": (
        5000,
        4096,
    ),
    "prompt is too long: 205000 tokens > 200000 maximum": (205000, 200000),
    "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000": (210000, 200000),
    "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).": (
        1200000,
        1048576,
    ),
    "request (9001 tokens) exceeds the available context size (8192 tokens), try increasing it": (9001, 8192),
    "This model's maximum context length is 4096 tokens.": (None, 4096),
    "the prompt is longer than the context window of 32768": (None, 32768),
    "something else, with 12 tokens": (None, None),
    "": (None, None),
}


@pytest.mark.parametrize(("words", "counts"), WORDS.items())
def test_numbers_of_an_overflow(words: str, counts: tuple[int | None, int | None]) -> None:
    assert token_counts(words) == counts
