"""The readable transcript of `run`: what is said of each event, and that text from outside is made safe."""

from __future__ import annotations

from io import StringIO

import pytest

from agentscope_tui.batch.printer import TranscriptPrinter
from agentscope_tui.events import (
    AssistantMessage,
    ErrorOccurred,
    Graded,
    Interrupted,
    LimitReached,
    LlmRequestSent,
    SessionEnded,
    SessionEvent,
    SessionStarted,
    StateChanged,
    Steer,
    ToolCallStarted,
    ToolOutput,
    ToolResult,
    UserMessageSent,
)
from agentscope_tui.models.chat import FunctionCall, ToolCallPart
from hostile import HOSTILE, raw_characters


def printed(*events: SessionEvent) -> str:
    out = StringIO()
    printer = TranscriptPrinter(out)
    for event in events:
        printer(event)
    return out.getvalue()


def output(text: str) -> ToolOutput:
    return ToolOutput(call_id="c", stream="stdout", text=text)


def test_output_in_pieces_is_joined_to_lines():
    result = ToolResult(call_id="c", call=1, name="bash", status="done", content="", duration=1)
    assert printed(output("a"), output("b\nc"), output("\r\nd"), result) == (
        "  │ ab\n  │ c\n  │ d\n  ✓ bash done · 1.0 s\n"
    )


def test_output_beyond_the_inline_part_names_its_file():
    event = ToolOutput(call_id="c", stream="stdout", file="c.out", offset=5, length=9)
    assert printed(output("x"), event) == "  │ x\n  │ … 9 bytes more in outputs/c.out\n"


@pytest.mark.parametrize(
    ("event", "line"),
    [
        (Graded(grader="exact", turn=1, reward=1.0, reason="equal"), "reward (exact): 1 · equal"),
        (Graded(grader="exact", turn=1, error="broke"), "reward (exact): error: broke"),
        (StateChanged(status="idle", turn=2, outcome="limit", reason="60 calls"), "turn 2 limit · 60 calls"),
        (SessionEnded(status="failed", reason="died"), "session failed: died"),
        (LimitReached(limit="calls", value=1, reason="too many"), "  ! too many"),
        (Interrupted(), "  ! interrupted"),
        (ErrorOccurred(source="model", message="no key"), "  ! model error: no key"),
        (Steer(msg_id="m", status="in_call", text="stop", call=2), "steer (in call #2):\n  stop"),
        (LlmRequestSent(call=1, turn=1, req_id="r", repairs=["an orphan"]), "  mended: an orphan"),
        (
            ToolResult(
                call_id="c", call=1, name="x", status="refused", content="", reason="unknown", duration=0
            ),
            "  ⊘ x refused · 0.0 s · unknown",
        ),
    ],
)
def test_what_is_said(event: SessionEvent, line: str):
    assert printed(event) == f"{line}\n"


def test_the_traceback_of_an_agent_is_quoted():
    event = ErrorOccurred(source="agent", message="KeyError: 'x' (a.py:1)", detail="Traceback\n  line 1")
    lines = ["  ! agent error: KeyError: 'x' (a.py:1)", "  │ Traceback", "  │   line 1"]
    assert printed(event).splitlines() == lines


def test_what_the_agent_does_not_get_is_said_once_until_it_changes():
    asked = [LlmRequestSent(call=1, turn=1, req_id="r", overridden={"model": name}) for name in "aab"]
    told = [f"  the agent asked for model {name}: your settings say otherwise" for name in "ab"]
    assert printed(*asked).splitlines() == told
    another_row = SessionStarted(version="1")
    assert printed(*asked, another_row, asked[2]).splitlines()[-1] == told[1]
    assert printed(*asked, another_row, asked[2]).count(told[1]) == 2


def test_what_is_not_worth_a_line_is_silent():
    quiet = [StateChanged(status="running"), SessionEnded(status="ended"), Steer(msg_id="m", status="queued")]
    assert printed(*quiet) == ""


@pytest.mark.parametrize("name", HOSTILE)
def test_text_from_outside_is_safe(name: str):
    text = HOSTILE[name]
    part = ToolCallPart(id="c", function=FunctionCall(name=text, arguments=text))
    seen = printed(
        SessionStarted(version="1", model=text, system=text, folder=text),
        UserMessageSent(msg_id="m", text=text, turn=1),
        AssistantMessage(call=1, text=text, tool_calls=[part]),
        ToolCallStarted(call_id="c", call=1, req_id="r", name=text, arguments={text: text}),
        output(text),
        ToolResult(call_id="c", call=1, name=text, status="failed", content=text, duration=1),
        ErrorOccurred(source="model", message=text),
        Graded(grader=text, turn=1, error=text),
    )
    assert raw_characters(seen.replace("\n", "").replace("\t", "")) == []
