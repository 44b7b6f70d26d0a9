"""HTTP: a posted request becomes a stream of server-sent events that can be cancelled at any moment.

Cancelling a task twice inside httpx leaks its connection, and the server goes on generating. So one pump
task owns each response and is cancelled exactly once, whatever happens to the reader; the reader takes
chunks from the pump's bounded queue.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from typing import Any, cast

import httpx

from agentscope_tui.errors import UserError
from agentscope_tui.models import failures
from agentscope_tui.models.client_pool import new_client, shared_client
from agentscope_tui.models.endpoint import Endpoint
from agentscope_tui.models.event_stream import EventStream, Head, Item
from agentscope_tui.models.wire_log import WireLog

# It logs whole URLs, and the query of one may hold a key.
logging.getLogger("httpx").setLevel(logging.WARNING)

_QUEUE = 64
"""Chunks that wait for the reader before the pump stops reading."""
_LARGEST_LIST = 16 * 1024 * 1024
"""Bytes of a list of models."""
_TO_CLOSE = 2.0
"""Seconds to wait until a cancelled response has closed its connection."""


class HttpClient:
    """The calls of one model to its endpoint, through connections that may be shared."""

    def __init__(self, endpoint: Endpoint, *, model: str) -> None:
        """`model` is the name that the error about an unknown model shows.

        Raises:
            UserError: the URL, or a proxy or certificates that the environment names, cannot be used.
        """
        self._model = model
        try:
            self._url = httpx.URL(endpoint.url)
        except httpx.InvalidURL as error:
            raise UserError(f"the base URL cannot be used ({error}): correct --base-url") from error
        try:
            self._shared = shared_client(endpoint.timeouts.connect)
        except (ImportError, ValueError, OSError, httpx.InvalidURL) as error:
            raise UserError(
                f"the environment's proxy or certificates cannot be used ({error}): "
                "correct HTTP_PROXY, HTTPS_PROXY, ALL_PROXY or SSL_CERT_FILE"
            ) from error
        self._pumps: set[_Pump] = set()
        self._closed = False

    @asynccontextmanager
    async def post(
        self, endpoint: Endpoint, body: Mapping[str, Any], wire: WireLog | None = None
    ) -> AsyncIterator[EventStream]:
        """Post JSON and read the events of the answer. Leaving the block closes the connection, unless
        the response had ended. `endpoint` is the client's own, perhaps with another key.

        Raises:
            ModelError: no connection, an error status, a redirect; later, from the stream: a time limit,
                a lost connection, an answer that is no event stream.
        """
        request = self._shared.client.build_request(
            "POST",
            self._url,
            content=json.dumps(body, ensure_ascii=False).encode("utf-8", "replace"),
            headers={"content-type": "application/json", **endpoint.headers},
        )
        pump = _Pump(self._shared.client, request, endpoint, wire)
        self._pumps.add(pump)
        pump.task.add_done_callback(lambda task: self._pumps.discard(pump))
        try:
            stream = EventStream(endpoint, pump.items, self._model)
            await stream.open()
            yield stream
        finally:
            await pump.close()

    async def aclose(self) -> None:
        """Cut every response that still runs, and leave the connections to others that use them."""
        for pump in list(self._pumps):
            await pump.close()
        if not self._closed:
            self._closed = True
            await self._shared.leave()


class _Pump:
    """The task that owns one request and its response, from the connection to its close."""

    def __init__(
        self,
        client: httpx.AsyncClient,
        request: httpx.Request,
        endpoint: Endpoint,
        wire: WireLog | None,
    ) -> None:
        self.items: asyncio.Queue[Item] = asyncio.Queue(_QUEUE)
        self._client = client
        self._request = request
        self._endpoint = endpoint
        self._wire = wire
        self._connected = False
        request.extensions = {**request.extensions, "trace": self._trace}
        self.task = asyncio.create_task(self._run(), name="model response")
        self._cancelled = False

    async def close(self) -> None:
        """Cancel the task if it still runs, and wait until the connection is closed. A caller that is
        cancelled while it waits cancels nothing more."""
        if not self._cancelled:
            self._cancelled = True
            self.task.cancel()
        await asyncio.wait([self.task], timeout=_TO_CLOSE)

    async def _run(self) -> None:
        end: Exception | None = None
        how = "cut off by agentscope"
        try:
            response = await self._send()
            try:
                await self._read(response)
            finally:
                await response.aclose()
            how = "the body ended"
        except Exception as error:
            end = _failure(self._endpoint, error)
            how = str(end)
        finally:
            if self._wire is not None:
                self._wire.end(how)
        await self.items.put(end)

    async def _send(self) -> httpx.Response:
        try:
            return await self._send_once()
        except (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError):
            # Only an old connection, which the server had closed meanwhile, is worth a second one in silence.
            if self._connected:
                raise
        return await self._send_once()

    async def _send_once(self) -> httpx.Response:
        if self._wire is not None:
            request = self._request
            body = request.content.decode("utf-8", "replace")
            self._wire.request(
                request.method, self._endpoint.logged, request.headers.items(), body, self._endpoint.secrets
            )
        return await self._client.send(self._request, stream=True)

    async def _read(self, response: httpx.Response) -> None:
        if self._wire is not None:
            self._wire.response(response.status_code, response.headers.items())
        await self.items.put(Head(response.status_code, response.headers))
        stream = cast(AsyncGenerator[bytes], response.aiter_bytes())
        async with aclosing(stream) as chunks:
            async for chunk in chunks:
                if self._wire is not None:
                    self._wire.chunk(chunk)
                await self.items.put(chunk)

    async def _trace(self, event: str, info: Mapping[str, Any]) -> None:
        """What httpx tells of a request's progress."""
        # Its prefix is `connection`, or the kind of a proxy.
        if event.endswith(".connect_tcp.started"):
            self._connected = True


async def get_json(endpoint: Endpoint, seconds: float) -> Any:
    """What a GET of the endpoint's list of models answers.

    Raises:
        ModelError: no connection, an error status, no JSON, or all of it took more than `seconds`.
    """
    try:
        async with (
            asyncio.timeout(seconds),
            new_client(seconds) as client,
            client.stream(
                "GET", endpoint.models_url, headers={"accept": "application/json", **endpoint.headers}
            ) as response,
        ):
            body = bytearray()
            async for chunk in response.aiter_bytes():
                body += chunk
                if len(body) > _LARGEST_LIST:
                    raise failures.malformed(endpoint, "listed more models than can be read", "")
    except TimeoutError:
        raise failures.unreachable(endpoint, f"no answer within {seconds:g} s", kind="timeout") from None
    except (httpx.HTTPError, httpx.InvalidURL, UnicodeError, OSError) as error:
        raise _failure(endpoint, error) from error
    text = body.decode("utf-8", "replace")
    if response.is_redirect:
        raise failures.redirect_failure(endpoint, response.status_code, response.headers.get("location", ""))
    if response.status_code >= 400:
        raise failures.status_failure(endpoint, response.status_code, text, model="")
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise failures.malformed(endpoint, "answered without JSON", text) from None


def _failure(endpoint: Endpoint, error: Exception) -> Exception:
    """What httpx raised, as the error that the user gets; anything else is a fault of ours and stays."""
    match error:
        case httpx.ConnectTimeout():
            reason = f"no connection within {endpoint.timeouts.connect:g} s"
            failure = failures.unreachable(endpoint, reason, kind="timeout")
        case httpx.PoolTimeout():
            failure = failures.unreachable(endpoint, "too many calls run at once")
        case httpx.ConnectError() | httpx.ProxyError():
            failure = failures.unreachable(endpoint, _reason(error))
        case UnicodeError():
            failure = failures.unreachable(endpoint, "not a host name")
        case httpx.DecodingError():
            failure = failures.malformed(endpoint, f"sent what cannot be decoded ({error})", "")
        case httpx.TransportError() | OSError():
            failure = failures.cut_short(endpoint, _reason(error))
        case _:
            return error
    failure.__cause__ = error
    return failure


def _reason(error: Exception) -> str:
    """The system's words for what happened, from wherever in the chain of causes they are."""
    reason = str(error) or type(error).__name__
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, BaseExceptionGroup):
            cause = cause.exceptions[0]
        if isinstance(cause, ConnectionError) and cause.errno:
            reason = os.strerror(cause.errno)
        elif isinstance(cause, OSError) and cause.strerror:
            reason = cause.strerror
        cause = cause.__cause__ or cause.__context__
    return reason
