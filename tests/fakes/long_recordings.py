"""Long recordings, as an agent leaves them that reads many files: streamed answers, output, long requests."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from agentscope_tui.event_lines import event_to_json
from agentscope_tui.events import (
    AssistantDelta,
    AssistantMessage,
    Event,
    LlmRequestSent,
    SessionEnded,
    SessionEvent,
    SessionStarted,
    StateChanged,
    ToolCallStarted,
    ToolOutput,
    ToolResult,
    UsageReported,
    UserMessageSent,
)
from agentscope_tui.models.chat import FunctionCall, Message, ToolCallPart

BEGUN = datetime(2026, 1, 1, 12, 0, tzinfo=UTC)


def long_events() -> Iterator[SessionEvent]:
    """The events of a session that never ends, 40 ms apart, about 40 KB a call."""
    for seq, event in enumerate(_events(), start=1):
        at = BEGUN + timedelta(seconds=0.04 * seq)
        yield event.model_copy(update={"seq": seq, "at": at, "session_id": "long"})


def write_long(folder: Path, size: int, *, ended: bool = True) -> list[SessionEvent]:
    """A session's folder with a recording of about `size` bytes; its events."""
    (folder / "outputs").mkdir(parents=True)
    (folder / "meta.json").write_text(json.dumps({"session_id": folder.name, "row": 0}))
    events: list[SessionEvent] = []
    with (folder / "events.jsonl").open("w") as file:
        for event in long_events():
            events.append(event)
            file.write(event_to_json(event) + "\n")
            if file.tell() > size and isinstance(event, ToolResult):
                break
        if ended:
            last = events[-1]
            for number, closing in enumerate(
                (
                    StateChanged(status="idle", turn=1, outcome="completed"),
                    SessionEnded(status="ended"),
                ),
                start=1,
            ):
                stamp = {"seq": last.seq + number, "at": last.at, "session_id": "long"}
                events.append(closing.model_copy(update=stamp))
                file.write(event_to_json(events[-1]) + "\n")
    return events


def _events() -> Iterator[Event]:
    yield SessionStarted(version="1", row=0, model="scripted:one")
    yield StateChanged(status="idle")
    yield UserMessageSent(msg_id="m", text="read all files", turn=1)
    yield StateChanged(status="running", turn=1)
    new: list[Message] = [{"role": "user", "content": "read all files"}]
    kept = call = 0
    while True:
        call += 1
        yield LlmRequestSent(
            call=call, turn=1, req_id=f"r{call}", base=call - 1, kept=kept, messages=new, digest="d" * 64
        )
        kept += len(new)
        text = f"I look at **file {call}** and say more words about it than there are in it. " * 8
        for start in range(0, len(text), 20):
            yield AssistantDelta(call=call, text=text[start : start + 20])
        arguments = {"command": f"cat file{call}"}
        function = FunctionCall(name="bash", arguments=json.dumps(arguments))
        part = ToolCallPart(id=f"c{call}", function=function)
        yield AssistantMessage(call=call, text=text, tool_calls=[part], duration=1.0)
        yield UsageReported(call=call, input_tokens=100, output_tokens=30)
        yield ToolCallStarted(call_id=part.id, call=call, req_id=f"t{call}", name="bash", arguments=arguments)
        pieces = [
            "".join(f"line {call} {piece} {line} of what is in the file\n" for line in range(20))
            for piece in range(10)
        ]
        for piece in pieces:
            yield ToolOutput(call_id=part.id, stream="stdout", text=piece)
        output = "".join(pieces)
        yield ToolResult(
            call_id=part.id, call=call, name="bash", status="done", content=output, duration=0.4, exit_code=0
        )
        new = [
            {"role": "assistant", "content": text, "tool_calls": [part.model_dump()]},
            {"role": "tool", "tool_call_id": part.id, "content": output},
        ]
