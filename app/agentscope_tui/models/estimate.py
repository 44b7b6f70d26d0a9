"""Tokens guessed from lengths, where nobody counts them: four characters are about one token."""

from __future__ import annotations

import json
from collections.abc import Sequence

from agentscope_tui.models.chat import ChatRequest, Completion, Usage

_CHARACTERS = 4
_JSON = json.JSONEncoder(ensure_ascii=False, default=str)


def estimate_usage(request: ChatRequest, completion: Completion, *, partial: bool = False) -> Usage:
    """The tokens that a call may have taken: messages and tools in, all that was written out."""
    written = [completion.text, completion.reasoning]
    for call in completion.tool_calls:
        written += [call.function.name, call.function.arguments]
    return Usage(
        input_tokens=tokens_of(_json_length(request.messages) + _json_length(request.tools)),
        output_tokens=sum(tokens_of(len(text)) for text in written),
        partial=partial,
    )


def estimate_tokens(value: object) -> int:
    """About how many tokens a JSON value takes."""
    return tokens_of(_json_length([value]))


def _json_length(values: Sequence[object]) -> int:
    """Characters of them as JSON, without what stands between and around them."""
    return len(_JSON.encode(values)) - 2 * len(values) if values else 0


def tokens_of(characters: int) -> int:
    """About how many tokens a text of this length takes."""
    return -(-characters // _CHARACTERS)
