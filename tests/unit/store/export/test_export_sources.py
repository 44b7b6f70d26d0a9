"""What is exported of a recording: all that is whole, closed where it hung, and no secret in any format."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import agentscope_tui.events as ev
from agentscope_tui.errors import UserError
from agentscope_tui.secrets import MASK, MASKER
from agentscope_tui.store.export.embedded import events_of
from agentscope_tui.store.export.formats import FORMATS
from agentscope_tui.store.export.source import STREAMED, recorded
from agentscope_tui.store.lock import FolderLock
from fakes.past_sessions import exported, past
from fakes.recordings import recording

CANARY = "canary-of-a-key-4711"
SHAPE = "sk-proj-CANARY0of0a0known0shape0that0nobody0configured"
BEGUN = past(
    ev.SessionStarted(version="1"),
    ev.UserMessageSent(msg_id="m", text="go", turn=1),
    ev.LlmRequestSent(call=1, turn=1, req_id="r"),
    ev.AssistantDelta(call=1, text="so far"),
)


@pytest.fixture
def known_key() -> Iterator[None]:
    MASKER.learn([CANARY])
    yield
    MASKER.forget()


def test_what_hangs_in_a_recording_is_closed(tmp_path: Path) -> None:
    events = list(recorded(recording(tmp_path / "s", BEGUN)).events())
    assert events[: len(BEGUN)] == BEGUN
    partial, end = events[len(BEGUN) :]
    assert isinstance(partial, ev.AssistantMessage)
    assert (partial.text, partial.partial, end.kind) == ("so far", True, "session_ended")


def test_a_session_that_still_runs_is_taken_as_far_as_it_is(tmp_path: Path) -> None:
    folder = recording(tmp_path / "s", BEGUN)
    lock = FolderLock(folder)
    assert list(recorded(folder).events()) == BEGUN
    lock.release()


def test_kinds_that_are_not_wanted_are_passed_over(tmp_path: Path) -> None:
    folder = recording(tmp_path / "s", BEGUN)
    kinds = [event.kind for event in recorded(folder).events(without=STREAMED)]
    assert kinds == ["session_started", "user_message", "llm_request", "assistant_message", "session_ended"]


def test_the_events_before_a_broken_line_are_taken(tmp_path: Path) -> None:
    folder = recording(tmp_path / "s", BEGUN[:2])
    with (folder / "events.jsonl").open("a") as file:
        file.write('{"seq": 3, "kin\n{"seq": 4, "kind": "note", "text": "x"}\n')
    kinds = [event.kind for event in recorded(folder).events()]
    assert kinds == ["session_started", "user_message", "session_ended"]


@pytest.mark.parametrize("content", ["", "no json\n"])
def test_what_is_no_recording_says_so(tmp_path: Path, content: str) -> None:
    folder = recording(tmp_path / "s", [])
    (folder / "events.jsonl").write_text(content)
    with pytest.raises(UserError, match="empty or damaged"):
        recorded(folder)
    with pytest.raises(UserError, match="no recording to read"):
        recorded(tmp_path / "nowhere")


@pytest.mark.parametrize("format", FORMATS)
def test_no_secret_is_in_any_format(format: str, known_key: None) -> None:
    if FORMATS[format].has_files:
        pytest.skip("writes files of its own")
    key = f"the keys are {CANARY} and {SHAPE}."
    messages = [{"role": "user", "content": key}]
    events = past(
        ev.SessionStarted(version="1", system=key, model=key),
        ev.UserMessageSent(msg_id="m", text=key, turn=1),
        ev.LlmRequestSent(call=1, turn=1, req_id="r", messages=messages),
        ev.AssistantDelta(call=1, text=key),
        ev.AssistantMessage(call=1, text=key, reasoning=key),
        ev.ToolCallStarted(call_id="c", call=1, req_id="r", name="bash", arguments={key: key}),
        ev.ToolOutput(call_id="c", stream="stdout", text=key),
        ev.ToolResult(call_id="c", call=1, name="bash", status="done", content=key),
        ev.ExtraKept(about=key, data=[key]),
    )
    text = exported(format, events)
    inside = str(events_of(text.encode())) if format == "html" else ""
    assert CANARY not in text + inside
    assert "CANARY0" not in text + inside
    assert MASK in text
