"""The model that the agent itself asks for, call by call: `agent`, or `PROVIDER:*` at one provider."""

from __future__ import annotations

from collections.abc import Callable

from agentscope_tui.errors import UserError
from agentscope_tui.models.chat import ChatRequest, Completion, Delta, Model, ModelError, RetryNotice
from agentscope_tui.models.wire_log import WireLog

AGENT = "agent"
"""The name for: the model that is asked for, at the provider whose API the agent speaks."""


def follows_agent(name: str) -> bool:
    """Whether this name of a model leaves the choice to the agent."""
    return name == AGENT or name.endswith(":*")


def answering(name: str, request: ChatRequest) -> str:
    """The full name of the model that answers this request where the user named `name`."""
    if not follows_agent(name):
        return name
    provider = request.api if name == AGENT else name.removesuffix(":*")
    return f"{provider}:{request.asked_model}"


class AskedModel:
    """Sends each call to the model that its request names. One instance serves one session."""

    def __init__(self, name: str, open_model: Callable[[str], Model]) -> None:
        """`name` is one that `follows_agent`; `open_model` gives the model of a full name, and raises
        UserError where there is none."""
        self._name = name
        self._open = open_model
        self._models: dict[str, Model] = {}

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
        model = self._model_of(request)
        return await model.complete(request, on_delta, on_retry=on_retry, wire=wire)

    async def aclose(self) -> None:
        for model in self._models.values():
            await model.aclose()

    def _model_of(self, request: ChatRequest) -> Model:
        if not request.asked_model:
            raise ModelError("the agent names no model: choose one with --model", kind="unknown_model")
        name = answering(self._name, request)
        if name not in self._models:
            try:
                self._models[name] = self._open(name)
            except UserError as error:
                raise ModelError(str(error), kind="unknown_model") from error
        return self._models[name]
