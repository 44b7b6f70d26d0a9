"""Server-sent events to the letter of the standard, however the bytes are split."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentscope_tui.models import sse
from agentscope_tui.models.sse import EventTooLong, ServerSentEvent, SSEDecoder


def decode(*chunks: bytes) -> list[ServerSentEvent]:
    decoder = SSEDecoder()
    events = [event for chunk in chunks for event in decoder.feed(chunk)]
    return [*events, *decoder.end()]


def data(*values: str) -> list[ServerSentEvent]:
    return [ServerSentEvent(value) for value in values]


CASES = {
    "LF": (b"data: a\n\ndata: b\n\n", data("a", "b")),
    "CRLF": (b"data: a\r\n\r\ndata: b\r\n\r\n", data("a", "b")),
    "CR": (b"data: a\r\rdata: b\r\r", data("a", "b")),
    "mixed line ends": (b"data: a\r\ndata: b\n\rdata: c\n\n", data("a\nb", "c")),
    "no space after the colon": (b"data:a\n\n", data("a")),
    "only one space is dropped": (b"data:  a\n\n", data(" a")),
    "no colon: an empty value": (b"data\ndata\n\n", data("\n")),
    "an empty value is data": (b"data:\n\n", data("")),
    "many data lines": (b"data: a\ndata:\ndata: b\n\n", data("a\n\nb")),
    "comments": (b": ping\n\n:\ndata: a\n: in between\ndata: b\n\n", data("a\nb")),
    "no data, no event": (b"event: ping\n\nid: 1\n\n\n\n", []),
    "unknown fields": (b"foo: 1\nretry: 10\n data: no\ndata: a\n\n", data("a")),
    "the event's name": (
        b"event: error\ndata: a\n\ndata: b\n\n",
        [ServerSentEvent("a", "error"), ServerSentEvent("b")],
    ),
    "the last id stays": (
        b"id: 7\ndata: a\n\ndata: b\n\nid\ndata: c\n\nid: x\0\ndata: d\n\n",
        [
            ServerSentEvent("a", id="7"),
            ServerSentEvent("b", id="7"),
            ServerSentEvent("c"),
            ServerSentEvent("d"),
        ],
    ),
    "BOM": (b"\xef\xbb\xbfdata: a\n\n", data("a")),
    "only the first BOM": (b"\xef\xbb\xbf\xef\xbb\xbfdata: a\n\ndata: b\n\n", data("b")),
    "other line separators are data": (
        "data: a\u2028b\u2029c\u0085d\x0be\x0cf\n\n".encode(),
        data("a\u2028b\u2029c\u0085d\x0be\x0cf"),
    ),
    "UTF-8": ("data: é€😀\n\n".encode(), data("é€😀")),
    "bad UTF-8": (b"data: \xff\xfe!\n\n", data("\ufffd\ufffd!")),
    "the end cuts the blank line off": (b"data: a\n\ndata: b\n", data("a", "b")),
    "the end cuts the line off": (b"data: a\n\ndata: b", data("a", "b")),
    "the end comes after a CR": (b"data: a\r", data("a")),
    "the end cuts a character off": (b"data: \xe2\x82", data("\ufffd")),
    "nothing": (b"", []),
}


@pytest.mark.parametrize(("content", "events"), CASES.values(), ids=CASES.keys())
def test_whole_and_byte_by_byte(content: bytes, events: list[ServerSentEvent]) -> None:
    assert decode(content) == events
    assert decode(*(content[place : place + 1] for place in range(len(content)))) == events


def test_an_event_is_given_as_soon_as_its_blank_line_is_there() -> None:
    decoder = SSEDecoder()
    assert decoder.feed(b"data: a\r\n") == []
    assert decoder.feed(b"\r") == data("a")
    assert decoder.feed(b"\ndata: b\n\ndata: c") == data("b")
    assert decoder.end() == data("c")


@given(st.text("ab:\r\n \ufeffé", max_size=60), st.lists(st.integers(0, 90), max_size=6))
def test_where_the_bytes_are_split_makes_no_difference(text: str, cuts: list[int]) -> None:
    content = f"data: {text}\n\n".encode()
    places = [0, *sorted(min(cut, len(content)) for cut in cuts), len(content)]
    parts = [content[a:b] for a, b in itertools.pairwise(places)]
    assert decode(*parts) == decode(content)


def test_an_event_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "MAX_EVENT", 100)
    decoder = SSEDecoder()
    for _ in range(50):
        decoder.feed(b"data: short\n\n: ping\n\n")
    decoder.feed(b"data: 0123456789\n" * 5)
    with pytest.raises(EventTooLong, match="100"):
        decoder.feed(b"data: 0123456789 0123456789")
