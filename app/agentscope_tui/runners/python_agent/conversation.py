"""The conversation of a session as the agent last sent it: what the next turn begins with."""

from __future__ import annotations

import threading
from typing import Any

Message = dict[str, Any]


class Conversation:
    """Follows an agent's requests, from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last: list[Message] = []
        self._results: list[tuple[str, str]] = []

    def sent(self, messages: list[Message], *reply: Message) -> None:
        """The agent sends these messages; the model gives this reply, once there is one."""
        with self._lock:
            self._last, self._results = [*messages, *reply], []

    def result(self, tool: str, content: str) -> None:
        """A tool was run for the agent: kept for a turn that ends before the agent sends it."""
        with self._lock:
            self._results.append((tool, content))

    def begin_turn(self, start: list[Message], text: str) -> list[Message]:
        """The messages for a turn: those of the turn before, or `start`, and what the user says now."""
        with self._lock:
            self._last = [*(self._last or start), {"role": "user", "content": text}]
            return self._last

    def end_turn(self, answer: str | None) -> None:
        """The turn is over. The agent's own answer is the reply, if the conversation has none."""
        with self._lock:
            self._close_calls()
            if answer and (self._last[-1]["role"] != "assistant" or not self._last[-1].get("content")):
                self._last = [*self._last, {"role": "assistant", "content": answer}]

    def forget(self) -> None:
        """The next turn begins anew."""
        with self._lock:
            self._last = []

    def _close_calls(self) -> None:
        """Give the calls of the last reply their results: models refuse a conversation without."""
        reply = self._last[-1] if self._last else {}
        results, self._results = self._results, []
        closed = []
        for call in reply.get("tool_calls") or []:
            name = call["function"]["name"]
            given = next((result for result in results if result[0] == name), (name, "The call was not run."))
            if given in results:
                results.remove(given)
            closed.append({"role": "tool", "tool_call_id": call["id"], "content": given[1]})
        self._last = [*self._last, *closed]
