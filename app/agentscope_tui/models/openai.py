"""OpenAI's Chat Completions, streamed: what most servers speak."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Literal

from agentscope_tui.models import failures
from agentscope_tui.models.chat import ChatRequest, Completion, Delta, ModelError
from agentscope_tui.models.chunks import ChunkReader
from agentscope_tui.models.endpoint import Endpoint
from agentscope_tui.models.estimate import estimate_usage
from agentscope_tui.models.event_stream import EventStream
from agentscope_tui.models.http import HttpClient

TokenField = Literal["max_tokens", "max_completion_tokens"]

_DONE = "[DONE]"


class OpenAIModel:
    """A model behind an OpenAI-compatible server."""

    def __init__(self, model: str, endpoint: Endpoint, *, token_field: TokenField = "max_tokens") -> None:
        """`model` is the provider's name for it; `token_field` is how the server calls the output limit.

        Raises:
            UserError: the URL, or a proxy or certificates that the environment names, cannot be used.
        """
        self._model = model
        self._endpoint = endpoint
        self._token_field = token_field
        self._ask_usage = True
        self._http = HttpClient(endpoint, model=model)
        key = endpoint.key
        self._headers = {"authorization": f"Bearer {key.value}"} if key else {}

    @property
    def name(self) -> str:
        return f"openai:{self._model}"

    async def complete(self, request: ChatRequest, on_delta: Callable[[Delta], None]) -> Completion:
        try:
            return await self._attempt(request, on_delta)
        except ModelError as error:
            if not (self._ask_usage and error.kind == "bad_request" and _names_usage(error)):
                raise
        self._ask_usage = False
        return await self._attempt(request, on_delta)

    async def aclose(self) -> None:
        await self._http.aclose()

    async def _attempt(self, request: ChatRequest, on_delta: Callable[[Delta], None]) -> Completion:
        reader = ChunkReader()
        async with self._http.post(self._headers, self._body(request)) as stream:
            try:
                await self._read(stream, reader, on_delta)
            except ModelError as error:
                error.usage = reader.usage
                raise
            await stream.finish()
        completion = reader.completion()
        if reader.usage is None:
            usage = estimate_usage(request, completion, partial=True)
            completion = completion.model_copy(update={"usage": usage})
        return completion

    def _body(self, request: ChatRequest) -> dict[str, Any]:
        body: dict[str, Any] = {
            **request.params,
            "model": self._model,
            "messages": request.messages,
            self._token_field: request.max_output_tokens,
            "stream": True,
        }
        if self._ask_usage:
            body["stream_options"] = {"include_usage": True}
        if request.tools:
            body["tools"] = request.tools
        if request.temperature is not None:
            body["temperature"] = request.temperature
        return body

    async def _read(
        self, stream: EventStream, reader: ChunkReader, on_delta: Callable[[Delta], None]
    ) -> None:
        async for event in stream:
            if event.data == _DONE:
                break
            delta = reader.add(self._chunk(event.data))
            if delta is not None:
                stream.token_seen()
                on_delta(delta)
        else:
            if reader.finish_reason is None:
                raise failures.cut_short(self._endpoint, "no finish reason came")
        if not reader.began:
            raise failures.malformed(self._endpoint, "sent a stream without an answer", "")

    def _chunk(self, data: str) -> dict[str, Any]:
        try:
            chunk = json.loads(data)
        except (ValueError, RecursionError):
            chunk = None
        if not isinstance(chunk, dict):
            raise failures.malformed(self._endpoint, "sent an event that is no JSON object", data)
        if chunk.get("error"):
            raise failures.stream_failure(self._endpoint, chunk["error"], model=self._model)
        return chunk


def _names_usage(error: ModelError) -> bool:
    return any(name in error.detail for name in ("stream_options", "include_usage"))
