"""What went wrong at a provider, as one line that says what to do.

Takes a status, the provider's own error object or the body, and gives a `ModelError`. A key that a
provider repeats never gets into one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from agentscope_tui.models.chat import ModelError
from agentscope_tui.models.endpoint import WIRE_NAMES, Endpoint
from agentscope_tui.models.overflow import token_counts
from agentscope_tui.models.retry_hints import asked_wait, may_retry

ErrorKind = Literal[
    "authentication",
    "permission",
    "unknown_model",
    "not_found",
    "bad_request",
    "context_overflow",
    "rate_limit",
    "quota",
    "server",
    "timeout",
    "connection",
    "malformed",
]

_WORDS = 300
"""Characters of a provider's words that the one line takes; `detail` has the rest."""
_DETAIL = 4000

_NO_MODEL = re.compile(
    r"model\b.{0,200}\b(not exist|not found|not a valid|not supported)|(invalid|unknown) model"
    r"|not a valid model|model identifier is invalid|deployment\b.{0,60}\bnot exist|^model: ",
    re.IGNORECASE | re.DOTALL,
)
_BAD_KEY = re.compile(r"api key\b.{0,20}\bnot valid|(invalid|incorrect) api.?key", re.IGNORECASE)
_TOO_LONG = re.compile(
    r"context[ _](length|window|size|limit)|(prompt|input) is too long|maximum context"
    r"|too many (input )?tokens|(token count|input length).{0,200}\bexceed",
    re.IGNORECASE,
)
_CODES: dict[str, ErrorKind] = {
    "invalid_api_key": "authentication",
    "authentication_error": "authentication",
    "permission_error": "permission",
    "model_not_found": "unknown_model",
    "DeploymentNotFound": "unknown_model",
    "context_length_exceeded": "context_overflow",
    "exceed_context_size_error": "context_overflow",
    "insufficient_quota": "quota",
    "billing_hard_limit_reached": "quota",
    "billing_error": "quota",
    "rate_limit_exceeded": "rate_limit",
    "rate_limit_error": "rate_limit",
    "overloaded_error": "server",
    "api_error": "server",
    "timeout_error": "timeout",
    "request_too_large": "bad_request",
    "invalid_request_error": "bad_request",
}
"""What `code` or `type` of an error object says for sure; the more telling come first in `_kind`."""
_STATUSES: dict[int, ErrorKind] = {
    401: "authentication",
    402: "quota",
    403: "permission",
    404: "not_found",
    408: "timeout",
    429: "rate_limit",
}


@dataclass(frozen=True)
class Complaint:
    """What a provider says is wrong: its words, its codes, and its token counts where it gives them."""

    words: str
    codes: tuple[str, ...] = ()
    prompt_tokens: int | None = None
    context_tokens: int | None = None


def read_complaint(body: str) -> Complaint:
    """The complaint in a body: an error object in one of the usual shapes, else the start of the text."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return Complaint(one_line(body))
    if isinstance(value, list) and value:
        value = value[0]
    if isinstance(value, dict):
        return _complaint_of(value.get("error") or value)
    return Complaint(one_line(body))


def _complaint_of(error: object) -> Complaint:
    if not isinstance(error, dict):
        return Complaint(one_line(str(error)))
    words = error.get("message") or error.get("detail") or error
    text = words if isinstance(words, str) else json.dumps(words, ensure_ascii=False)
    codes = tuple(str(error[name]) for name in ("code", "type", "status") if error.get(name) is not None)
    prompt, context = _count(error.get("n_prompt_tokens")), _count(error.get("n_ctx"))
    if prompt is None or context is None:
        prompt, context = token_counts(text)
    return Complaint(one_line(text), codes, prompt, context)


def status_failure(
    endpoint: Endpoint, status: int, body: str, *, model: str, headers: Mapping[str, str] | None = None
) -> ModelError:
    """The error for an answer with an HTTP status of 400 and more; names of `headers` are in lower case."""
    body = endpoint.mask(body)
    complaint = read_complaint(body)
    kind = _kind(status, complaint)
    wait = asked_wait(headers or {})
    message = _message(kind, endpoint, complaint, model, f" ({status})", wait)
    error = _error(endpoint, kind, message, body)
    error.retryable = kind != "quota" and may_retry(status, headers or {})
    error.retry_after = wait
    return error


def stream_failure(endpoint: Endpoint, error: object, *, model: str) -> ModelError:
    """The error for an `error` object inside a stream that had begun with status 200."""
    body = endpoint.mask(json.dumps({"error": error}, ensure_ascii=False))
    complaint = read_complaint(body)
    status = next((int(code) for code in complaint.codes if re.fullmatch(r"[45]\d\d", code)), 500)
    kind = _kind(status, complaint)
    message = _message(kind, endpoint, complaint, model, ", within the answer", None)
    failure = _error(endpoint, kind, message, body)
    failure.retryable = kind in ("server", "rate_limit", "timeout")
    return failure


def redirect_failure(endpoint: Endpoint, status: int, target: str) -> ModelError:
    """The error for a redirect: it is not followed, because the request carries a key."""
    where = one_line(endpoint.mask(target)) or "nowhere"
    message = f"{endpoint.shown} sends the request on to {where} ({status}): give that as --base-url"
    return _error(endpoint, "not_found", message, "")


def malformed(endpoint: Endpoint, what: str, seen: str) -> ModelError:
    """The error for an answer that is not what the API defines; `seen` is its start."""
    start = one_line(endpoint.mask(seen), 120)
    shown = f" It begins: {start}" if start else ""
    message = f"{endpoint.shown} {what}: check that --base-url is {WIRE_NAMES[endpoint.wire]}.{shown}"
    return _error(endpoint, "malformed", message, seen)


def cut_short(endpoint: Endpoint, reason: str) -> ModelError:
    """The error for a connection that ended before the answer did."""
    message = f"the connection to {endpoint.host} ended before the answer did ({one_line(reason)}): try again"
    return _error(endpoint, "connection", message, reason, retryable=True)


def unreachable(endpoint: Endpoint, reason: str, *, kind: ErrorKind = "connection") -> ModelError:
    """The error for a server that no connection was made to."""
    message = (
        f"no server answers at {endpoint.shown} ({one_line(reason)}): "
        "check that it is running, and --base-url and the network"
    )
    return _error(endpoint, kind, message, reason, retryable=True)


def timed_out(endpoint: Endpoint, waiting_for: str, seconds: float, setting: str) -> ModelError:
    """The error for a server that was silent too long; `setting` is the one that allows more."""
    message = f"{endpoint.host} gave no {waiting_for} within {seconds:g} s: try again, or raise {setting}"
    return _error(endpoint, "timeout", message, "")


def one_line(text: str, limit: int = _WORDS) -> str:
    """The text on one line, cut to a number of characters."""
    flat = " ".join(text[: limit * 4].split())
    return flat if len(flat) <= limit else f"{flat[: limit - 1]}…"


def _kind(status: int, complaint: Complaint) -> ErrorKind:
    known = [_CODES[code] for code in complaint.codes if code in _CODES]
    telling = [kind for kind in known if kind != "bad_request"]
    if telling:
        return telling[0]
    if status in (400, 404, 422) and _NO_MODEL.search(complaint.words):
        return "unknown_model"
    if status == 400 and _BAD_KEY.search(complaint.words):
        return "authentication"
    if status in (400, 413, 422) and _TOO_LONG.search(complaint.words):
        return "context_overflow"
    if status in _STATUSES:
        return _STATUSES[status]
    return "server" if status >= 500 and not known else "bad_request"


def _message(
    kind: ErrorKind,
    endpoint: Endpoint,
    complaint: Complaint,
    model: str,
    status: str,
    wait: float | None,
) -> str:
    host = endpoint.host
    says = f": {complaint.words}" if complaint.words else ""
    match kind:
        case "authentication":
            return f"{_key_refused(endpoint, status)}{says}"
        case "permission":
            key = f"the key from {endpoint.key.source}" if endpoint.key else "a call without a key"
            return f"{host} does not allow this to {key}{status}{says}"
        case "unknown_model":
            return f"{host} has no model {model!r}{status}: check --model{says}"
        case "not_found":
            return f"there is no chat API at {endpoint.shown}{status}: check --base-url{says}"
        case "context_overflow":
            counts = _counts(complaint)
            cure = "take a model with a larger context, or start a shorter conversation"
            return f"the conversation is longer than the model's context{counts}{status}: {cure}{says}"
        case "rate_limit":
            later = "in a moment" if wait is None else f"in {wait:.0f} s"
            return f"{host} gets too many requests{status}: try again {later}{says}"
        case "quota":
            return f"the account at {host} has no quota left{status}: check its plan and billing{says}"
        case "timeout":
            return f"{host} gave up waiting{status}: try again{says}"
        case "bad_request":
            return f"{host} refused the request{status}{says}"
        case "server" | "connection" | "malformed":
            return f"{host} failed{status}: try again{says}"


def _key_refused(endpoint: Endpoint, status: str) -> str:
    if endpoint.key is None:
        source = endpoint.key_source or "the key's variable"
        return f"{endpoint.host} wants a key{status}: set {source}"
    source = endpoint.key.source
    return f"{endpoint.host} refused the key from {source}{status}: put a valid key there"


def _counts(complaint: Complaint) -> str:
    if complaint.context_tokens is None:
        return ""
    used = "" if complaint.prompt_tokens is None else f"{complaint.prompt_tokens} of "
    return f" ({used}at most {complaint.context_tokens} tokens)"


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _error(
    endpoint: Endpoint, kind: ErrorKind, message: str, detail: str, *, retryable: bool = False
) -> ModelError:
    return ModelError(
        endpoint.mask(message), kind=kind, detail=endpoint.mask(detail)[:_DETAIL], retryable=retryable
    )
