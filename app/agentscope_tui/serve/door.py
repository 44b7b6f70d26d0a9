"""Who may come in to the served app: whoever knows the token, from a page of its own address.

What is served is a shell. Any program and any page in a browser can send requests to a port of this machine,
so each request shows a token; and because a foreign name may be made to lead here, and a foreign page may
open a websocket, the Host and Origin headers are checked too.
"""

from __future__ import annotations

import ipaddress
import re
import secrets
import socket
from dataclasses import dataclass, field

from agentscope_tui.errors import UsageError
from agentscope_tui.wire.sockets import Address

_HOST = re.compile(r"(?:\[(?P<six>[0-9a-f:.]+)\]|(?P<name>[a-z0-9.-]+))(?::[0-9]{1,5})?", re.IGNORECASE)


@dataclass(frozen=True)
class Door:
    """The rules for one run of the server. `host` is the name or address that it listens at."""

    host: str
    remote: bool = False
    """Other machines may come in."""
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)

    def refusal(self, path: str, *, host: str, origin: str | None, websocket: bool) -> str:
        """Why a request is refused, or empty. `path` is without its query, the others are its headers."""
        if not self._knows_us(host):
            return "The Host header names another machine."
        if not secrets.compare_digest(_first(path), self.token.encode()):
            return "The address is not complete."
        if origin is None:
            return "A websocket needs the Origin header of its page." if websocket else ""
        return "" if origin.lower() == f"http://{host.lower()}" else "This page is of another address."

    def _knows_us(self, header: str) -> bool:
        """Whether a Host header means this machine. Its port counts not: a tunnel may have another."""
        found = _HOST.fullmatch(header)
        if found is None:
            return False
        name = (found["six"] or found["name"]).lower()
        if Address(name).is_local:
            return True
        return self.remote and (_is_number(name) or name in (self.host.lower(), socket.gethostname().lower()))


def check_host(host: str, *, remote: bool) -> None:
    """Refuse to listen where other machines can reach the app, unless that is wanted.

    Raises:
        UsageError: says what it would do, and how to do it anyway.
    """
    if not remote and not Address(host).is_local:
        raise UsageError(
            f"at {host} other machines can reach the app, and whoever has its address has a shell as you, "
            "without encryption: use 127.0.0.1 and an ssh tunnel (docs/serve.md), or add --remote"
        )


def _first(path: str) -> bytes:
    return path.removeprefix("/").partition("/")[0].encode("utf-8", "replace")


def _is_number(name: str) -> bool:
    """Whether it is an IP address: no foreign name can be made to look like one."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
