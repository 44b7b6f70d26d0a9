"""Checkpoints of the fold: from any of them the rest of a recording makes the state that all of it makes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentscope_tui.event_lines import event_to_json
from agentscope_tui.events import (
    ExtraKept,
    Graded,
    ModelChanged,
    RetryScheduled,
    RunnerHealth,
    RunnerLogged,
    SessionEvent,
    ToolOutput,
)
from agentscope_tui.models.chat import ChatRequest, Completion, Delta, ModelError, ToolCallDelta
from agentscope_tui.store.checkpoints import LONG, PlacedFold
from agentscope_tui.store.event_source import EventSource, FileEvents, GivenEvents, PlacedEvent
from agentscope_tui.store.far import LOST, FarCall, FarEntry, FarPieces
from agentscope_tui.tools.spec import OnOutput, ToolOutcome
from fakes.deep_picture import deep_picture, folded
from fakes.engine import FakeTools, says
from fakes.session_rig import Rig

LONG_TEXT = "läng " * LONG
REPLIES = ("text", "long text", "tools", "long tools", "reasons", "fail")
ACTIONS = ("send", "interrupt", "step", "fine", "run", "give up", "retry", "pass")
drawn_replies = st.lists(st.sampled_from(REPLIES), min_size=1, max_size=6)
drawn_actions = st.lists(st.tuples(st.sampled_from(ACTIONS), st.integers(0, 8)), max_size=10)


class DrawnModel:
    """Streams what was drawn, in pieces; then text for ever."""

    name = "drawn"

    def __init__(self, drawn: list[str]) -> None:
        self.drawn = drawn
        self.requests: list[ChatRequest] = []

    async def complete(
        self, request: ChatRequest, on_delta: Callable[[Delta], None], **_hooks: object
    ) -> Completion:
        self.requests.append(request)
        kind = self.drawn.pop(0) if self.drawn else "text"
        on_delta(Delta(text="so "))
        if kind == "reasons":
            on_delta(Delta(reasoning="because"))
        if kind == "tools":
            on_delta(Delta(tool_calls=(ToolCallDelta(index=0, id="", name="ba", arguments=""),)))
        await asyncio.sleep(0)
        match kind:
            case "fail":
                raise ModelError("gone " + LONG_TEXT)
            case "tools":
                return says("so", ("bash", "{}"), ("bash", "{}"))
            case "long tools":
                return says(LONG_TEXT, ("bash", json.dumps({"command": LONG_TEXT})))
            case "long text":
                return says(LONG_TEXT)
            case _:
                return says("so it is")

    async def aclose(self) -> None:
        return None


async def bash(arguments: dict[str, Any], on_output: OnOutput) -> ToolOutcome:
    for number in range(3):
        await on_output("stderr" if number == 1 else "stdout", b"working\n")
        await asyncio.sleep(0)
    return ToolOutcome(content=LONG_TEXT, side_effects=True)


def act(rig: Rig, action: str) -> None:
    match action:
        case "send":
            rig.session.send(LONG_TEXT if len(rig.events) % 2 else "message")
        case "interrupt":
            rig.session.interrupt()
        case "step" | "fine":
            rig.session.step(fine=action == "fine")
        case "run":
            rig.session.run_on()
        case "give up":
            rig.session.give_up()
        case "retry":
            rig.session.retry()


async def recorded(drawn: list[str], actions: list[tuple[str, int]], mode: str) -> list[SessionEvent]:
    """The events of a real session, with some among them that no fake engine makes."""
    rig = Rig(DrawnModel(drawn), FakeTools(bash=bash), mode=mode)
    async with rig:
        rig.session.send("go")
        for action, turns in actions:
            act(rig, action)
            for _ in range(turns):
                await asyncio.sleep(0)
        settled = asyncio.create_task(rig.session.settled())
        async with asyncio.timeout(20):
            while not settled.done():
                rig.session.run_on()
                rig.session.give_up()
                await asyncio.sleep(0)
        for event in (
            RunnerLogged(stream="stderr", text="a\nb\n"),
            RunnerHealth(answering=False, seconds=3),
            ExtraKept(about="more", data={"a": [1, None]}),
            ModelChanged(model="another"),
            RetryScheduled(call=99, attempt=2, of=3, seconds=1, reason="busy"),
            Graded(grader="exact", turn=1, reward=0.5, reason=LONG_TEXT),
        ):
            rig.bus.publish(event)
    return rig.events


def file_of(events: list[SessionEvent], folder: Path) -> FileEvents:
    path = folder / "events.jsonl"
    path.write_text("".join(event_to_json(event) + "\n" for event in events))
    return FileEvents(path)


def placed(source: EventSource) -> list[PlacedEvent]:
    return [one for batch in source.read(0) for one in batch]


def check(source: EventSource, events: list[SessionEvent]) -> None:
    """At every third event: the state that was saved there is the whole fold, there and at the end."""
    walk = PlacedFold(source)
    lines = placed(source)
    assert [one.event for one in lines] == events
    pictures = [deep_picture(folded(events[:count])) for count in range(len(events) + 1)]
    for count, one in enumerate(lines, start=1):
        walk.apply(one)
        if count % 3:
            continue
        loaded = PlacedFold.load(walk.save(), source)
        assert (loaded.start, loaded.end, loaded.seq) == (*one.place, count)
        assert deep_picture(loaded.state) == pictures[count]
        if count % 9 == 0:
            for later in lines[count:]:
                loaded.apply(later)
            assert deep_picture(loaded.state) == pictures[-1]
            # What goes on from a checkpoint makes checkpoints that are as good.
            walk = PlacedFold.load(walk.save(), source)
    assert deep_picture(walk.state) == pictures[-1]


@settings(max_examples=10, derandomize=True, database=None)
@given(drawn_replies, drawn_actions, st.sampled_from(["run", "step"]))
def test_a_checkpoint_and_the_rest_are_the_whole(
    tmp_path_factory: pytest.TempPathFactory, drawn: list[str], actions: list[tuple[str, int]], mode: str
) -> None:
    events = asyncio.run(recorded(drawn, actions, mode))
    check(file_of(events, tmp_path_factory.mktemp("recording")), events)
    check(GivenEvents(events), events)


async def test_what_the_recording_says_is_not_copied(tmp_path: Path) -> None:
    events = await recorded(["long tools", "long text"], [], "run")
    source = file_of(events, tmp_path)
    fold = PlacedFold(source)
    for one in placed(source):
        fold.apply(one)
    data = fold.save()
    assert "läng" not in data.decode()
    assert "working" not in data.decode()
    loaded = PlacedFold.load(data, source)
    (call,) = loaded.state.calls
    assert isinstance(call, FarCall)
    assert isinstance(call.output, FarPieces)
    assert (call.content, json.loads(call.arguments)) == (LONG_TEXT, {"command": LONG_TEXT})
    assert [(piece.stream, piece.text) for piece in call.output] == [
        ("stdout", "working\n"),
        ("stderr", "working\n"),
        ("stdout", "working\n"),
    ]
    assert LONG_TEXT in [entry.text for entry in loaded.state.entries if isinstance(entry, FarEntry)]


async def test_output_among_other_events_is_found_in_pieces(tmp_path: Path) -> None:
    events = await recorded(["tools"], [], "run")
    outputs = [event for event in events if isinstance(event, ToolOutput)]
    assert len({event.call_id for event in outputs}) == 2
    source = file_of(events, tmp_path)
    fold = PlacedFold(source)
    for one in placed(source):
        fold.apply(one)
    for call in PlacedFold.load(fold.save(), source).state.calls:
        texts = [event.text for event in outputs if event.call_id == call.call_id]
        assert [piece.text for piece in call.output] == texts
        assert call.output[-1].text == texts[-1]
        assert call.output == call.output[:]
        with pytest.raises(IndexError):
            call.output[len(texts)]


async def test_what_is_gone_from_the_recording_is_said_where_it_was(tmp_path: Path) -> None:
    events = await recorded(["long tools", "long text"], [], "run")
    source = file_of(events, tmp_path)
    fold = PlacedFold(source)
    for one in placed(source):
        fold.apply(one)
    loaded = PlacedFold.load(fold.save(), source)
    (tmp_path / "events.jsonl").write_text("")
    (call,) = loaded.state.calls
    assert call.content == LOST
    assert {piece.text for piece in call.output} == {f"{LOST}\n"}
    assert loaded.state.reply(1) is None
    assert loaded.state.request_messages(1) == []


async def test_a_strangers_checkpoint_that_does_not_fit_together_is_refused(tmp_path: Path) -> None:
    events = await recorded(["long tools", "tools", "long text"], [], "step")
    source = file_of(events, tmp_path)
    fold = PlacedFold(source)
    for one in placed(source):
        fold.apply(one)
    good = json.loads(fold.save())
    PlacedFold.load(json.dumps(good).encode(), source)
    bad: list[tuple[str, Any]] = [
        ("entry_places", [10**6] * len(good["state"]["entry_places"])),
        ("entry_places", []),
        ("call_places", {}),
        ("answer_places", {"1": -1}),
        ("pauses", {"1": 10**6}),
        ("proposals", [[1, 0, 10**6]]),
        ("streaming", [77]),
        ("entries", [{"key": 1}]),
    ]
    for name, value in bad:
        data = {**good, "state": {**good["state"], name: value}}
        with pytest.raises(ValueError):
            PlacedFold.load(json.dumps(data).encode(), source)
    outputs = {**good, "outputs": {"10000": [{"start": 0, "end": 1, "count": 1}]}}
    many = {**good, "outputs": {"0": [{"start": 0, "end": 10**12, "count": 10**12}]}}
    texts = {**good, "texts": [{**good["texts"][0], "position": -1}]}
    names = {**good, "texts": [{**good["texts"][0], "name": "call_id"}]}
    started = {**good, "started": [10**9, 10**9 + 5]}
    for data in (outputs, many, texts, names, started):
        with pytest.raises(ValueError):
            PlacedFold.load(json.dumps(data).encode(), source)
