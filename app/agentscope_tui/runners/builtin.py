"""The built-in agent loop: a runner behind frames like any other.

It calls the model, runs the tools it asks for one after the other, and goes on until a completion asks for
none or an answer is submitted. Messages that come while it runs are put in after the tool results of the
batch, or after a completion without tools.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from itertools import count
from typing import Any, assert_never

from agentscope_tui.models.chat import Message
from agentscope_tui.wire.arguments import BadArguments, parse_arguments
from agentscope_tui.wire.channel import Channel, ChannelClosed
from agentscope_tui.wire.frames import (
    Abort,
    EpisodeError,
    Hello,
    LlmRequest,
    LlmResponse,
    Ping,
    Pong,
    ReqId,
    RunnerState,
    SessionStart,
    Shutdown,
    ToolRequest,
    ToolResponse,
    UserMessage,
    parse_host_frame,
)

log = logging.getLogger(__name__)

SUBMIT = "submit"


class BuiltinRunner:
    """Runs one session over its end of a channel."""

    def __init__(self, channel: Channel, *, last_tool: str = SUBMIT) -> None:
        """A call of `last_tool` that succeeds ends the turn."""
        self._channel = channel
        self._last_tool = last_tool
        self._start = SessionStart(session_id="")
        self._history: list[Message] = []
        self._steers: deque[UserMessage] = deque()
        self._waiting: dict[ReqId, asyncio.Future[LlmResponse | ToolResponse]] = {}
        self._turn: asyncio.Task[None] | None = None
        self._turns = 0
        self._message_id: str | None = None
        self._numbers = count(1)

    async def run(self) -> None:
        """Serve the session until the host shuts it down or the channel ends."""
        try:
            await self._channel.send(Hello(name="builtin"))
            while (data := await self._channel.receive()) is not None:
                frame = parse_host_frame(data)
                if isinstance(frame, Shutdown):
                    break
                if frame is not None:
                    await self._handle(frame)
        except ChannelClosed:
            log.debug("the host closed the channel")
        finally:
            await self._stop_turn()
            await self._channel.aclose()

    async def _handle(
        self, frame: SessionStart | UserMessage | LlmResponse | ToolResponse | Abort | Ping
    ) -> None:
        match frame:
            case SessionStart():
                self._start = frame
                await self._channel.send(RunnerState(status="idle", turns=0))
            case UserMessage():
                await self._take(frame)
            case LlmResponse() | ToolResponse():
                waiting = self._waiting.pop(frame.req_id, None)
                if waiting is not None and not waiting.done():
                    waiting.set_result(frame)
            case Abort():
                await self._abort()
            case Ping():
                await self._channel.send(Pong(nonce=frame.nonce))
            case _:
                assert_never(frame)

    async def _take(self, message: UserMessage) -> None:
        self._message_id = message.msg_id
        if self._turn is not None:
            self._steers.append(message)
            return
        if self._start.conversation_scope == "turn":
            self._history.clear()
        self._history.append({"role": "user", "content": message.text})
        self._turns += 1
        self._turn = asyncio.create_task(self._run_turn(), name="builtin turn")

    async def _abort(self) -> None:
        if self._turn is None:
            return
        await self._stop_turn()
        self._history.extend(unanswered_results(self._history, "interrupted by the user"))
        await self._go_idle("aborted")

    async def _stop_turn(self) -> None:
        turn, self._turn = self._turn, None
        if turn is not None:
            turn.cancel()
            await asyncio.wait([turn])
        self._waiting.clear()

    async def _run_turn(self) -> None:
        try:
            await self._channel.send(self._state("running"))
            reason = await self._loop()
        except ChannelClosed:
            return
        except Exception as error:
            log.exception("the built-in loop failed")
            await self._channel.send(
                EpisodeError(note=f"the built-in loop failed: {type(error).__name__}: {error}")
            )
            return
        self._turn = None
        await self._go_idle(reason)

    async def _go_idle(self, reason: str) -> None:
        cleared = [steer.msg_id for steer in self._steers]
        self._steers.clear()
        await self._channel.send(self._state("idle", reason, cleared))

    async def _loop(self) -> str:
        calls = 0
        while calls < self._start.turn_cap:
            calls += 1
            answer = await self._ask_model()
            if answer.completion is None:
                return "error"
            choice = answer.completion["choices"][0]
            message: Message = choice["message"]
            self._history.append(message)
            tool_calls = message.get("tool_calls") or []
            submitted = False
            for position, call in enumerate(tool_calls, start=1):
                cut_off = choice.get("finish_reason") == "length" and position == len(tool_calls)
                submitted |= await self._run_tool(call, cut_off)
            if self._steers:
                self._history.extend({"role": "user", "content": steer.text} for steer in self._steers)
                self._steers.clear()
                calls = 0
            elif submitted or not tool_calls:
                return "completed"
        return "turn_limit"

    async def _ask_model(self) -> LlmResponse:
        system: list[Message] = (
            [{"role": "system", "content": self._start.system}] if self._start.system else []
        )
        body: dict[str, Any] = {
            "model": "worker",
            "messages": [*system, *self._history],
            "stream": True,
            "max_completion_tokens": self._start.max_output_tokens,
        }
        if self._start.tools:
            body["tools"] = [{"type": "function", "function": tool} for tool in self._start.tools]
        answer = await self._ask(LlmRequest(req_id=self._next_id(), openai_body=body))
        assert isinstance(answer, LlmResponse)
        return answer

    async def _run_tool(self, call: dict[str, Any], cut_off: bool) -> bool:
        """Run one call and append its result; True when it was the last one of the turn."""
        name = call["function"]["name"]
        try:
            if cut_off:
                raise BadArguments("The call was cut off at the output limit.")
            arguments = parse_arguments(call["function"]["arguments"])
        except BadArguments as problem:
            self._add_result(call, f"{problem} The call was not run.")
            return False
        answer = await self._ask(ToolRequest(req_id=self._next_id(), name=name, arguments=arguments))
        assert isinstance(answer, ToolResponse)
        self._add_result(call, answer.content)
        return name == self._last_tool and not answer.is_error

    def _add_result(self, call: dict[str, Any], content: str) -> None:
        self._history.append({"role": "tool", "tool_call_id": call["id"], "content": content})

    async def _ask(self, request: LlmRequest | ToolRequest) -> LlmResponse | ToolResponse:
        future: asyncio.Future[LlmResponse | ToolResponse] = asyncio.get_running_loop().create_future()
        self._waiting[request.req_id] = future
        await self._channel.send(request)
        return await future

    def _next_id(self) -> str:
        return f"r{next(self._numbers)}"

    def _state(self, status: Any, reason: str | None = None, cleared: list[str] | None = None) -> RunnerState:
        return RunnerState(
            status=status,
            turns=self._turns,
            reason=reason,
            cleared_steers=cleared or None,
            msg_id=self._message_id,
        )


def unanswered_results(history: list[Message], text: str) -> list[Message]:
    """Tool messages that answer, with `text`, each call of the last assistant message that has no result."""
    answered: set[str] = set()
    for message in reversed(history):
        if message["role"] == "tool":
            answered.add(message["tool_call_id"])
        elif message["role"] == "assistant":
            return [
                {"role": "tool", "tool_call_id": call["id"], "content": text}
                for call in message.get("tool_calls") or []
                if call["id"] not in answered
            ]
        else:
            break
    return []
