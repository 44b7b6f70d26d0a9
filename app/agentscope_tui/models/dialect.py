"""What a wire adapter is: how one API writes a request, and how it tells the completion."""

from __future__ import annotations

from typing import Any, Protocol

from agentscope_tui.models.chat import ChatRequest, Completion, Delta, Usage
from agentscope_tui.models.sse import ServerSentEvent


class NotTheApi(ValueError):
    """The stream is not what the API defines: `what` it sent instead, and `seen`, the start of it."""

    def __init__(self, what: str, seen: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.seen = seen


class StreamedError(ValueError):
    """An error object, in the provider's own words, within a stream that had begun well."""

    def __init__(self, error: object) -> None:
        super().__init__(str(error))
        self.error = error


class Reader(Protocol):
    """The state of one streamed completion."""

    done: bool
    """The event that ends the stream has come: nothing follows that matters."""
    finish_reason: str | None
    """None as long as the provider gave none: the answer is not whole."""
    began: bool
    """Whether anything of an answer has come."""
    usage: Usage | None
    """As the provider last told it; None: not yet, or never."""

    def add(self, event: ServerSentEvent) -> Delta | None:
        """Take one event; the delta, if it adds to the completion.

        Raises:
            NotTheApi: the event is not what the API defines.
            StreamedError: it is the provider's error.
        """

    def completion(self) -> Completion:
        """What has been streamed. Its usage is zero where the provider told none."""


class Dialect(Protocol):
    """One API. It may learn from a refusal, so one instance serves one model."""

    def body(self, request: ChatRequest) -> dict[str, Any]:
        """The request as the API takes it, with streaming asked for."""

    def reader(self) -> Reader:
        """A reader for the answer to one request."""

    def adapt(self, refusal: str) -> bool:
        """Give up what a refused request (in the provider's words) should not have had; whether to resend."""
