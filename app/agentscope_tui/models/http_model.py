"""A model behind a server: one dialect over HTTP, with retries, a key that may expire, and usage told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from agentscope_tui.models import failures
from agentscope_tui.models.chat import ChatRequest, Completion, Delta, ModelError, RetryNotice, Usage
from agentscope_tui.models.dialect import Dialect, NotTheApi, Reader, StreamedError
from agentscope_tui.models.endpoint import Endpoint
from agentscope_tui.models.estimate import estimate_usage
from agentscope_tui.models.event_stream import EventStream
from agentscope_tui.models.http import HttpClient
from agentscope_tui.models.key_command import KeyCommand
from agentscope_tui.models.retries import DEFAULT_POLICY, RetryPolicy
from agentscope_tui.models.wire_log import WireLog

_ADAPTATIONS = 3
"""How often one call may be sent again without something that the server refused."""


class HttpModel:
    """A model behind a server."""

    def __init__(
        self,
        name: str,
        model: str,
        endpoint: Endpoint,
        dialect: Dialect,
        *,
        key_command: KeyCommand | None = None,
        retries: RetryPolicy = DEFAULT_POLICY,
        params: dict[str, Any] | None = None,
    ) -> None:
        """`name` is the user's, `model` the provider's. `params` go into each request, over the runner's own.

        Raises:
            UserError: the URL, or a proxy or certificates that the environment names, cannot be used.
        """
        self._name = name
        self._model = model
        self._endpoint = endpoint
        self._dialect = dialect
        self._key_command = key_command
        self._retries = retries
        self._params = params or {}
        self._http = HttpClient(endpoint, model=model)

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
        if self._params:
            request = request.model_copy(update={"params": {**request.params, **self._params}})
        adaptations, retry, old_key = 0, 0, self._key_command is not None
        while True:
            endpoint = await self._keyed_endpoint()
            attempt = _Attempt(endpoint, self._model, self._dialect.reader(), on_delta)
            try:
                return await self._send(request, attempt, wire)
            except ModelError as error:
                if attempt.began:
                    raise
                if error.kind == "bad_request" and adaptations < _ADAPTATIONS:
                    adaptations += 1
                    if self._dialect.adapt(error.detail):
                        continue
                if error.kind == "authentication" and old_key and self._key_command is not None:
                    old_key = False
                    self._key_command.forget(endpoint.key)
                    continue
                retry += 1
                await self._retries.pause(error, retry, on_retry)

    async def aclose(self) -> None:
        await self._http.aclose()

    async def _keyed_endpoint(self) -> Endpoint:
        if self._key_command is None:
            return self._endpoint
        return replace(self._endpoint, key=await self._key_command.key())

    async def _send(self, request: ChatRequest, attempt: _Attempt, wire: WireLog | None) -> Completion:
        reader = attempt.reader
        async with self._http.post(attempt.endpoint, self._dialect.body(request), wire) as stream:
            try:
                await attempt.read(stream)
            except ModelError as error:
                if reader.usage is not None:
                    error.usage = _partial(reader.usage)
                elif attempt.began:
                    error.usage = estimate_usage(request, reader.completion(), partial=True)
                raise
            await stream.finish()
        completion = reader.completion()
        if reader.usage is None:
            usage = estimate_usage(request, completion, partial=True)
            completion = completion.model_copy(update={"usage": usage})
        return completion


class _Attempt:
    """The answer to one sending of a call, while it is read."""

    def __init__(
        self, endpoint: Endpoint, model: str, reader: Reader, on_delta: Callable[[Delta], None]
    ) -> None:
        self.endpoint = endpoint
        self.reader = reader
        self.began = False
        """Whether a piece of the answer was given to `on_delta`: then the call is not sent again."""
        self._model = model
        self._on_delta = on_delta
        self._told: Usage | None = None

    async def read(self, stream: EventStream) -> None:
        """Read the stream to its end.

        Raises:
            ModelError: it is not whole, not the API's, or tells an error.
        """
        reader = self.reader
        try:
            async for event in stream:
                delta = reader.add(event)
                if delta is not None:
                    stream.token_seen()
                    self._tell(delta)
                if reader.done:
                    break
        except NotTheApi as error:
            raise failures.malformed(self.endpoint, error.what, error.seen) from error
        except StreamedError as error:
            raise failures.stream_failure(self.endpoint, error.error, model=self._model) from error
        if not reader.done and reader.finish_reason is None:
            raise failures.cut_short(self.endpoint, "no finish reason came")
        if not reader.began:
            raise failures.malformed(self.endpoint, "sent a stream without an answer", "")

    def _tell(self, delta: Delta) -> None:
        usage = self.reader.usage
        if usage is not None and usage != self._told:
            self._told = usage
            delta = delta.model_copy(update={"usage": _partial(usage)})
        self.began = True
        self._on_delta(delta)


def _partial(usage: Usage) -> Usage:
    return usage.model_copy(update={"partial": True})
