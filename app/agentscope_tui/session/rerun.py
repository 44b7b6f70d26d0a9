"""Running an agent again on what is recorded: the user says the same, and tools give the same results.

The agent itself is the one of now. What it does that is not recorded is kept as a difference.
"""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any

from agentscope_tui.errors import UserError
from agentscope_tui.events import ToolResult
from agentscope_tui.models.chat import ChatRequest, Completion, Delta, Message, Model, ModelError, RetryNotice
from agentscope_tui.models.replay import WAYS_ON
from agentscope_tui.models.wire_log import WireLog
from agentscope_tui.secrets import MASKER
from agentscope_tui.session.recorded_turns import RecordedCall, RecordedTurn, outcome_of
from agentscope_tui.session.reward import AnswerGrader, Verdict
from agentscope_tui.session.session import Session
from agentscope_tui.tools.spec import OnOutput, ToolOutcome, Toolset
from agentscope_tui.wire.arguments import BadArguments, parse_arguments

Restore = Callable[[], Awaitable[None]]


def repeatable(turns: Iterable[RecordedTurn]) -> list[RecordedTurn]:
    """The turns up to the first that did not end by itself: no interrupt comes twice at the same time."""
    kept: list[RecordedTurn] = []
    for turn in turns:
        if turn.interrupted or not turn.over:
            break
        kept.append(turn)
    return kept


class Rerun:
    """Stands between a session and what it calls. `differences` are in the order in which they showed."""

    def __init__(
        self,
        turns: Sequence[RecordedTurn],
        specs: Sequence[dict[str, Any]] | None = None,
    ) -> None:
        """`specs` declares the tools, whose results then come from the recording; None: they really run."""
        self._turns = turns
        self._specs = specs
        self._calls = {call.number: call for turn in turns for call in turn.calls}
        self._asked = 0
        self._session: Session | None = None
        self.differences: list[str] = []
        self.before_grading: Restore | None = None
        """Awaited before each grading."""

    def model(self, model: Model) -> Model:
        """The model, which first sends what the user said while it was asked last time."""
        return _WatchedModel(model, self)

    def tools(self, tools: Toolset) -> Toolset:
        """The tools, or their recorded results."""
        if self._specs is None:
            return tools
        return RecordedTools(tools, self._specs, self._calls.values(), self.differences)

    def grader(self, grader: AnswerGrader) -> AnswerGrader:
        """The grader, which finds the files as they were when the answer was graded last time."""
        return _PreparedGrader(grader, self)

    async def run(self, session: Session, *, timeout: float) -> None:
        """Say to a session that has just started what the user said; returns when the last turn is over, or
        one shows a difference.

        Raises:
            TimeoutError: a turn took longer than `timeout` seconds.
        """
        self._session = session
        for number, turn in enumerate(self._turns, start=1):
            session.send(turn.message.text)
            try:
                async with asyncio.timeout(timeout):
                    await session.settled()
            except TimeoutError:
                raise TimeoutError(f"turn {number} of the agent took more than {timeout:g} s") from None
            if self.differences or session.status != "idle":
                return

    def next_call(self) -> None:
        """The agent asks the model: what the user said meanwhile is sent now, for the request after this."""
        self._asked += 1
        following = self._calls.get(self._asked + 1)
        assert self._session is not None
        if following is None or any(turn.calls[:1] == [following] for turn in self._turns):
            return
        for steer in following.steers:
            self._session.send(steer.text)


class _WatchedModel:
    """A model whose refusals are differences."""

    def __init__(self, model: Model, rerun: Rerun) -> None:
        self._model = model
        self._rerun = rerun

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
        self._rerun.next_call()
        try:
            return await self._model.complete(request, on_delta, on_retry=on_retry, wire=wire)
        except ModelError as error:
            if error.kind == "not_recorded":
                self._rerun.differences.append(f"{error}\n{error.detail.removesuffix(WAYS_ON)}".rstrip())
            raise

    async def aclose(self) -> None:
        await self._model.aclose()


class RecordedTools:
    """Tools that do not run: each call gets the result that the same call got before, in order."""

    def __init__(
        self,
        tools: Toolset,
        specs: Sequence[dict[str, Any]],
        calls: Iterable[RecordedCall],
        differences: list[str],
    ) -> None:
        """`tools` are only closed. What has no result is added to `differences`."""
        self._tools = tools
        self.specs = specs
        self._differences = differences
        self._results: defaultdict[str, deque[ToolResult]] = defaultdict(deque)
        for call in calls:
            parts = call.completion.tool_calls if call.completion is not None else ()
            proposed = {part.id: part.function for part in parts}
            for result in call.results:
                if (function := proposed.get(result.call_id)) is not None:
                    self._results[_key(function.name, _arguments(function.arguments))].append(result)

    @property
    def confinement(self) -> str:
        return self._tools.confinement

    async def call(self, name: str, arguments: dict[str, Any], on_output: OnOutput) -> ToolOutcome:
        results = self._results[_key(name, arguments)]
        if not results:
            told = json.dumps(MASKER.masked(arguments), ensure_ascii=False)
            reason = f"Not recorded: the agent called {name} {told}, and no result of that is left."
            self._differences.append(reason)
            raise UserError(reason)
        return outcome_of(results.popleft())

    async def aclose(self) -> None:
        await self._tools.aclose()


def _arguments(text: str) -> dict[str, Any]:
    """Those of a call that ran; what is no object was never run."""
    try:
        return parse_arguments(text)
    except BadArguments:
        return {}


def _key(name: str, arguments: dict[str, Any]) -> str:
    return f"{name} {json.dumps(MASKER.masked(arguments), sort_keys=True)}"


class _PreparedGrader:
    """A grader before which something is done."""

    def __init__(self, grader: AnswerGrader, rerun: Rerun) -> None:
        self._grader = grader
        self._rerun = rerun

    @property
    def name(self) -> str:
        return self._grader.name

    async def grade(self, answer: str, messages: Sequence[Message]) -> Verdict:
        if self._rerun.before_grading is not None:
            await self._rerun.before_grading()
        return await self._grader.grade(answer, messages)
