"""A model that answers as one did in recorded sessions: no provider, no tokens, the same each time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Literal

from agentscope_tui.models.chat import (
    ChatRequest,
    Completion,
    Delta,
    Message,
    Model,
    ModelError,
    RetryNotice,
    ToolCallDelta,
)
from agentscope_tui.models.deltas import deltas_of
from agentscope_tui.models.wire_log import WireLog
from agentscope_tui.session.recording import Recording

ReplayMode = Literal["strict", "order"]
"""`strict`: a request must be one that was recorded. `order`: the n-th call gets the n-th answer."""

WAYS_ON = "--replay order gives recorded answers all the same, --replay-fallback MODEL asks a live model"
"""What the detail of a refusal ends with."""


class ReplayModel:
    """One session's replay: each recorded answer is given at most once. Calls that were cut off are not."""

    def __init__(
        self,
        recording: Recording,
        *,
        name: str,
        mode: ReplayMode = "strict",
        fallback: Model | None = None,
        tokens_per_second: float | None = None,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        """`fallback` answers what is not recorded, and is closed with this one. `tokens_per_second` None: an
        answer comes at once. `sleep` waits for seconds."""
        self._recording = recording
        self._name = name
        self._mode = mode
        self._fallback = fallback
        self._tokens_per_second = tokens_per_second
        self._sleep = sleep
        self._given: set[int] = set()
        self._session = ""
        """The recorded session that the last answer was of."""
        self._told = ""

    @property
    def name(self) -> str:
        return self._name

    async def complete(
        self,
        request: ChatRequest,
        on_delta: Callable[[Delta], None],
        *,
        on_retry: Callable[[RetryNotice], None] | None = None,
        wire: WireLog | None = None,
    ) -> Completion:
        """As every model; a request that is not recorded fails with the kind `not_recorded`."""
        try:
            place = self._take(request.messages)
        except ModelError as missing:
            if self._fallback is None:
                raise
            on_delta(Delta(note=f"{missing} {self._fallback.name} answers."))
            return await self._ask_live(self._fallback, request, on_delta, on_retry, wire)
        if self._mode == "order":
            self._tell_difference(place, request.messages, on_delta)
        answer = self._recording.answers[place]
        if answer.completion is None:
            raise ModelError(answer.failure, kind="recorded")
        usage = answer.completion.usage.model_copy(update={"replayed": True})
        completion = answer.completion.model_copy(update={"model": self._name, "usage": usage})
        await self._stream(completion, on_delta)
        return completion

    def skip(self, messages: list[Message]) -> None:
        """Use up the answer to this request: it was given before, in the session that is being replayed."""
        try:
            self._take(messages)
        except ModelError:
            # That one came from somewhere else: nothing is used up.
            pass

    async def aclose(self) -> None:
        if self._fallback is not None:
            await self._fallback.aclose()

    def _take(self, messages: list[Message]) -> int:
        """The place of the answer to a request; from then on it is given."""
        place = self._in_order() if self._mode == "order" else self._by_request(messages)
        self._given.add(place)
        self._session = self._recording.answers[place].session
        return place

    def _in_order(self) -> int:
        answers = self._recording.answers
        whole = [place for place, answer in enumerate(answers) if answer.whole]
        if len(self._given) == len(whole):
            raise _not_recorded(f"Not recorded: there are only {len(whole)} answers, and one more is asked.")
        return whole[len(self._given)]

    def _by_request(self, messages: list[Message]) -> int:
        """Of several answers to a request the first that is left, one of the same session if there is one."""
        answers = self._recording.answers
        found = self._recording.find(messages)
        whole = [place for place in found if answers[place].whole]
        left = [place for place in whole if place not in self._given]
        if left:
            return min(left, key=lambda place: (answers[place].session != self._session, place))
        if whole:
            last = answers[whole[-1]].name
            raise _not_recorded(f"Not recorded: this request is asked once more after {last} answered it.")
        if found:
            raise _not_recorded(f"Not recorded: {answers[found[0]].name} was cut off before its answer.")
        place = self._recording.nearest(messages, self._given)
        differences = self._recording.differences(place, messages)
        first, more, _ = differences.partition("\n")
        message = f"Not recorded: the request differs from {answers[place].name}: {first}"
        raise _not_recorded(message, f"{differences}\n{WAYS_ON}" if more else WAYS_ON)

    def _tell_difference(
        self, place: int, messages: list[Message], on_delta: Callable[[Delta], None]
    ) -> None:
        """Say how a request is not as recorded, once until it is so in another way."""
        if place in self._recording.find(messages):
            return
        first = self._recording.differences(place, messages).partition("\n")[0]
        if first != self._told:
            self._told = first
            name = self._recording.answers[place].name
            on_delta(Delta(note=f"The request differs from {name}, whose answer it gets: {first}"))

    async def _ask_live(
        self,
        model: Model,
        request: ChatRequest,
        on_delta: Callable[[Delta], None],
        on_retry: Callable[[RetryNotice], None] | None,
        wire: WireLog | None,
    ) -> Completion:
        """The usage says who used it: it is paid at that model's price."""
        payer = {"model": model.name}
        try:
            completion = await model.complete(request, on_delta, on_retry=on_retry, wire=wire)
        except ModelError as error:
            error.usage = error.usage and error.usage.model_copy(update=payer)
            raise
        return completion.model_copy(update={"usage": completion.usage.model_copy(update=payer)})

    async def _stream(self, completion: Completion, on_delta: Callable[[Delta], None]) -> None:
        if self._tokens_per_second is not None:
            for delta in deltas_of(completion.reasoning, completion.text, completion.tool_calls):
                await self._sleep(1 / self._tokens_per_second)
                on_delta(delta)
            return
        calls = [
            ToolCallDelta(index=index, id=call.id, name=call.function.name, arguments=call.function.arguments)
            for index, call in enumerate(completion.tool_calls)
        ]
        on_delta(Delta(text=completion.text, reasoning=completion.reasoning, tool_calls=tuple(calls)))


def _not_recorded(message: str, detail: str = "") -> ModelError:
    return ModelError(message, kind="not_recorded", detail=detail)
