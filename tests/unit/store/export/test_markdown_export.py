"""Markdown: everything of a session under its headings, and nothing in it that breaks out of its place."""

from __future__ import annotations

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

import agentscope_tui.events as ev
from agentscope_tui.models.chat import FunctionCall, ToolCallPart
from fakes.past_sessions import eventful, exported, past
from hostile import HOSTILE, raw_characters

START = ev.SessionStarted(version="1", system="Be brief.")


def tokens(text: str) -> list[Token]:
    return MarkdownIt("commonmark", {"html": True}).enable("table").parse(text)


def headings(text: str) -> list[str]:
    found = tokens(text)
    return [found[place + 1].content for place, one in enumerate(found) if one.type == "heading_open"]


def fences(text: str) -> list[str]:
    return [one.content for one in tokens(text) if one.type == "fence"]


async def test_turns_and_calls_are_headings_and_all_is_told() -> None:
    text = exported("markdown", await eventful())
    titles = [title.partition(" ·")[0] for title in headings(text)]
    assert titles[:7] == ["s", "System prompt", "Turn 1", *(f"Call #{number}" for number in range(1, 5))]
    assert titles[7:] == ["Turn 2", "Call #5", "Turn 3", "Call #6"]
    for said in ("I look at both.", "and be quick", "the server is busy", "too dangerous", "enough"):
        assert said in text
    assert "| outcome | interrupted: enough |" in text
    assert "**Reward 0.5 · exact**" in text
    assert "Assistant · edited" in text
    assert "✗ look** · failed" in text


def answer(text: str) -> list[ev.SessionEvent]:
    """A session in which everybody says this."""
    part = ToolCallPart(id="c", function=FunctionCall(name=text, arguments=text))
    return past(
        START.model_copy(update={"system": text, "model": text}),
        ev.UserMessageSent(msg_id="m", text=text, turn=1),
        ev.LlmRequestSent(call=1, turn=1, req_id="r"),
        ev.AssistantMessage(call=1, text=text, reasoning=text, tool_calls=[part]),
        ev.ToolResult(call_id="c", call=1, name=text, status="failed", content=text),
        ev.ErrorOccurred(source="tool", message=text, detail=text),
        ev.Graded(grader="g", turn=1, reward=0.0, reason=text),
        ev.ExtraKept(about=text, data={text: text}),
    )


@pytest.mark.parametrize("name", [*HOSTILE, "fences", "headings", "html"])
def test_no_text_breaks_out(name: str) -> None:
    own = {
        "fences": "```\n````\n# out\n~~~\n`````",
        "headings": "# One\n\nTwo\n===\n",
        "html": "<script>alert(1)</script> <img src=x onerror=alert(1)> ![x](http://there/pixel.png)",
    }
    text = exported("markdown", answer({**HOSTILE, **own}[name]))
    parsed = tokens(text)
    outside = [place for place, one in enumerate(parsed) if one.level == 0 and one.type == "heading_open"]
    titles = [parsed[place + 1].content for place in outside]
    assert titles == ["s", "System prompt", "Turn 1", "Call #1 · 0.0 s"]
    found = [one for token in parsed for one in (token, *(token.children or ()))]
    assert [one.content for one in found if one.type in ("html_block", "html_inline", "image")] == []
    assert raw_characters(text.replace("\n", "").replace("\t", "")) == []


def test_output_with_fences_in_it_is_whole() -> None:
    inside = "before\n```python\nx = 1\n```\n````\nafter\n"
    result = ev.ToolResult(call_id="c", call=1, name="bash", status="done", content=inside)
    assert inside in fences(exported("markdown", past(START, result)))
