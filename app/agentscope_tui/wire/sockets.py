"""Channels over sockets: the host dials a runner, or runners dial in to a `Listener`.

An address is `HOST:PORT`, or the path of a unix socket: it has a `/`, or begins with `unix:`.
"""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import socket
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from agentscope_tui.errors import UsageError, UserError
from agentscope_tui.wire.channel import ChannelClosed
from agentscope_tui.wire.greeting import Token, greeting_of

_CHUNK = 64 << 10
_CONNECT_SECONDS = 10.0
_CLOSE_SECONDS = 1.0
_MOST_WAITING = 16
"""Runners that may have dialed in before a session takes them."""
_MOST_UNKNOWN = 64
"""Connections that may be open before their hello was read."""


class AddressError(UsageError):
    """An address that cannot be used; says what one looks like."""


@dataclass(frozen=True)
class Address:
    """A place to listen or to connect: `path` of a unix socket, else `host` and `port`."""

    host: str = ""
    port: int = 0
    path: Path | None = None

    def __str__(self) -> str:
        return str(self.path) if self.path is not None else f"{_bracketed(self.host)}:{self.port}"

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach it."""
        if self.path is not None or self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False


def parse_address(text: str, *, remote: bool = False) -> Address:
    """The address that a user wrote; `remote` allows what other machines can reach.

    Raises:
        AddressError: it is none, or it is not of this machine.
    """
    if text.startswith("unix:") or "/" in text:
        return Address(path=Path(text.removeprefix("unix:")).expanduser())
    host, colon, port = text.rpartition(":")
    if not colon or not host or not port.isascii() or not port.isdigit() or int(port) > 65_535:
        raise AddressError(f"{text!r} is no address: write HOST:PORT or the path of a unix socket")
    address = Address(host.removeprefix("[").removesuffix("]"), int(port))
    if not remote and not address.is_local:
        raise AddressError(
            f"{text} can be reached from other machines, and frames are not encrypted: use 127.0.0.1, "
            "a tunnel, or the setting runner.remote"
        )
    return address


@dataclass
class Connection:
    """A reader that pauses the peer while it is not read, a writer, and what was read already."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    received: bytes = b""


class SocketStream:
    """The bytes of one connection, which `open` makes. Use `dialed` or `Listener.next`."""

    def __init__(self, connect: Callable[[], Awaitable[Connection]]) -> None:
        self._connect = connect
        self._connection: Connection | None = None

    async def open(self) -> None:
        self._connection = await self._connect()

    async def read(self) -> bytes:
        if self._connection is None:
            return b""
        received, self._connection.received = self._connection.received, b""
        if received:
            return received
        try:
            return await self._connection.reader.read(_CHUNK)
        except ConnectionError:
            return b""

    async def write(self, data: bytes) -> None:
        if self._connection is None or self._connection.writer.is_closing():
            raise ChannelClosed
        try:
            self._connection.writer.write(data)
            await self._connection.writer.drain()
        except ConnectionError:
            raise ChannelClosed from None

    async def ending(self) -> str:
        return "the runner closed the connection"

    async def aclose(self) -> None:
        if self._connection is not None:
            await _close(self._connection)


def dialed(address: Address) -> SocketStream:
    """A connection that the host makes, to a runner that listens."""

    async def connect() -> Connection:
        try:
            async with asyncio.timeout(_CONNECT_SECONDS):
                if address.path is not None:
                    return Connection(*await asyncio.open_unix_connection(address.path, limit=_CHUNK))
                return Connection(*await asyncio.open_connection(address.host, address.port, limit=_CHUNK))
        except TimeoutError:
            reason = f"no answer within {_CONNECT_SECONDS:g} s"
        except OSError as error:
            reason = _reason(error)
        raise UserError(f"cannot connect to a runner at {address} ({reason}): start it there first")

    return SocketStream(connect)


class Listener:
    """Where runners dial in: each session takes one connection. Use `start`, then `aclose`."""

    def __init__(self, address: Address, token: Token | None = None) -> None:
        """With a token, only those count that greet with it. Whoever can reach a TCP port needs one."""
        self.address = address
        """Where it listens; with port 0, which port that is after `start`."""
        self._token = token
        self._turned_away = 0
        self._unknown: set[asyncio.Task[None]] = set()
        self._waiting: asyncio.Queue[Connection] = asyncio.Queue()
        self._server: asyncio.Server | None = None

    async def start(self) -> None:
        """Listen from now on.

        Raises:
            UserError: the address is taken, or is none of this machine.
        """
        try:
            if self.address.path is not None:
                bound = _bind_private(self.address.path)
                self._server = await asyncio.start_unix_server(self._arrived, sock=bound, limit=_CHUNK)
            else:
                host, port = self.address.host, self.address.port
                self._server = await asyncio.start_server(self._arrived, host, port, limit=_CHUNK)
                self.address = Address(host, self._server.sockets[0].getsockname()[1])
        except OSError as error:
            raise UserError(f"cannot listen at {self.address}: {_reason(error)}") from error

    def next(self, timeout: float) -> SocketStream:
        """The next connection that no session has: `open` waits for it, `timeout` seconds at most."""

        async def connect() -> Connection:
            try:
                async with asyncio.timeout(timeout):
                    return await self._take()
            except TimeoutError:
                raise UserError(
                    f"no runner dialed in at {self.address} within {timeout:g} s{self._strangers}: "
                    "start one, then run the row again"
                ) from None

        return SocketStream(connect)

    @property
    def _strangers(self) -> str:
        if self._token is None or not self._turned_away:
            return ""
        return f", and {self._turned_away} came without the token in {self._token.origin}"

    async def _take(self) -> Connection:
        while True:
            connection = await self._waiting.get()
            if not connection.reader.at_eof() and not connection.writer.is_closing():
                return connection
            await _close(connection)

    async def aclose(self) -> None:
        """Stop listening and send the waiting runners away."""
        if self._server is not None:
            self._server.close()
        for greeting in tuple(self._unknown):
            greeting.cancel()
        if self._unknown:
            await asyncio.wait(tuple(self._unknown))
        while not self._waiting.empty():
            await _close(self._waiting.get_nowait())
        if self._server is not None and self.address.path is not None:
            self.address.path.unlink(missing_ok=True)

    def _arrived(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = Connection(reader, writer)
        if self._token is None:
            self._let_wait(connection)
        elif len(self._unknown) < _MOST_UNKNOWN:
            greeting = asyncio.create_task(self._greet(connection, self._token), name="a runner's greeting")
            self._unknown.add(greeting)
            greeting.add_done_callback(self._unknown.discard)
        else:
            writer.transport.abort()

    async def _greet(self, connection: Connection, token: Token) -> None:
        try:
            greeting = await greeting_of(connection.reader, token)
        except asyncio.CancelledError:
            connection.writer.transport.abort()
            raise
        if greeting is None:
            self._turned_away += 1
            connection.writer.transport.abort()
        else:
            connection.received = greeting
            self._let_wait(connection)

    def _let_wait(self, connection: Connection) -> None:
        if self._waiting.qsize() < _MOST_WAITING:
            self._waiting.put_nowait(connection)
        else:
            connection.writer.close()


async def _close(connection: Connection) -> None:
    writer = connection.writer
    writer.close()
    # The peer may have reset the connection, or take nothing any more: closed is closed.
    with suppress(ConnectionError, TimeoutError):
        await asyncio.wait_for(writer.wait_closed(), _CLOSE_SECONDS)
    writer.transport.abort()


def _bind_private(path: Path) -> socket.socket:
    """A unix socket that only its owner can open: nobody can before it listens, and then it is private."""
    _remove_stale(path)
    bound = socket.socket(socket.AF_UNIX)
    try:
        bound.bind(str(path))
        path.chmod(0o600)
    except OSError:
        bound.close()
        raise
    return bound


def _remove_stale(path: Path) -> None:
    """Remove the socket of a process that was killed: it would keep the path taken."""
    if not path.exists():
        return
    if not path.is_socket():
        raise OSError(errno.EEXIST, "a file is there that is no socket")
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            path.unlink()
        else:
            raise OSError(errno.EADDRINUSE, "another process listens there")


def _reason(error: OSError) -> str:
    return error.strerror or str(error)


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
