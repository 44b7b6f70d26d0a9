"""Bringing a new runner to where a recording ends: it is asked and answered as before, then for real.

The runner builds its conversation anew from the same messages, completions and tool results. No model is
called and no tool runs for what is recorded; the first step after it is held.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from agentscope_tui.errors import UserError
from agentscope_tui.events import (
    AgentNote,
    ErrorOccurred,
    Graded,
    Paused,
    SessionEnded,
    SessionEvent,
    StateChanged,
    ToolResult,
)
from agentscope_tui.models.chat import ChatRequest, Completion, Delta, Message, Model, ModelError, RetryNotice
from agentscope_tui.models.wire_log import WireLog
from agentscope_tui.session.history import digest
from agentscope_tui.session.recorded_turns import RecordedCall, RecordedTurn, SentMessage, outcome_of
from agentscope_tui.session.request_diff import described, deviation
from agentscope_tui.session.reward import AnswerGrader, Verdict
from agentscope_tui.session.session import Session
from agentscope_tui.tools.spec import OnOutput, ToolOutcome, Toolset

_NONE: Mapping[str, str] = {}


class Replay:
    """The recorded turns, given out one answer after the other. Use `model` and `tools` in the session."""

    def __init__(
        self, turns: Sequence[RecordedTurn], *, same_system: bool = True, notes: Mapping[str, str] = _NONE
    ) -> None:
        """`notes` are told at the start, by their titles. Without `same_system` requests are expected to
        have another system prompt than the recorded ones."""
        self._turns = turns
        self._same_system = same_system
        self._notes = notes
        self._turn = RecordedTurn(SentMessage("", ""))
        self._calls: list[RecordedCall] = []
        self._results: list[ToolResult] = []
        self._session: Session | None = None
        self._news = asyncio.Event()
        self._deviated = False
        self.live = not turns
        """Whether all that is recorded was given: from then on the model and the tools are the real ones."""

    def model(self, model: Model) -> Model:
        """A model that answers from the recording first."""
        return _ReplayedModel(model, self)

    def tools(self, tools: Toolset) -> Toolset:
        """A toolset whose results come from the recording first."""
        return _ReplayedTools(tools, self)

    def grader(self, grader: AnswerGrader) -> AnswerGrader:
        """A grader whose rewards come from the recording first."""
        rewards = [reward for turn in self._turns for reward in turn.rewards if reward.grader != "agent"]
        return _ReplayedGrader(grader, rewards)

    async def run(self, session: Session) -> None:
        """Replay the turns in a session that has just started; returns when the runner is where it was."""
        self._session = session
        for title, text in self._notes.items():
            session.bus.publish(AgentNote(title=title, text=text))
        unsubscribe = session.bus.subscribe(self._on_event)
        try:
            for turn in self._turns:
                self._turn, self._calls, self._results = turn, list(turn.calls), []
                self._go_live_at_the_end()
                session.send(turn.message.text)
                self._send_steers()
                while not self.live and session.status in ("running", "interrupting"):
                    self._news.clear()
                    await self._news.wait()
                if self.live:
                    return
                if self._ended_early:
                    self._tell_other_way("ended the turn")
                    return
            self._go_live()
        finally:
            unsubscribe()

    async def next_call(self, messages: list[Message]) -> RecordedCall | None:
        """The next recorded call of the turn, for a request of these messages; None: from here on the session
        is live."""
        if not self._calls:
            await self._nothing_left("asked for one more model call")
        if self.live:
            return None
        call = self._taken(messages)
        self._results = list(call.results)
        self._send_steers()
        self._go_live_at_the_end()
        return call

    def remembers(self, name: str) -> bool:
        """Whether a recorded result of this tool is due."""
        return not self.live and any(result.name == name for result in self._results)

    async def next_result(self, name: str) -> ToolResult | None:
        """The next recorded result of this tool; None: from here on the session is live."""
        result = next((result for result in self._results if result.name == name), None)
        if result is None:
            await self._nothing_left(f"called {name}")
        if result is None or self.live:
            return None
        self._results.remove(result)
        self._go_live_at_the_end()
        return result

    async def interrupt(self) -> None:
        """Stop the turn as it was stopped before; never returns."""
        assert self._session is not None
        asyncio.get_running_loop().call_soon(self._session.interrupt)
        await asyncio.get_running_loop().create_future()

    def _taken(self, messages: list[Message]) -> RecordedCall:
        """The recorded call that was asked the same; of several at once it need not be the first. One that
        was asked something else is told of, once."""
        sent = digest(messages)
        for place, call in enumerate(self._calls):
            if call.request.digest == sent:
                return self._calls.pop(place)
        call = self._calls.pop(0)
        if not self._deviated and (changes := deviation(call.request, messages, system=self._same_system)):
            self._deviated = True
            assert self._session is not None
            title = f"the request of call #{call.number} is not the recorded one"
            self._session.bus.publish(AgentNote(title=title, text=described(changes)))
        return call

    def _send_steers(self) -> None:
        """What the next request was the first to carry."""
        assert self._session is not None
        for steer in self._calls[0].steers if self._calls else self._turn.steers:
            self._session.send(steer.text)

    def _go_live_at_the_end(self) -> None:
        """With nothing left of the turn that never ended, the next step is new."""
        if not self._turn.over and not self._calls and not self._results:
            self._go_live()

    def _go_live(self) -> None:
        if not self.live:
            self.live = True
            self._news.set()
            assert self._session is not None
            if self._session.settings.patient:
                self._session.step(fine=True)

    async def _nothing_left(self, how: str) -> None:
        """The runner wants more than is recorded: the turn was stopped here, or the runner does otherwise."""
        if self.live:
            return
        if self._turn.interrupted:
            await self.interrupt()
        self._tell_other_way(how)

    @property
    def _ended_early(self) -> bool:
        """Whether the turn is over, and was not yet where the recording has more of it."""
        assert self._session is not None
        more = not self._turn.over or (self._calls and not self._turn.interrupted)
        return self._session.status == "idle" and bool(more)

    def _tell_other_way(self, how: str) -> None:
        assert self._session is not None
        message = f"the runner went another way than recorded: it {how}. What follows is new."
        self._session.bus.publish(ErrorOccurred(source="runner", message=message))
        self._go_live()

    def _on_event(self, event: SessionEvent) -> None:
        if isinstance(event, StateChanged | SessionEnded):
            self._news.set()
        elif isinstance(event, Paused) and event.step == "failed_call" and not self.live:
            assert self._session is not None
            asyncio.get_running_loop().call_soon(self._session.give_up)


@runtime_checkable
class _Skips(Protocol):
    """A model whose answers follow each other: one that was given before must not come again."""

    def skip(self, messages: list[Message]) -> None: ...


class _ReplayedModel:
    """A model behind a recording."""

    def __init__(self, model: Model, replay: Replay) -> None:
        self._model = model
        self._replay = replay

    @property
    def name(self) -> str:
        return self._model.name

    async def complete(
        self,
        request: ChatRequest,
        on_delta: Callable[[Delta], None],
        *,
        on_retry: Callable[[RetryNotice], None] | None = None,
        wire: WireLog | None = None,
    ) -> Completion:
        call = await self._replay.next_call(request.messages)
        if call is None:
            return await self._model.complete(request, on_delta, on_retry=on_retry, wire=wire)
        if isinstance(self._model, _Skips):
            self._model.skip(request.messages)
        text = call.partial if call.completion is None else call.completion.text
        if text:
            on_delta(Delta(text=text))
        if call.failure:
            raise ModelError(call.failure, kind="recorded")
        if call.completion is None:
            await self._replay.interrupt()
        assert call.completion is not None
        return call.completion

    async def aclose(self) -> None:
        await self._model.aclose()


class _ReplayedTools:
    """A toolset behind a recording."""

    def __init__(self, tools: Toolset, replay: Replay) -> None:
        self._tools = tools
        self._replay = replay

    @property
    def specs(self) -> Sequence[dict[str, Any]]:
        return self._tools.specs

    @property
    def confinement(self) -> str:
        return self._tools.confinement

    def remembers(self, name: str) -> bool:
        """Whether it answers a call of a tool that is not declared."""
        return self._replay.remembers(name)

    async def call(self, name: str, arguments: dict[str, Any], on_output: OnOutput) -> ToolOutcome:
        result = await self._replay.next_result(name)
        if result is None:
            return await self._tools.call(name, arguments, on_output)
        if result.status == "interrupted":
            await self._replay.interrupt()
        return outcome_of(result)

    async def aclose(self) -> None:
        await self._tools.aclose()


@dataclass(frozen=True)
class _RecordedVerdict:
    reward: float
    reason: str
    metrics: Mapping[str, float]
    sessions: Sequence[str]


class _ReplayedGrader:
    """A grader behind a recording: the files are not what they were when the turns were graded."""

    def __init__(self, grader: AnswerGrader, rewards: list[Graded]) -> None:
        self._grader = grader
        self._rewards = rewards

    @property
    def name(self) -> str:
        return self._grader.name

    async def grade(self, answer: str, messages: Sequence[Message]) -> Verdict:
        if not self._rewards:
            return await self._grader.grade(answer, messages)
        recorded = self._rewards.pop(0)
        if recorded.reward is None:
            raise UserError(recorded.error or "the grader failed")
        return _RecordedVerdict(recorded.reward, recorded.reason, recorded.metrics, recorded.sessions)
