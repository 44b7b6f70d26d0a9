"""What of a runner's request body is refused before a model, or the host itself, would trip over it."""

from __future__ import annotations

import pytest

from agentscope_tui.session.body import BodyError, read_body
from agentscope_tui.session.settings import ModelSettings
from agentscope_tui.wire.frames import LlmRequest


@pytest.mark.parametrize("tools", [{"name": "x"}, ["x"], [{"function": 0}], [{"function": None}]])
def test_tools_that_are_no_declarations(tools: object) -> None:
    body = {"messages": [{"role": "user", "content": "hello"}], "tools": tools}
    with pytest.raises(BodyError, match="`tools` must be a list of objects"):
        read_body(LlmRequest(req_id="r", openai_body=body), ModelSettings())


def test_a_declaration_is_bare_or_within_a_function() -> None:
    tools = [{"name": "bare"}, {"type": "function", "function": {"name": "within"}}]
    body = {"messages": [{"role": "user", "content": "hello"}], "tools": tools}
    assert read_body(LlmRequest(req_id="r", openai_body=body), ModelSettings()).request.tools == tools
