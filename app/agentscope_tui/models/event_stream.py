"""The events of one response, as the reader takes them: each within its limit of time, or a plain error."""

from __future__ import annotations

import asyncio
import json
import logging
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass

from agentscope_tui.models import failures
from agentscope_tui.models.chat import ModelError
from agentscope_tui.models.endpoint import Endpoint
from agentscope_tui.models.sse import EventTooLong, ServerSentEvent, SSEDecoder

log = logging.getLogger(__name__)

_FIRST_TOKEN = ("first token", "model.timeouts.first_token")
_BETWEEN_TOKENS = ("next token", "model.timeouts.between_tokens")
"""What is waited for, and the setting that says how long."""
_KEPT_START = 2000
"""Bytes of an answer's start that are kept, to show what it is if it is no stream."""
_ERROR_BODY = 64 * 1024
_TO_EXPLAIN = 5.0
"""Seconds that a server has to send the body of an error."""
_TO_FINISH = 0.5
"""Seconds that a response has to end after its last event, so that its connection can be used again."""


@dataclass(frozen=True)
class Head:
    """How a response begins; names of headers are in lower case."""

    status: int
    headers: Mapping[str, str]


Item = Head | bytes | Exception | None
"""What comes of a request: the head, then chunks, then None; or the exception that ended it."""


class EventStream:
    """The events of one response, each within its limit of time."""

    def __init__(self, endpoint: Endpoint, items: asyncio.Queue[Item], model: str) -> None:
        self._endpoint = endpoint
        self._items = items
        self._model = model
        self._decoder = SSEDecoder()
        self._ready: deque[ServerSentEvent] = deque()
        self._start = bytearray()
        self._events = 0
        self._ended = False
        self._tokens = False
        self._set_limit(endpoint.timeouts.first_token)

    def token_seen(self) -> None:
        """From now on the limit between tokens holds, not the one until the first."""
        self._tokens = True

    async def open(self) -> None:
        """Wait for the head of the response.

        Raises:
            ModelError: there is none, or it is a redirect or an error.
        """
        head = await self._take()
        assert isinstance(head, Head)
        if 300 <= head.status < 400:
            raise failures.redirect_failure(self._endpoint, head.status, head.headers.get("location", ""))
        if head.status >= 400:
            raise failures.status_failure(
                self._endpoint,
                head.status,
                await self._error_body(),
                model=self._model,
                headers=head.headers,
            )

    def __aiter__(self) -> EventStream:
        return self

    async def __anext__(self) -> ServerSentEvent:
        if self._tokens:
            self._set_limit(self._endpoint.timeouts.between_tokens)
        while not self._ready and not self._ended:
            self._feed(await self._take_chunk())
        if self._ready:
            self._events += 1
            return self._ready.popleft()
        if not self._events:
            raise self._no_stream()
        raise StopAsyncIteration

    async def finish(self) -> None:
        """Let the response end after its last event, so that the next call can use its connection."""
        self._set_limit(_TO_FINISH)
        try:
            while not self._ended:
                self._ended = await self._take_chunk() is None
        except ModelError as error:
            # The answer is complete; all that is lost is the connection.
            log.debug("the response did not end after its last event: %s", error)

    def _set_limit(self, seconds: float) -> None:
        self._limit = seconds
        self._deadline = asyncio.get_running_loop().time() + seconds

    def _feed(self, chunk: bytes | None) -> None:
        if chunk is None:
            self._ended = True
            self._ready.extend(self._decoder.end())
            return
        self._start += chunk[: _KEPT_START - len(self._start)]
        try:
            self._ready.extend(self._decoder.feed(chunk))
        except EventTooLong as error:
            raise failures.malformed(self._endpoint, f"sent no usable stream ({error})", "") from error

    async def _take_chunk(self) -> bytes | None:
        chunk = await self._take()
        assert not isinstance(chunk, Head)
        return chunk

    async def _take(self) -> Head | bytes | None:
        try:
            async with asyncio.timeout_at(self._deadline):
                item = await self._items.get()
        except TimeoutError:
            wanted, setting = _BETWEEN_TOKENS if self._tokens else _FIRST_TOKEN
            raise failures.timed_out(self._endpoint, wanted, self._limit, setting) from None
        if isinstance(item, Exception):
            raise item
        return item

    async def _error_body(self) -> str:
        self._set_limit(_TO_EXPLAIN)
        body = bytearray()
        try:
            while len(body) < _ERROR_BODY and (chunk := await self._take_chunk()) is not None:
                body += chunk
        except ModelError as error:
            # The status is the error that matters; the body only explains it.
            log.debug("the body of an error did not come whole: %s", error)
        return body.decode("utf-8", "replace")

    def _no_stream(self) -> ModelError:
        start = self._start.decode("utf-8", "replace")
        try:
            value = json.loads(start)
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, dict) and value.get("error"):
            return failures.stream_failure(self._endpoint, value["error"], model=self._model)
        what = "answered without a stream" if start.strip() else "answered with nothing"
        return failures.malformed(self._endpoint, what, start)
