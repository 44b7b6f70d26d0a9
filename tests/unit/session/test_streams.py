"""What streams is joined, bounded and whole: deltas of a model, output of a tool."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

from agentscope_tui.events import AssistantDelta, Event, ToolOutput
from agentscope_tui.models.chat import Delta, ToolCallDelta
from agentscope_tui.session.streams import MAX_INLINE, MAX_JOINED, DeltaStream, OutputStream
from agentscope_tui.tools.spec import OnOutput, ToolOutcome
from fakes.engine import FakeModel, FakeTools, says
from fakes.session_rig import Rig
from waiting import wait_until


class Published(list[Any]):
    def __call__(self, event: Event) -> Event:
        self.append(event)
        return event


async def test_deltas_are_joined_until_a_short_time_has_passed() -> None:
    events = Published()
    stream = DeltaStream(events, 1, lambda: 0.0)
    for letter in "many small pieces":
        stream.add(Delta(text=letter, reasoning=letter.upper()))
    assert events == []
    await wait_until(lambda: events, "the joined delta")
    assert events == [AssistantDelta(call=1, text="many small pieces", reasoning="MANY SMALL PIECES")]


async def test_deltas_are_not_joined_past_a_size() -> None:
    events = Published()
    stream = DeltaStream(events, 1, lambda: 0.0)
    stream.add(Delta(text="a" * (MAX_JOINED - 1)))
    assert events == []
    stream.add(Delta(text="b"))
    assert [len(event.text) for event in events] == [MAX_JOINED]
    stream.add(Delta(tool_calls=(ToolCallDelta(index=0, arguments="c" * MAX_JOINED),)))
    assert len(events) == 2
    stream.close()


async def test_the_pieces_of_a_tool_call_are_joined_by_their_index() -> None:
    events = Published()
    stream = DeltaStream(events, 3, lambda: 0.0)
    for index, name, arguments in [(0, "bash", '{"a'), (1, "look", "{"), (0, "", '": 1}'), (1, "", "}")]:
        stream.add(Delta(tool_calls=(ToolCallDelta(index=index, name=name, arguments=arguments),)))
    stream.close()
    assert events[0].tool_calls == [
        {"index": 0, "id": "", "name": "bash", "arguments": '{"a": 1}'},
        {"index": 1, "id": "", "name": "look", "arguments": "{}"},
    ]


async def test_what_comes_after_the_end_shows_nothing(tmp_path: Path) -> None:
    events = Published()
    deltas = DeltaStream(events, 1, lambda: 0.0)
    output = OutputStream(events, "c1", tmp_path / "out")
    deltas.close()
    output.close()
    deltas.add(Delta(text="late" * MAX_JOINED))
    output.write("stdout", b"late" * MAX_JOINED)
    assert events == []
    assert not (tmp_path / "out").exists()


async def test_output_keeps_the_order_of_its_streams(tmp_path: Path) -> None:
    events = Published()
    output = OutputStream(events, "c1", tmp_path / "out")
    for stream, data in [("stdout", b"a"), ("stdout", b"b"), ("stderr", b"!"), ("stdout", b"c")]:
        output.write(stream, data)  # type: ignore[arg-type]
    output.close()
    assert [(event.stream, event.text) for event in events] == [
        ("stdout", "ab"),
        ("stderr", "!"),
        ("stdout", "c"),
    ]
    assert (tmp_path / "out").read_bytes() == b"ab!c"
    assert os.stat(tmp_path / "out").st_mode & 0o777 == 0o600


async def test_a_character_split_over_pieces_is_whole_also_between_streams() -> None:
    events = Published()
    output = OutputStream(events, "c1", None)
    euro = "€".encode()
    output.write("stdout", euro[:1])
    output.flush()
    output.write("stderr", b"x")
    output.flush()
    output.write("stdout", euro[1:])
    output.flush()
    output.write("stdout", euro[:2])
    output.close()
    assert [(event.stream, event.text) for event in events] == [
        ("stderr", "x"),
        ("stdout", "€"),
        ("stdout", "\ufffd"),
    ]


async def test_anything_may_come_out() -> None:
    events = Published()
    output = OutputStream(events, "c1", None)
    output.write("stdout", bytes(range(256)))
    output.close()
    text = "".join(event.text for event in events)
    assert text.startswith("\x00\x01")
    assert "\ufffd" in text


async def test_past_a_mebibyte_events_carry_places_in_the_file(tmp_path: Path) -> None:
    events = Published()
    output = OutputStream(events, "c1", tmp_path / "0001.out")
    block = b"0123456789abcde\n" * 4096
    for _ in range(24):
        output.write("stdout", block)
    output.write("stderr", b"the end")
    output.close()
    whole = block * 24 + b"the end"
    assert (tmp_path / "0001.out").read_bytes() == whole
    inline = [event for event in events if event.file is None]
    places = [event for event in events if event.file is not None]
    assert sum(len(event.text) for event in inline) == MAX_INLINE
    assert all(event.text == "" and event.file == "0001.out" for event in places)
    read = b"".join(whole[event.offset : event.offset + event.length] for event in places)
    assert read == whole[MAX_INLINE:]


async def test_half_a_character_at_the_boundary_is_told_in_its_place(tmp_path: Path) -> None:
    events = Published()
    output = OutputStream(events, "c1", tmp_path / "out")
    euro = "€".encode()
    output.write("stdout", b"x" * (MAX_INLINE - 1) + euro[:1])
    output.flush()
    output.write("stdout", euro[1:])
    output.close()
    assert [event.text[-1:] for event in events] == ["x", "\ufffd", ""]
    assert events[-1].file == "out"


async def test_an_output_file_that_cannot_be_written_is_told_once_and_the_text_goes_on(
    tmp_path: Path,
) -> None:
    async def chatty(arguments: dict[str, Any], on_output: OnOutput) -> ToolOutcome:
        for _ in range(3):
            await on_output("stdout", b"z" * MAX_JOINED)
        return ToolOutcome(content="done")

    model = FakeModel(says("", ("bash", "{}")), says("done"))
    async with Rig(model, FakeTools(bash=chatty), folder=tmp_path / "gone") as rig:
        await rig.run()
    assert sum(len(event.text) for event in rig.of(ToolOutput)) == 3 * MAX_JOINED
    errors = [event for event in rig.events if event.kind == "error"]
    assert [error.source for error in errors] == ["recorder"]
    assert "cannot keep the output of bash on disk" in errors[0].message
    assert rig.outcomes() == ["completed"]


async def test_each_call_has_an_output_file_of_its_own(tmp_path: Path) -> None:
    async def echo(arguments: dict[str, Any], on_output: OnOutput) -> ToolOutcome:
        await on_output("stdout", arguments["say"].encode())
        return ToolOutcome(content="done")

    (tmp_path / "outputs").mkdir()
    calls = [("bash", '{"say": "one"}'), ("bash", '{"say": "two"}')]
    async with Rig(FakeModel(says("", *calls)), FakeTools(bash=echo), folder=tmp_path) as rig:
        await rig.run()
    files = sorted((tmp_path / "outputs").iterdir())
    assert [(file.name, file.read_text()) for file in files] == [("0001.out", "one"), ("0002.out", "two")]


async def test_a_model_that_floods_makes_few_events() -> None:
    async def floods(request: Any, on_delta: Any) -> Any:
        for number in range(5000):
            on_delta(Delta(text=f"{number} "))
            if number % 100 == 0:
                await asyncio.sleep(0)
        return says("".join(f"{number} " for number in range(5000)))

    async with Rig(FakeModel(floods)) as rig:
        await rig.run()
    text = "".join(event.text for event in rig.of(AssistantDelta))
    assert text.endswith("4999 ")
    assert len(rig.of(AssistantDelta)) < 500
