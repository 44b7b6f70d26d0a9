"""Sessions that are over, made by the real engine, with all that can happen in one; and their exports."""

from __future__ import annotations

import io
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from agentscope_tui.event_lines import event_from_json, event_to_json
from agentscope_tui.events import SessionEvent
from agentscope_tui.grading.grader import Grade
from agentscope_tui.models.chat import Message, ModelError
from agentscope_tui.session.earlier import EarlierMessages
from agentscope_tui.session.gate import Decision
from agentscope_tui.session.state import SessionState
from agentscope_tui.session.views import Entry
from agentscope_tui.store.export.formats import FORMATS, Choices
from agentscope_tui.store.export.source import Source, imported
from agentscope_tui.store.past import PastSession
from fakes.engine import FakeModel, FakeTools, Gatekeeper, returns, says, streams
from fakes.session_rig import Rig

BASH = ("bash", '{"command":"ls -l"}')
LOOK = ("look", '{"at": "x", "often": 2}')
EARLIER: list[Message] = [
    {"role": "user", "content": "Hello"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "e1", "type": "function", "function": {"name": "look", "arguments": "{}"}}],
    },
    {"role": "tool", "tool_call_id": "e1", "content": "seen"},
    {"role": "assistant", "content": "Hi"},
]


class HalfRight:
    """A grader."""

    name = "exact"

    async def grade(self, answer: str, messages: Sequence[Message]) -> Grade:
        return Grade(0.5, f"half of {answer!r}")


async def eventful() -> list[SessionEvent]:
    """Turns with edits, a refusal, a steer, a model that fails and comes back, an interrupt and rewards."""
    busy, stuck = Gatekeeper(), Gatekeeper()
    model = FakeModel(
        says("I **look** first.", BASH, LOOK, ids="a"),
        busy.reply(says("Not valid:", ("look", '{"at": '), ids="b"), before="Not "),
        ModelError("the server is busy", kind="overloaded"),
        streams("so ", "far"),
        says("Quick it is."),
        says("rm -rf", ("bash", '{"command": "rm"}'), ids="d"),
        stuck.reply(says("never"), before="I begin"),
    )
    tools = FakeTools(bash=returns("total 0"), look=returns("nothing", is_error=True))
    settings: dict[str, Any] = {"system": "Be brief.", "earlier": EarlierMessages(EARLIER), "mode": "step"}
    async with Rig(model, tools, grader=HalfRight(), **settings) as rig:
        session = rig.session
        session.send("go")
        await rig.until(lambda: rig.state.holds)
        session.decide(Decision("edit", completion=says("I look at both.", BASH, LOOK, ids="a")))
        session.step(fine=True)
        await rig.until(lambda: rig.state.holds and rig.state.holds[0].step == "tool_call")
        session.decide(Decision("edit", arguments={"command": "pwd"}))
        session.run_on()
        await busy.entered.wait()
        session.send("and be quick")
        busy.let_go.set()
        await rig.until(lambda: rig.state.holds and rig.state.holds[0].step == "failed_call")
        session.decide(Decision("pass"))
        await rig.settled()
        session.pause()
        session.send("once more")
        await rig.until(lambda: rig.state.holds)
        session.decide(Decision("refuse", "too dangerous"))
        await rig.settled()
        session.run_on()
        session.send("the last time")
        await stuck.entered.wait()
        session.interrupt("enough")
        await rig.settled()
    return rig.events


def past(*events: SessionEvent, session_id: str = "s") -> list[SessionEvent]:
    """The events numbered, a second apart."""
    began = datetime(2026, 1, 1, tzinfo=UTC)
    return [
        event.model_copy(
            update={"seq": number, "at": began + timedelta(seconds=number), "session_id": session_id}
        )
        for number, event in enumerate(events, start=1)
    ]


def source_of(events: Sequence[SessionEvent], name: str = "s") -> Source:
    """The events as a source of exports."""
    return imported(PastSession(list(events)), name)


def exported(format: str, events: Sequence[SessionEvent], **choices: Any) -> str:
    """What a format writes."""
    out = io.StringIO()
    FORMATS[format].writer(source_of(events), out, Choices(**choices))
    return out.getvalue()


def _without_numbers(entry: Entry) -> dict[str, Any]:
    told = entry.interrupted
    return {**vars(entry), "key": "", "interrupted": told and told.model_copy(update={"seq": 0})}


def shown(events: Sequence[SessionEvent]) -> dict[str, Any]:
    """What a session shows, without what only a live one has: how its texts streamed in, and output beside
    the results."""
    state = SessionState()
    for event in events:
        if event.kind not in ("assistant_delta", "tool_output"):
            state.apply(event_from_json(event_to_json(event)))
    kept = {name: value for name, value in vars(state).items() if not name.startswith("_")}
    return kept | {
        "last_seq": 0,
        "started": state.started.model_copy(update={"seq": 0}) if state.started else None,
        "entries": [_without_numbers(entry) for entry in state.entries],
        "calls": [vars(call) for call in state.calls],
        "steers": [vars(steer) for steer in state.steers],
        "requests": [state.request_messages(call) for call in range(1, state.call + 1)],
    }
