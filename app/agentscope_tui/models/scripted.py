"""A model that plays a script: for the demo, and for trying an agent without a provider."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable

from agentscope_tui.models.chat import (
    ChatRequest,
    Completion,
    Delta,
    FunctionCall,
    Message,
    ModelError,
    RetryNotice,
    ToolCallPart,
)
from agentscope_tui.models.deltas import deltas_of
from agentscope_tui.models.estimate import estimate_usage
from agentscope_tui.models.script import Call, Reply, ScriptFile
from agentscope_tui.models.wire_log import WireLog

_END = Reply(text="The script ends here: it has no reply for this message.")
_NO_SCRIPT = Reply(text="No script of this file is for this task: none has a `match` that its text contains.")


class ScriptedModel:
    """One session's play of a script file: each reply is given at most once."""

    def __init__(
        self,
        file: ScriptFile,
        *,
        name: str,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        """`name` is shown as the model's name; `sleep` waits for seconds."""
        self._file = file
        self._name = name
        self._sleep = sleep
        self._left: dict[int, tuple[Reply, ...]] = {}
        """The replies that are left, by the script's place in the file."""
        self._calls = 0

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
        """As every model; `wire` stays empty, since nothing goes over one."""
        reply = self._take_reply(request.messages)
        await self._play_retries(reply, on_retry)
        calls = tuple(self._part(call) for call in reply.tool_calls)
        await self._sleep(reply.delay)
        await self._stream(reply, calls, on_delta)
        completion = Completion(
            text=reply.text,
            reasoning=reply.reasoning,
            tool_calls=calls,
            finish_reason=reply.finish_reason or ("tool_calls" if calls else "stop"),
            model=self._name,
        )
        if reply.error is not None:
            usage = estimate_usage(request, completion, partial=True)
            raise ModelError(reply.error.message, kind=reply.error.kind, usage=usage)
        return completion.model_copy(update={"usage": estimate_usage(request, completion)})

    def skip(self, messages: list[Message]) -> None:
        """Use up the reply for this request: it was given before, in the session that is being replayed."""
        self._take_reply(messages)

    async def aclose(self) -> None:
        """There is nothing to close."""

    async def _play_retries(self, reply: Reply, on_retry: Callable[[RetryNotice], None] | None) -> None:
        """The failures that a client would have sent the request again for."""
        for attempt, failure in enumerate(reply.retries, start=2):
            if on_retry is not None:
                on_retry(RetryNotice(attempt, len(reply.retries) + 1, failure.seconds, failure.message))
            await self._sleep(failure.seconds)

    async def _stream(
        self, reply: Reply, calls: tuple[ToolCallPart, ...], on_delta: Callable[[Delta], None]
    ) -> None:
        deltas = list(deltas_of(reply.reasoning, reply.text, calls))
        stall = reply.stall
        for place, delta in enumerate(deltas):
            if stall is not None and place == stall.after:
                await self._sleep(stall.seconds)
            await self._sleep(1 / reply.tokens_per_second)
            on_delta(delta)
        if stall is not None and stall.after >= len(deltas):
            await self._sleep(stall.seconds)

    def _take_reply(self, messages: list[Message]) -> Reply:
        """The first reply that is left and whose condition holds; from then on it is used."""
        prompt = next((_text(message) for message in messages if message["role"] == "user"), "")
        scripts = self._file.scripts
        place = next((place for place, script in enumerate(scripts) if script.fits(prompt)), None)
        if place is None:
            return _NO_SCRIPT
        left = self._left.setdefault(place, scripts[place].replies)
        role, text = messages[-1]["role"], _text(messages[-1])
        for position, reply in enumerate(left):
            if reply.when is None or reply.when.holds(role, text):
                rest = left[:position] + left[position + 1 :]
                self._left[place] = rest if reply.then is None else reply.then
                return reply
        return _END

    def _part(self, call: Call) -> ToolCallPart:
        self._calls += 1
        raw = call.arguments
        arguments = raw if isinstance(raw, str) else json.dumps(raw, ensure_ascii=False, default=str)
        return ToolCallPart(
            id=f"call_{self._calls}", function=FunctionCall(name=call.name, arguments=arguments)
        )


def _text(message: Message) -> str:
    content = message.get("content")
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""
