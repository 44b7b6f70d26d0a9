"""The loopback endpoint under fire: whatever bytes come, no crash, no hang, and no 5xx."""

from __future__ import annotations

import asyncio
import json
import logging
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from agentscope_tui.models.chat import Completion
from agentscope_tui.runners.loopback import head_limit
from agentscope_tui.runners.loopback.server import LoopbackServer
from fakes.endpoint import FakeHost
from fakes.engine import DEADLINE, says

FUZZ = settings(
    max_examples=100,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
PATHS = ("/v1/chat/completions", "/v1/messages", "/v1/messages/count_tokens", "/v1/responses")
MEANT = (200, 400, 401, 403, 404, 408, 413, 431)

NAMES = (
    *("messages", "role", "content", "tool_calls", "tool_call_id", "function", "name", "arguments", "tools"),
    *("type", "text", "source", "data", "media_type", "input", "input_schema", "tool_choice", "stream", "n"),
    *("max_tokens", "system", "id", "call_id", "output", "encrypted_content", "summary", "format", "stop"),
    *("instructions", "reasoning", "effort", "stream_options", "include_usage", "model", "temperature"),
    *("is_error", "url", "image_url", "metadata", "modalities", "verbosity", "stop_sequences", "refusal"),
)
WORDS = (
    *("user", "assistant", "tool", "system", "function", "text", "image", "base64", "url", "tool_use"),
    *("tool_result", "message", "function_call", "function_call_output", "reasoning", "input_text", "auto"),
    *(
        "input_image",
        "output_text",
        "json_schema",
        "custom",
        "any",
        "file",
        "",
        "{",
        '"',
        "\ud800",
        "x" * 999,
    ),
)
scalars = st.none() | st.booleans() | st.integers(-3, 10**20) | st.floats(allow_nan=False)
values = st.recursive(
    scalars | st.sampled_from(WORDS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=5),
    max_leaves=25,
)
requests = st.dictionaries(st.sampled_from(NAMES), values, max_size=8)
turns = st.lists(st.dictionaries(st.sampled_from(("role", "content", "type", *NAMES)), values), max_size=4)


class Faults(logging.Handler):
    """What the server could only log: a defect."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.lines: list[str] = []
        self.setFormatter(logging.Formatter())

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))


class Fortress:
    """An endpoint in a thread of its own, as seen from a socket."""

    def __init__(self, host: FakeHost, faults: Faults) -> None:
        self.host = host
        self.faults = faults
        self.address = ("127.0.0.1", int(host.url.rpartition(":")[2]))

    def send(self, data: bytes, *, whole: bool = False) -> bytes:
        """What comes back. After what is no `whole` request the client closes its side."""
        with socket.create_connection(self.address, timeout=DEADLINE) as client:
            try:
                client.sendall(data)
                if not whole:
                    client.shutdown(socket.SHUT_WR)
            except OSError:  # refused before all was sent
                pass
            received = b""
            try:
                while piece := client.recv(65536):
                    received += piece
            except ConnectionResetError:
                pass
        return received

    def post(self, path: str, body: bytes, *headers: str) -> bytes:
        lines = [
            f"POST {path} HTTP/1.1",
            f"Host: 127.0.0.1:{self.address[1]}",
            f"Authorization: Bearer {self.host.token}",
            f"Content-Length: {len(body)}",
            "Connection: close",
            *headers,
        ]
        return self.send("\r\n".join([*lines, "", ""]).encode("latin-1") + body, whole=True)

    def answers(self) -> None:
        """It still serves, and nothing failed unseen."""
        body = json.dumps({"messages": [{"role": "user", "content": "still there?"}]}).encode()
        response = self.post(PATHS[0], body)
        assert status_of(response) == 200 or b"it failed" in response
        assert self.faults.lines == []


class Endless(list[Completion | str]):
    """Answers without end: texts, tool calls and errors."""

    def __init__(self) -> None:
        super().__init__()
        self.taken = 0

    def pop(self, index: Any = -1) -> Completion | str:
        self.taken += 1
        called = says("I see", ("look", "{}"), ("look", "{"))
        return (says("so it is"), called, "it failed")[0 if self.taken % 5 < 3 else self.taken % 5 - 2]


@contextmanager
def running_server() -> Iterator[FakeHost]:
    ready: Future[FakeHost] = Future()
    done: Future[None] = Future()

    async def serve() -> None:
        server, host = LoopbackServer(max_body=1 << 20, heartbeat=0.5, body_seconds=0.5), FakeHost()
        host.answers = Endless()
        await server.start()
        host.url, host.token = server.url, server.admit(host)
        ready.set_result(host)
        await asyncio.wrap_future(done)
        await server.aclose()

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    try:
        yield ready.result(DEADLINE)
    finally:
        done.set_result(None)
        thread.join()


@pytest.fixture(scope="module")
def served() -> Iterator[FakeHost]:
    with running_server() as host:
        yield host


@pytest.fixture
def fortress(served: FakeHost) -> Iterator[Fortress]:
    faults = Faults()
    logging.getLogger().addHandler(faults)
    yield Fortress(served, faults)
    logging.getLogger().removeHandler(faults)


def status_of(response: bytes) -> int:
    return int(response.split(b" ", 2)[1])


@FUZZ
@given(path=st.sampled_from(PATHS), body=requests, turns=turns, streams=st.booleans())
@example("/v1/messages", {"tool_choice": {"type": []}}, [], False)
@example("/v1/responses", {"input": [{"type": "reasoning", "encrypted_content": 1}]}, [], False)
@example("/v1/responses", {"input": [{"type": []}]}, [], True)
@example("/v1/chat/completions", {"model": "\ud800"}, [{"role": "user", "content": "\ud800"}], True)
def test_any_json_is_answered_or_refused(
    fortress: Fortress, path: str, body: dict[str, Any], turns: list[Any], streams: bool
) -> None:
    body = {**({"input" if "responses" in path else "messages": turns} if turns else {}), **body}
    if streams:
        body["stream"] = True
    response = fortress.post(path, json.dumps(body).encode())
    assert status_of(response) in MEANT, response
    assert fortress.faults.lines == []
    head, _, content = response.partition(b"\r\n\r\n")
    if b"text/event-stream" not in head and b"chunked" not in head:
        json.loads(content)


NAMED = (
    *("Host", "Origin", "Authorization", "x-api-key", "Content-Length", "Transfer-Encoding", "Content-Type"),
    *("Connection", "Upgrade", "Expect", "Cookie", "X-A"),
)
VALUES = (
    *("", "close", "chunked", "gzip", "websocket", "Upgrade", "100-continue", "-1", "99999999999", "0"),
    *("Bearer", "Bearer x", "null", "http://evil.example", "127.0.0.1", "é", "a" * 20_000),
)
headers = st.lists(st.tuples(st.sampled_from(NAMED), st.sampled_from(VALUES)), max_size=6)


@FUZZ
@given(
    method=st.sampled_from(("GET", "POST", "PUT", "OPTIONS", "HEAD", "CONNECT", "TRACE", "post", "X Y", "")),
    target=st.sampled_from(
        (*PATHS, "*", "//", "http://evil.example/v1/messages", "/%00", "/..", "/?a=%ff", "é")
    ),
    version=st.sampled_from(("HTTP/1.1", "HTTP/1.0", "HTTP/2.0", "")),
    headers=headers,
    body=st.binary(max_size=200),
)
def test_any_head_is_refused_without_a_token(
    fortress: Fortress, method: str, target: str, version: str, headers: list[tuple[str, str]], body: bytes
) -> None:
    lines = [f"{method} {target} {version}", *(f"{name}: {value}" for name, value in headers)]
    asked = len(fortress.host.bodies)
    response = fortress.send("\r\n".join([*lines, "", ""]).encode() + body)
    assert response == b"" or status_of(response) in (100, *MEANT[1:]), response
    assert len(fortress.host.bodies) == asked
    assert fortress.faults.lines == []


@FUZZ
@given(st.binary(max_size=300))
def test_any_bytes_are_refused(fortress: Fortress, data: bytes) -> None:
    response = fortress.send(data)
    assert response == b"" or status_of(response) in MEANT[1:], response
    assert fortress.faults.lines == []


@FUZZ
@given(cut=st.integers(0, 400), step=st.integers(1, 60))
def test_a_request_may_come_in_pieces_and_end_anywhere(fortress: Fortress, cut: int, step: int) -> None:
    body = json.dumps({"messages": [{"role": "user", "content": "x" * 60}]}).encode()
    head = (
        f"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1:{fortress.address[1]}\r\n"
        f"x-api-key: {fortress.host.token}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    data = (head.encode() + body)[:cut]
    with socket.create_connection(fortress.address, timeout=DEADLINE) as client:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for place in range(0, len(data), step):
            client.sendall(data[place : place + step])
    fortress.answers()


def test_clients_that_are_slow_or_silent_are_sent_away(
    fortress: Fortress, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(head_limit, "HEAD_SECONDS", 0.3)
    head = f"POST {PATHS[0]} HTTP/1.1\r\nHost: 127.0.0.1:{fortress.address[1]}\r\n".encode()
    asked = f"x-api-key: {fortress.host.token}\r\nContent-Length: 100\r\n\r\n".encode()
    clients = [socket.create_connection(fortress.address, timeout=DEADLINE) for _ in range(30)]
    for number, client in enumerate(clients):
        client.sendall((b"", head, head + asked)[number % 3])
    fortress.answers()
    for number, client in enumerate(clients):
        with client:
            received = client.recv(65536) if number % 3 == 2 else _until_closed(client)
            assert status_of(received) == 408 if number % 3 == 2 else received == b""


def _until_closed(client: socket.socket) -> bytes:
    try:
        return client.recv(65536)
    except ConnectionResetError:
        return b""
