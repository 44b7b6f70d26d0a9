"""A known answer in pieces, as a model would stream it: for models that play one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from agentscope_tui.models.chat import Delta, ToolCallDelta, ToolCallPart

_TOKEN = re.compile(r"\S{1,12}\s?|\s{1,12}")
"""A piece that streams as one token: a word with the space behind it, or a part of a long one."""


def deltas_of(reasoning: str, text: str, calls: Iterable[ToolCallPart]) -> Iterator[Delta]:
    """The answer token by token: reasoning, text, then the calls one after the other."""
    for token in _TOKEN.findall(reasoning):
        yield Delta(reasoning=token)
    for token in _TOKEN.findall(text):
        yield Delta(text=token)
    for index, call in enumerate(calls):
        begin = ToolCallDelta(index=index, id=call.id, name=call.function.name)
        yield Delta(tool_calls=(begin,))
        for token in _TOKEN.findall(call.function.arguments):
            yield Delta(tool_calls=(ToolCallDelta(index=index, arguments=token),))
