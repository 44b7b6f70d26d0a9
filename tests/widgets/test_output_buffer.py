"""Output in memory: lines as a terminal would show them, streams told apart, bounded."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentscope_widgets.output_buffer import OutputBuffer, OutputLine
from hostile import HOSTILE, raw_characters


def text(line: OutputLine) -> str:
    return "".join(run.text for run in line.runs)


def all_lines(buffer: OutputBuffer) -> list[str]:
    finished = [text(buffer.line(number)) for number in range(buffer.first, buffer.end)]
    return [*finished, *(text(line) for line in buffer.unfinished())]


def written(*chunks: str) -> list[str]:
    buffer = OutputBuffer()
    for chunk in chunks:
        buffer.write("stdout", chunk)
    buffer.close()
    return all_lines(buffer)


@pytest.mark.parametrize(
    ("chunks", "expected"),
    [
        (["a\nb\n"], ["a", "b"]),
        (["a", "b\nc"], ["ab", "c"]),
        (["\n\n"], ["", ""]),
        (["10%\r20%\r100%\n"], ["100%"]),
        (["100%\r5\n"], ["500%"]),
        (["10%", "\r", "20%"], ["20%"]),
        (["abc\b\bX\n"], ["aXc"]),
        (["\b\bx"], ["x"]),
        (["long text\r\x1b[Kdone\n"], ["done"]),
        (["abc\x1b[1KX\n"], ["   X"]),
        (["abc\x1b[2KX\n"], ["   X"]),
        (["a\r\nb\r\n"], ["a", "b"]),
        (["日本\rab\n"], ["ab本"]),
        (["日本\ra\n"], ["a 本"]),
        (["e\u0301x\rE\n"], ["Ex"]),
        (["a\tb\n"], ["a   b"]),
        (["\x1b[2Jx\x07\n"], ["␛[2Jx␇"]),
        (["\x1b", "[31", "mred\x1b[0m\n"], ["red"]),
        (["tail\x1b[3"], ["tail␛[3"]),
    ],
)
def test_lines_are_as_on_a_terminal(chunks: list[str], expected: list[str]) -> None:
    assert written(*chunks) == expected


def test_colours_stay_on_their_text_also_over_lines() -> None:
    buffer = OutputBuffer()
    buffer.write("stdout", "a\x1b[32mok\n")
    buffer.write("stdout", "still\x1b[0m no\n")
    first, second = buffer.line(0).runs, buffer.line(1).runs
    assert [(run.text, str(run.style or "")) for run in first] == [("a", ""), ("ok", "color(2)")]
    assert [(run.text, str(run.style or "")) for run in second] == [("still", "color(2)"), (" no", "")]


def test_streams_are_told_apart_and_do_not_mix_in_a_line() -> None:
    buffer = OutputBuffer()
    buffer.write("stdout", "out")
    buffer.write("stderr", "\x1b[31merr\n")
    buffer.write("stdout", "put\n")
    assert [(text(buffer.line(n)), buffer.line(n).stream) for n in range(2)] == [
        ("err", "stderr"),
        ("output", "stdout"),
    ]
    assert str(buffer.line(1).runs[0].style) == "None"
    assert buffer.has_stderr


def test_old_lines_are_dropped_and_numbers_stay() -> None:
    buffer = OutputBuffer(most_lines=100)
    for number in range(1_000):
        buffer.write("stdout", f"line {number}\n")
    assert buffer.end == 1_000
    assert 100 <= buffer.end - buffer.first <= 110
    assert text(buffer.line(buffer.first)) == f"line {buffer.first}"
    with pytest.raises(IndexError, match="dropped"):
        buffer.line(0)


def test_long_lines_are_bounded_together() -> None:
    buffer = OutputBuffer(most_characters=10_000, longest_line=1_000)
    for _ in range(50):
        buffer.write("stdout", "x" * 900 + "\n")
    assert sum(map(len, all_lines(buffer))) <= 11_000
    assert buffer.end == 50


@pytest.mark.parametrize("chunk", [65_536, 5_000_000])
def test_a_line_of_megabytes_is_cut_and_says_so(chunk: int) -> None:
    buffer = OutputBuffer(longest_line=1_000)
    whole = "y" * 5_000_000 + "\n"
    for start in range(0, len(whole), chunk):
        buffer.write("stdout", whole[start : start + chunk])
    buffer.write("stdout", "next\n")
    assert all_lines(buffer) == ["y" * 1_000 + "… 4,999,000 more characters", "next"]


def test_a_plain_line_costs_little_more_than_its_text() -> None:
    buffer = OutputBuffer()
    tracemalloc.start()
    buffer.write("stdout", "".join(f"{number:080d}\n" for number in range(20_000)))
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert size / 20_000 < 400


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_output_is_safe(name: str) -> None:
    for line in written(HOSTILE[name]):
        assert raw_characters(line) == []


@given(
    st.lists(
        st.sampled_from(["a", "漢", "\r", "\b", "\n", "\t", "\x1b[K", "\x1b[2K", "\x1b[31m"]), max_size=25
    ),
    st.data(),
)
def test_chunks_may_be_cut_anywhere(parts: list[str], data: st.DataObject) -> None:
    whole = "".join(parts)
    cut = data.draw(st.integers(0, len(whole)))
    assert written(whole[:cut], whole[cut:]) == written(whole)
