"""The `ctx` of one turn of a user's agent: its calls return when done, or are awaited in async agents."""

from __future__ import annotations

import asyncio
import copy
import json
import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from typing import Any

from .conversation import Conversation, Message
from .link import Frame, Link
from .own_tools import OwnTool
from .replies import Completion, ModelCallError, ToolResult, plain, wrapped


class Context:
    """What both kinds of agents have."""

    def __init__(self, link: Link, conversation: Conversation, start: Frame, messages: list[Message]) -> None:
        self._link = link
        self._conversation = conversation
        self._functions: dict[str, OwnTool] = {}
        self._result: dict[str, Any] = {}
        self.over = False
        """The turn has ended: nothing of this context works any more."""
        self.row: Any = wrapped(start.get("row") or {})
        self.row_index: int | None = start.get("row_index")
        self.session_id: str = start["session_id"]
        self.max_output_tokens: int = start["max_output_tokens"]
        self.temperature: float | None = start.get("temperature")
        self.max_calls: int = start["turn_cap"]
        self.messages: list[Any] = wrapped(copy.deepcopy(messages))
        self.tools: list[Any] = wrapped([{"type": "function", "function": tool} for tool in start["tools"]])

    def done(self, answer: object = None, reward: float | None = None) -> None:
        """Say what the agent's answer is, and how good it finds it itself. The agent should then return.

        Raises:
            ValueError: the reward is no finite number.
        """
        self._check()
        if reward is not None and not math.isfinite(float(reward)):
            raise ValueError(f"a reward is a finite number, not {reward}")
        if answer is not None:
            self._result["answer"] = answer if isinstance(answer, str) else json.dumps(answer, default=str)
        if reward is not None:
            self._result["reward"] = float(reward)

    def log(self, *values: object) -> None:
        """Show a note in the transcript, like `print`."""
        self._check()
        self._link.send("note", text=" ".join(map(str, values)))

    def fail(self, message: str) -> None:
        """The turn has failed, and why."""
        self._result.update(reason="error", error=message)

    def finish(self, returned: object) -> dict[str, Any]:
        """The fields of the idle that ends the turn; an agent may also return its answer."""
        if returned is not None and "answer" not in self._result:
            self.done(returned)
        return {"reason": "completed", **self._result}

    def _check(self) -> None:
        if self.over:
            raise RuntimeError("this turn is over: its ctx does nothing any more")

    def _body(
        self,
        messages: Sequence[Any] | None,
        tools: Sequence[Mapping[str, Any] | Callable[..., Any]] | None,
        params: dict[str, Any],
    ) -> Frame:
        self._check()
        given = self.messages if messages is None else messages
        body = {**plain(params), "messages": [_message(message) for message in given]}
        if tools:
            body["tools"] = [self._declaration(tool) for tool in tools]
        return body

    def _declaration(self, tool: Mapping[str, Any] | Callable[..., Any]) -> Any:
        if not isinstance(tool, Mapping):
            own = OwnTool(tool, self._link)
            self._functions[own.name] = own
            return {"type": "function", "function": own.declaration}
        return plain(tool if "function" in tool else {"type": "function", "function": tool})

    def _ask(self, body: Frame) -> Future[Frame]:
        self._conversation.sent(body["messages"])
        return self._link.ask("llm_request", openai_body=body)

    def _completion(self, body: Frame, answer: Frame) -> Completion:
        if answer.get("completion") is None:
            raise ModelCallError(answer.get("error") or "the model call failed")
        completion = Completion(answer["completion"])
        self._conversation.sent(body["messages"], plain(completion.message))
        return completion

    def _own(self, name: str) -> OwnTool | None:
        self._check()
        return self._functions.get(name)

    def _kept(self, name: str, result: ToolResult) -> ToolResult:
        self._conversation.result(name, result)
        return result


class AsyncContext(Context):
    """The context of `async def run(ctx)`."""

    async def chat(
        self,
        messages: Sequence[Any] | None = None,
        tools: Sequence[Mapping[str, Any] | Callable[..., Any]] | None = None,
        **params: Any,
    ) -> Completion:
        """Call the model; without `messages` with those of the turn.

        Raises:
            ModelCallError: the call failed, was refused or given up.
        """
        body = self._body(messages, tools, params)
        return self._completion(body, await asyncio.wrap_future(self._ask(body)))

    async def call_tool(self, name: str, arguments: Any = None) -> ToolResult:
        """Run a tool: one of the agent's own functions here, any other at the host. Arguments may also be
        the JSON text that the model wrote. A tool that fails gives a result with `is_error`."""
        given, fault = _arguments(arguments)
        if fault is not None:
            return self._kept(name, fault)
        own = self._own(name)
        if own is not None:
            return self._kept(name, await own.run_async(given))
        return self._kept(name, _result(await asyncio.wrap_future(_ask_tool(self._link, name, given))))


class SyncContext(Context):
    """The context of `def run(ctx)`: the same calls, which return when they are done."""

    def chat(
        self,
        messages: Sequence[Any] | None = None,
        tools: Sequence[Mapping[str, Any] | Callable[..., Any]] | None = None,
        **params: Any,
    ) -> Completion:
        """As `AsyncContext.chat`; may be called from several threads at once."""
        body = self._body(messages, tools, params)
        return self._completion(body, self._ask(body).result())

    def call_tool(self, name: str, arguments: Any = None) -> ToolResult:
        """As `AsyncContext.call_tool`."""
        given, fault = _arguments(arguments)
        if fault is not None:
            return self._kept(name, fault)
        own = self._own(name)
        if own is not None:
            return self._kept(name, own.run(given))
        return self._kept(name, _result(_ask_tool(self._link, name, given).result()))


def _ask_tool(link: Link, name: str, arguments: dict[str, Any]) -> Future[Frame]:
    return link.ask("tool_request", name=name, arguments=plain(arguments))


def _result(answer: Frame) -> ToolResult:
    return ToolResult(answer["content"], bool(answer.get("is_error")))


def _arguments(given: Any) -> tuple[dict[str, Any], ToolResult | None]:
    """The arguments as an object, or the result that says why they are none."""
    try:
        arguments = json.loads(given or "{}") if isinstance(given, str) else given or {}
    except ValueError as error:
        return {}, ToolResult(f"The arguments are not valid JSON: {error}. The call was not run.", True)
    if not isinstance(arguments, Mapping):
        return {}, ToolResult("The arguments must be a JSON object. The call was not run.", True)
    return dict(arguments), None


def _message(message: Any) -> Message:
    if isinstance(message, Completion):
        message = message.message
    data = plain(message)
    if not isinstance(data, dict):
        raise TypeError(f"a message is an object with role and content, not {data!r:.80}")
    return data
