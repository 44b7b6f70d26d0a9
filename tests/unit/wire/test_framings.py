"""The framings: frames survive any cutting of the bytes; what is no frame is told apart or refused."""

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentscope_tui.wire.frames import FrameError
from agentscope_tui.wire.framing import Base64Lines, Framing, JsonLines, LengthPrefixed

FRAMINGS = [Base64Lines, JsonLines, LengthPrefixed]

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)
FRAMES = st.lists(st.dictionaries(st.text(), JSON, max_size=4), max_size=5)


def received(framing: Framing, data: bytes, sizes: list[int] | None = None) -> tuple[list[Any], list[str]]:
    """The frames and the log of bytes that come in parts of these sizes, then end."""
    frames, log = [], []

    def note(piece: bytes) -> None:
        frame, text = framing.decode(piece)
        frames.extend([frame] if frame is not None else [])
        log.extend([text] if text else [])

    for size in [*(sizes or []), len(data)]:
        framing.feed(data[:size])
        data = data[size:]
        while (piece := framing.take()) is not None:
            note(piece)
    if (last := framing.finish()) is not None:
        note(last)
    return frames, log


@pytest.mark.parametrize("make", FRAMINGS)
@given(frames=FRAMES, sizes=st.lists(st.integers(0, 9), max_size=60))
def test_frames_survive_any_cutting(make: Any, frames: list[dict[str, Any]], sizes: list[int]) -> None:
    data = b"".join(make().encode(frame) for frame in frames)
    assert received(make(), data, sizes) == (frames, [])


@given(
    frames=FRAMES, junk=st.lists(st.text(st.characters(exclude_characters="\n\r"), min_size=1), max_size=5)
)
def test_lines_that_are_no_frames_are_the_log(frames: list[dict[str, Any]], junk: list[str]) -> None:
    junk = [f"# {line.encode('utf-8', 'replace').decode()}" for line in junk]
    encode = Base64Lines().encode
    data = b"".join([*(line.encode() + b"\n" for line in junk), *map(encode, frames)])
    assert received(Base64Lines(), data) == (frames, junk)


def test_text_without_a_line_end_does_not_destroy_the_next_frame() -> None:
    frame = {"type": "state", "status": "idle"}
    data = b"progress 50% eyJ... " + Base64Lines().encode(frame)
    assert received(Base64Lines(), data) == ([frame], ["progress 50% eyJ... "])


@pytest.mark.parametrize("line", [b"[1]", b'"text"', b"null", b"1", b"{", b"\xff\xfe", b"{}x", b""])
def test_base64_of_anything_but_an_object_is_log(line: bytes) -> None:
    data = base64.b64encode(line) + b"\n"
    frames, log = received(Base64Lines(), data)
    assert frames == []
    assert log == ([base64.b64encode(line).decode()] if line else [])


def test_windows_line_ends_and_a_last_line_without_end_are_read() -> None:
    first, second = {"type": "a"}, {"type": "b"}
    encode = Base64Lines().encode
    data = encode(first).rstrip() + b"\r\n" + encode(second).rstrip()
    assert received(Base64Lines(), data)[0] == [first, second]


@pytest.mark.parametrize(
    "body", [b"", b"x", b"[]", b"null", b"\xff", b'{"a": 1', b'{"a": ' + b"9" * 5000 + b"}", b"[" * 200_000]
)
def test_a_body_that_is_no_object_is_a_fault(body: bytes) -> None:
    with pytest.raises(FrameError):
        received(LengthPrefixed(), len(body).to_bytes(4, "big") + body)


def test_a_connection_that_ends_inside_a_frame_is_a_fault() -> None:
    with pytest.raises(FrameError, match="inside a frame"):
        received(LengthPrefixed(), LengthPrefixed().encode({"type": "hello"})[:-1])


@pytest.mark.parametrize("make", FRAMINGS)
def test_a_frame_has_the_allowed_size_and_no_more(make: Any) -> None:
    frame = {"type": "t", "text": "x" * 976}
    size = len(json.dumps(frame, separators=(",", ":")))
    data = make().encode(frame)
    assert received(make(size), data)[0] == [frame]
    with pytest.raises(FrameError, match=r"runner\.max_frame"):
        received(make(size - 3), data)


@pytest.mark.parametrize("make", FRAMINGS)
def test_a_frame_that_is_too_large_is_refused_before_it_has_come(make: Any) -> None:
    framing = make(1000)
    framing.feed((1 << 30).to_bytes(4, "big") if make is LengthPrefixed else b"A" * 2000)
    with pytest.raises(FrameError, match="allowed are"):
        framing.take()


@pytest.mark.parametrize("make", FRAMINGS)
def test_lone_surrogates_and_all_of_unicode_pass(make: Any) -> None:
    frame = {"text": "\ud800 𝄞 \x00 \u2028"}
    assert received(make(), make().encode(frame))[0] == [frame]


@given(data=st.binary(max_size=200), sizes=st.lists(st.integers(1, 20), max_size=20))
def test_random_bytes_raise_nothing_but_frame_errors(data: bytes, sizes: list[int]) -> None:
    for make in FRAMINGS:
        try:
            frames, _ = received(make(), data, sizes)
        except FrameError:
            continue
        assert all(isinstance(frame, dict) for frame in frames)
