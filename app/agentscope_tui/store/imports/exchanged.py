"""Files that tell each model call with its whole request: what of it is new was said since the last one."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agentscope_tui.models.chat import Message
from agentscope_tui.store.imports.building import EventBuilder
from agentscope_tui.store.imports.fields import Fields


@dataclass(frozen=True)
class Said:
    """A message of a request: `key` tells it from every other of the session, `sent` is as models get it."""

    key: Hashable
    value: object
    sent: Message


Tell = Callable[[EventBuilder, Fields, Message], None]
"""Tells a message that is new: a user's, a system message, or a tool's."""


@dataclass
class Exchanged:
    """The messages that were told already. `tell` is called for each that was not."""

    builder: EventBuilder
    tell: Tell
    _told: set[Hashable] = field(default_factory=set)

    def know(self, key: Hashable) -> None:
        """This message was told in another way: as an answer, or as the session's beginning."""
        self._told.add(key)

    def ask(
        self,
        request: Sequence[Said],
        model: str = "",
        *,
        tools: Sequence[str] = (),
        params: Mapping[str, Any] | None = None,
    ) -> None:
        """A model call begins, with this request."""
        for said in request:
            if said.key not in self._told:
                self._told.add(said.key)
                self._tell_new(said)
        self.builder.messages = [said.sent for said in request]
        self.builder.ask(model=model, tools=tools, params=params)

    def tell_late(self, said: Said) -> None:
        """A message that no request had."""
        if said.key not in self._told:
            self._told.add(said.key)
            self._tell_new(said)

    def _tell_new(self, said: Said) -> None:
        if said.sent["role"] == "assistant":
            self.builder.extra("an assistant message that no model call of the file made", said.value)
        else:
            self.tell(self.builder, Fields(said.value), said.sent)
