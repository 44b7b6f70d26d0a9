"""Who may come in: the token, the Host header, the Origin header."""

from __future__ import annotations

import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentscope_tui.errors import UsageError
from agentscope_tui.serve.door import Door, check_host

TOKEN = "t0ken-t0ken"
HERE = "127.0.0.1:8000"


def refusal(path: str = f"/{TOKEN}/", *, host: str = HERE, origin: str | None = None, **other) -> str:
    door = Door("127.0.0.1", token=TOKEN, remote=other.get("remote", False))
    return door.refusal(path, host=host, origin=origin, websocket=other.get("websocket", False))


def test_each_door_has_a_long_token_of_its_own_which_is_not_shown() -> None:
    one, other = Door("localhost"), Door("localhost")
    assert one.token != other.token
    assert len(one.token) >= 43
    assert one.token not in repr(one)


@pytest.mark.parametrize("path", [f"/{TOKEN}", f"/{TOKEN}/", f"/{TOKEN}/static/js/textual.js"])
@pytest.mark.parametrize(
    "host", [HERE, "localhost:9000", "LOCALHOST", "127.0.0.1", "[::1]:8000", "127.0.0.2:80"]
)
def test_a_request_with_the_token_comes_in(path: str, host: str) -> None:
    assert refusal(path, host=host) == ""


@pytest.mark.parametrize(
    "path",
    ["/", "", "*", "//", f"//{TOKEN}/", "/static/", f"/{TOKEN}x/", f"/{TOKEN[:-1]}/", "/é/", "/\udcff/"],
)
def test_a_request_without_the_token_does_not(path: str) -> None:
    assert refusal(path) == "The address is not complete."


@given(st.text())
def test_no_other_path_comes_in(path: str) -> None:
    assert (refusal(path) == "") == (path.removeprefix("/").partition("/")[0] == TOKEN)


FOREIGN = [
    "evil.example",
    "127.0.0.1.evil.example",
    "localhost.evil.example:8000",
    "evil.example@127.0.0.1",
    "127.0.0.1@evil.example",
    "127.0.0.1:80:80",
    "localhost#x",
    "[::1",
    "::1",
    "",
    "0.0.0.0:8000",
    "192.168.1.7:8000",
]


@pytest.mark.parametrize("host", FOREIGN)
def test_a_foreign_host_header_is_refused(host: str) -> None:
    assert refusal(host=host) == "The Host header names another machine."


def test_with_remote_the_host_may_be_any_address_or_our_name_but_no_foreign_one() -> None:
    ours = socket.gethostname()
    allowed = ["192.168.1.7:8000", "[fe80::1]:80", f"{ours}:8000", HERE]
    assert [refusal(host=host, remote=True) for host in allowed] == [""] * 4
    assert refusal(host="evil.example:8000", remote=True)


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "null",
        "",
        "http://127.0.0.1:8001",
        "http://127.0.0.1",
        "https://127.0.0.1:8000",
    ],
)
@pytest.mark.parametrize("websocket", [True, False])
def test_a_page_of_another_address_is_refused(origin: str, websocket: bool) -> None:
    assert refusal(origin=origin, websocket=websocket) == "This page is of another address."


def test_a_websocket_needs_the_origin_of_its_page() -> None:
    assert refusal(websocket=True) == "A websocket needs the Origin header of its page."
    assert refusal(origin=f"http://{HERE}", websocket=True) == ""


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1"])
def test_this_machine_needs_no_leave(host: str) -> None:
    check_host(host, remote=False)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.7", "example.org", ""])
def test_what_other_machines_reach_needs_a_flag_that_says_what_it_does(host: str) -> None:
    with pytest.raises(UsageError, match=r"has a shell as you.*--remote"):
        check_host(host, remote=False)
    check_host(host, remote=True)
