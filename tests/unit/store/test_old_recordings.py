"""Recordings of every schema that was released: they open, fold, list and replay in this version.

docs/development.md says how one is added.
"""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from agentscope_tui.bus import EventBus
from agentscope_tui.event_lines import KINDS, event_from_json, event_to_json
from agentscope_tui.events import StateChanged, UserMessageSent
from agentscope_tui.session.history import digest
from agentscope_tui.session.recorded_turns import recorded_turns
from agentscope_tui.session.replaying import Replay
from agentscope_tui.session.state import SessionState
from agentscope_tui.store.reopen import recover
from agentscope_tui.store.run_index import RunIndex, Wanted
from fakes.engine import DEADLINE, FakeModel, FakeTools
from fakes.session_rig import Rig, check_promises

RECORDINGS = sorted(Path(__file__).parents[2].joinpath("recordings").glob("*/*/"))
OF_OUR_LOOP = [folder for folder in RECORDINGS if folder.name != "agent"]
STANDS = {
    "wrong-answer": ("done", 1, 0.0),
    "tool-failed": ("done", 4, 1.0),
    "steered": ("done", 4, 1.0),
    "interrupted": ("stopped", 1, None),
    "call-failed": ("failed", 2, None),
    "forked": ("done", 4, 1.0),
    "agent": ("limit", 2, None),
}
"""State, calls and reward of each."""


def name_of(folder: Path) -> str:
    """Its schema and what it is of."""
    return "/".join(folder.parts[-2:])


each = pytest.mark.parametrize("folder", RECORDINGS, ids=map(name_of, RECORDINGS))


@pytest.fixture
def copied(folder: Path, tmp_path: Path) -> Path:
    """A recording in a folder that may be written to."""
    return Path(shutil.copytree(folder, tmp_path / "sessions" / folder.name))


def lines(folder: Path) -> list[str]:
    return (folder / "events.jsonl").read_text(encoding="utf-8").splitlines()


def missing(old: Any, new: Any, where: str = "") -> list[str]:
    """What an old value says that the new one does not."""
    match old, new:
        case dict(), dict():
            gone = [f"{where}.{key}" for key in old.keys() - new.keys()]
            return gone + [
                text for key in old.keys() & new for text in missing(old[key], new[key], f"{where}.{key}")
            ]
        case list(), list() if len(old) == len(new):
            pairs = enumerate(zip(old, new, strict=True))
            return [text for at, (one, other) in pairs for text in missing(one, other, f"{where}[{at}]")]
        case _:
            return [] if old == new else [f"{where}: {old!r} is {new!r}"]


def test_there_are_some_of_each_schema() -> None:
    schemas = {folder.parent.name for folder in RECORDINGS}
    assert {"0.1.0-1", "0.1.0-2", "0.1.0-3", "0.1.0-4"} <= schemas
    assert {folder.name for folder in RECORDINGS} == set(STANDS)


@each
def test_every_kind_and_field_is_still_known(folder: Path) -> None:
    for number, line in enumerate(lines(folder), start=1):
        old = json.loads(line)
        assert old["kind"] in KINDS, f"line {number}: the kind {old['kind']} has gone"
        assert missing(old, json.loads(event_to_json(event_from_json(line)))) == [], f"line {number}"


def test_a_field_that_has_gone_would_be_seen() -> None:
    old = {"kind": "submit", "seq": 1, "answer": "x", "calls": [{"id": 1, "gone": 2}]}
    new = {"kind": "submit", "seq": 2, "calls": [{"id": 1}], "more": 3}
    assert sorted(missing(old, new)) == [".answer", ".calls[0].gone", ".seq: 1 is 2"]


@each
def test_it_opens_and_folds(copied: Path, folder: Path) -> None:
    past = recover(copied)
    assert (past.closed, past.cut) == (0, 0)
    assert len(past.events) == len(lines(folder))
    state = SessionState()
    for event in past.events:
        state.apply(event)
    check_promises(past.events, state)
    assert (state.word, state.call, state.reward) == STANDS[folder.name]
    assert [entry.kind for entry in state.entries].count("user") == 1
    assert all(digest(state.request_messages(call)) for call in range(1, state.call + 1))


@each
def test_it_is_listed(copied: Path, folder: Path, tmp_path: Path) -> None:
    index = RunIndex(tmp_path)
    index.sync()
    (row,) = index.find(Wanted())
    index.close()
    assert (row.state, row.calls, row.reward) == STANDS[folder.name]
    agent = "agent.py:run" if folder.name == "agent" else "builtin"
    assert (row.id, row.status, row.agent) == (folder.name, "ended", agent)
    assert row.dataset.startswith("/project/")
    assert row.prompt
    assert row.tokens


@pytest.mark.parametrize("folder", OF_OUR_LOOP, ids=map(name_of, OF_OUR_LOOP))
async def test_it_replays_without_model_and_tools(copied: Path) -> None:
    past = recover(copied)
    replay = Replay(recorded_turns(past.events))
    model, tools = FakeModel(), FakeTools()
    rig = Rig(
        replay.model(model),
        replay.tools(tools),
        bus=EventBus("again"),
        system=past.started.system,
        mode="run",
    )
    async with rig:
        await asyncio.wait_for(replay.run(rig.session), DEADLINE)
        assert model.requests == []
        assert tools.called == []
        outcomes = [one.outcome for one in past.events if isinstance(one, StateChanged) and one.outcome]
        assert rig.outcomes() == outcomes
        texts = [one.text for one in past.events if isinstance(one, UserMessageSent)]
        assert [event.text for event in rig.of(UserMessageSent)] == texts
