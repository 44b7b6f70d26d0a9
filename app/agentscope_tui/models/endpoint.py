"""Where a provider is and how it is reached: its URL, the key for it, and how long to wait."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import SplitResult, parse_qsl, urlsplit, urlunsplit

from agentscope_tui.errors import UserError
from agentscope_tui.secrets import MASK, MASKER, SHORTEST

Wire = Literal["openai", "anthropic"]
"""What a server speaks: Chat Completions or Messages."""
KeyHeader = Literal["bearer", "x-api-key", "api-key"]
"""The header that carries the key; `bearer` is `authorization: Bearer KEY`."""

WIRE_NAMES: dict[Wire, str] = {
    "openai": "an OpenAI-compatible API",
    "anthropic": "an Anthropic Messages API",
}
_PATHS: dict[Wire, str] = {"openai": "/chat/completions", "anthropic": "/messages"}
_VERSION = re.compile(r"/(v\d+\w*|deployments)(/|$)")
_DEPLOYMENT = re.compile(r"/deployments/[^/]+$")
_SECRET_QUERY = re.compile(r"key|token|secret|sig|password|code", re.IGNORECASE)


@dataclass(frozen=True)
class Timeouts:
    """Seconds to wait; there is no limit on a call as a whole."""

    connect: float = 10.0
    first_token: float = 300.0
    """From the start of the call, so a server that loads or reads a long prompt has this long."""
    between_tokens: float = 60.0


@dataclass(frozen=True)
class ApiKey:
    """A key and where it came from: a variable's name or a file. Only the source is ever shown."""

    value: str = field(repr=False)
    source: str


@dataclass(frozen=True)
class Endpoint:
    """One URL that requests are posted to."""

    url: str = field(repr=False)
    """As requests use it; it may hold a password or a key in its query."""
    key: ApiKey | None = None
    key_source: str = ""
    """Where a key would come from, for the error that asks for one."""
    timeouts: Timeouts = Timeouts()
    wire: Wire = "openai"
    key_header: KeyHeader = "bearer"

    @property
    def shown(self) -> str:
        """The URL without user, password and query."""
        parts = urlsplit(self.url)
        return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))

    @property
    def host(self) -> str:
        """Host and port."""
        return urlsplit(self.url).netloc.rpartition("@")[2]

    @property
    def models_url(self) -> str:
        """Where the server lists its models."""
        parts = urlsplit(self.url)
        path = _DEPLOYMENT.sub("", parts.path.removesuffix(_PATHS[self.wire])) + "/models"
        return urlunsplit((parts.scheme, parts.netloc, path, parts.query, ""))

    @property
    def headers(self) -> dict[str, str]:
        """The headers that every request needs: the key, and the version of the API."""
        headers = {"anthropic-version": "2023-06-01"} if self.wire == "anthropic" else {}
        if self.key is not None:
            bearer = self.key_header == "bearer"
            name = "authorization" if bearer else self.key_header
            headers[name] = f"Bearer {self.key.value}" if bearer else self.key.value
        return headers

    @property
    def logged(self) -> str:
        """The URL with its query, in which keys are masked."""
        pairs = parse_qsl(urlsplit(self.url).query, keep_blank_values=True)
        query = [f"{name}={MASK if _SECRET_QUERY.search(name) else value}" for name, value in pairs]
        return f"{self.shown}?{'&'.join(query)}" if query else self.shown

    @property
    def secrets(self) -> list[str]:
        """What must not be shown of a request: the key, a password and keys in the URL."""
        parts = urlsplit(self.url)
        query = [value for name, value in parse_qsl(parts.query) if _SECRET_QUERY.search(name)]
        texts = (self.key and self.key.value, parts.password, *query)
        return [text for text in texts if text and len(text) >= SHORTEST]

    def mask(self, text: str) -> str:
        """The text without secrets, wherever they stand."""
        return MASKER.also(self.secrets).mask(text)


def checked_key(value: str | None, source: str) -> ApiKey | None:
    """A key as it can be sent in a header; None where there is none. Space around it is dropped.

    Raises:
        UserError: it has characters that no key has; names the source only.
    """
    key = (value or "").strip()
    if not key:
        return None
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise UserError(f"the key from {source} has characters that no key has: copy it again")
    return ApiKey(key, source)


def api_url(base_url: str, wire: Wire = "openai") -> str:
    """Where requests are posted for a base URL: with or without `/v1`, a slash at the end or the whole
    path. A path that already names a version (or an Azure deployment) gets no `/v1`. The query is kept.

    Raises:
        UserError: not an http or https URL.
    """
    parts = _split(base_url.strip())
    path, last = parts.path.rstrip("/"), _PATHS[wire]
    if not path.endswith(last):
        path += last if _VERSION.search(path) else f"/v1{last}"
    return urlunsplit((parts.scheme, parts.netloc, path, parts.query, ""))


def _split(url: str) -> SplitResult:
    example = "write it like http://localhost:8080/v1"
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError as error:
        raise UserError(f"the base URL {url!r} is not a URL ({error}): {example}") from None
    if not usable or not url.isprintable() or " " in url:
        raise UserError(f"the base URL {url!r} is not an http or https URL: {example}")
    return parts
