"""`agentscope serve`: listens, says the address once, and ends all apps when it is stopped."""

from __future__ import annotations

import asyncio
import signal
import socket
import sys
from collections.abc import Mapping, Sequence

from agentscope_tui.config import Config
from agentscope_tui.errors import UsageError, UserError
from agentscope_tui.options import PAGE_COMMAND, Options
from agentscope_tui.secrets import MASKER
from agentscope_tui.serve.door import Door, check_host
from agentscope_tui.session.launch import open_rows
from agentscope_tui.settings import ServeSettings
from agentscope_tui.wire.sockets import Address


def serve(config: Config, options: Options, words: Sequence[str]) -> int:
    """Serve the app until ctrl+c; `words` are the app's own part of the command line.

    Raises:
        UserError: no app could open with these words, the address cannot be had, or a package is missing.
    """
    settings = config.settings.serve
    check_host(settings.host, remote=settings.remote)
    if str(options.dataset) == "-":
        raise UsageError(
            "rows from standard input cannot be served: each page reads the rows anew, from a file"
        )
    _check_rows(config, options)
    asyncio.run(_serve(settings, words, config.environ))
    return 0


def _check_rows(config: Config, options: Options) -> None:
    """Find out here, and not on each page, what no app could do without."""
    _, dataset = open_rows(config, options)
    dataset.close()


async def _serve(settings: ServeSettings, words: Sequence[str], environ: Mapping[str, str]) -> None:
    try:
        from agentscope_tui.serve.server import PageServer
    except ModuleNotFoundError as error:
        raise UserError(
            f"serve needs the package {error.name}: pip install 'agentscope-tui[serve]'"
        ) from None
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    bound = _listen(settings.host, settings.port)
    door = Door(settings.host, settings.remote)
    MASKER.learn([door.token])

    def command(width: int, height: int) -> list[str]:
        # -P: no module of the folder that agentscope works in takes the place of one of ours.
        return [sys.executable, "-P", "-m", "agentscope_tui", PAGE_COMMAND, f"{width}x{height}", *words]

    server = PageServer(
        command, door, tabs=settings.tabs, environ=_page_environment(environ), title="agentscope"
    )
    try:
        await server.start(bound)
        print(f"agentscope is at {_address(door, bound)}")
        print("Whoever has this address has a shell as you. ctrl+c ends it, with all sessions.", flush=True)
        await stop.wait()
    finally:
        await server.aclose()


def _listen(host: str, port: int) -> socket.socket:
    try:
        family, kind, _, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        bound = socket.socket(family, kind)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(place)
    except OSError as error:
        raise UserError(
            f"cannot listen at {Address(host, port)} ({error.strerror}): name another --port, 0 for any"
        ) from error
    return bound


def _address(door: Door, bound: socket.socket) -> str:
    everywhere = door.host in ("0.0.0.0", "::")
    place = Address(socket.gethostname() if everywhere else door.host, bound.getsockname()[1])
    return f"http://{place}/{door.token}/"


def _page_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """What apps see: the page's terminal in place of the one that the server was started in."""
    own = ("TERM", "COLORTERM", "COLUMNS", "LINES", "TMUX", "STY", "KITTY_WINDOW_ID", "VTE_VERSION")
    kept = {name: value for name, value in environ.items() if name not in own}
    return {**kept, "TERM": "xterm-256color", "COLORTERM": "truecolor", "TERM_PROGRAM": "textual"}
