"""The faults that a script can play: silences, attempts that fail, streams that break."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from pydantic import ValidationError

from agentscope_tui.models.chat import ChatRequest, ModelError, RetryNotice
from agentscope_tui.models.script import ScriptFile
from agentscope_tui.models.scripted import ScriptedModel

REQUEST = ChatRequest(messages=[{"role": "user", "content": "the task"}])


class Journal:
    """What happens, in order: pieces of text, seconds slept, and notices of retries."""

    def __init__(self, reply: dict[str, Any]) -> None:
        self.entries: list[object] = []
        file = ScriptFile.model_validate({"scripts": [{"replies": [{"tokens_per_second": 1e9, **reply}]}]})
        self._model = ScriptedModel(file, name="scripted:test", sleep=self._sleep)

    async def play(self) -> None:
        await self._model.complete(
            REQUEST,
            lambda piece: self.entries.append(piece.text or piece.tool_calls),
            on_retry=self.entries.append,
        )

    async def _sleep(self, seconds: float) -> None:
        if seconds > 1e-6:
            self.entries.append(seconds)


@pytest.mark.parametrize(
    ("stall", "entries"),
    [
        ({"after": 0, "seconds": 5}, [5, "one ", "two"]),
        ({"after": 1, "seconds": 5}, ["one ", 5, "two"]),
        ({"after": 9, "seconds": 5}, ["one ", "two", 5]),
        ({"after": 1}, ["one ", 3600, "two"]),
    ],
)
async def test_a_stall(stall: dict[str, Any], entries: list[object]) -> None:
    journal = Journal({"text": "one two", "stall": stall})
    await journal.play()
    assert journal.entries == entries


async def test_failed_attempts_are_told_as_retries() -> None:
    retries = [{"message": "busy", "seconds": 3}, {"seconds": 4}]
    journal = Journal({"text": "x", "retries": retries})
    await journal.play()
    assert journal.entries == [
        RetryNotice(2, 3, 3, "busy"),
        3,
        RetryNotice(3, 3, 4, "the script lets this attempt fail"),
        4,
        "x",
    ]


@pytest.mark.parametrize("kind", ["connection", "malformed", "timeout", "rate_limit", "context_overflow"])
async def test_a_stream_that_breaks(kind: str) -> None:
    journal = Journal({"text": "one two", "error": {"kind": kind, "message": "it broke"}})
    with pytest.raises(ModelError, match="it broke") as caught:
        await journal.play()
    assert caught.value.kind == kind
    assert journal.entries == ["one ", "two"]
    assert caught.value.usage is not None
    assert caught.value.usage.partial


async def test_a_stall_is_interrupted_at_once() -> None:
    file = ScriptFile.model_validate({"scripts": [{"replies": [{"text": "a b", "stall": {"after": 1}}]}]})
    model = ScriptedModel(file, name="scripted:test")
    streamed = asyncio.Event()
    task = asyncio.create_task(model.complete(REQUEST, lambda piece: streamed.set()))
    await asyncio.wait_for(streamed.wait(), 10)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, 10)


@pytest.mark.parametrize("stall", [{"after": -1}, {"seconds": -1}, {"for": 1}])
def test_bad_stalls(stall: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        ScriptFile.model_validate({"scripts": [{"replies": [{"text": "x", "stall": stall}]}]})
