"""From a runner's request to what the model is sent: with earlier messages, injected steers, what a fork
amends, and the right parameters."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from agentscope_tui.models.asked import follows_agent
from agentscope_tui.models.chat import Model
from agentscope_tui.runners.profile import Profile
from agentscope_tui.session.amending import Amendments
from agentscope_tui.session.body import ReadRequest, read_body
from agentscope_tui.session.earlier import EarlierMessages
from agentscope_tui.session.injecting import Injections
from agentscope_tui.session.settings import ModelSettings
from agentscope_tui.wire.frames import LlmRequest


class RequestReader:
    """Reads the requests of one session, in their order."""

    def __init__(
        self, earlier: EarlierMessages, profile: Callable[[], Profile], amendments: Amendments
    ) -> None:
        self._earlier = earlier
        self._profile = profile
        self._amendments = amendments
        self._injections = Injections()
        self._notes = earlier.notes

    def read(
        self, frame: LlmRequest, steers: Sequence[str], settings: ModelSettings, model: Model | None
    ) -> ReadRequest:
        """What a frame comes to for this model, with these steers in it.

        Raises:
            BodyError: no model can read it.
        """
        own = self._profile().params == "own"
        asked = read_body(frame, settings, own_params=own)
        messages = self._injections.apply(asked.request.messages, steers)
        overridden = dict(asked.overridden)
        name = asked.request.asked_model
        if own and name and model is not None and not _is_answered_by(model.name, name):
            overridden["model"] = name
        notes, self._notes = self._notes, []
        whole = self._amendments.put_into(self._earlier.put_into(messages))
        return ReadRequest(
            request=asked.request.model_copy(update={"messages": whole}),
            repairs=[*notes, *asked.repairs],
            overridden=overridden,
        )


def _is_answered_by(model: str, asked: str) -> bool:
    """Whether a model of this name is the one that the agent asks for."""
    return follows_agent(model) or asked in (model, model.partition(":")[2])
