"""Output in memory: lines as a terminal would show them, streams told apart, bounded."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from agentscope_widgets.line_block import Stream
from agentscope_widgets.output_buffer import OutputBuffer, OutputLine
from agentscope_widgets.output_source import PrivateSource
from agentscope_widgets.terminal import REACH_LINES
from agentscope_widgets.terminal_line import COLUMNS
from hostile import HOSTILE, raw_characters


def text(line: OutputLine) -> str:
    return "".join(run.text for run in line.runs)


def all_lines(buffer: OutputBuffer) -> list[str]:
    return [buffer.plain(number) for number in range(buffer.line_count)]


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
        (["a\tb\n"], ["a\tb"]),
        (["abcdefgh\ra\tX\n"], ["abcdXfgh"]),
        (["a\tb\rxyz\n"], ["xyz b"]),
        (["漢\t\rab\tz\n"], ["ab\tz"]),
        (["e", "\u0301x\n"], ["e\u0301x"]),
        (["\u0301x\rab\n"], ["ab"]),
        (["ab\r\u0301\n"], [" \u0301b"]),
        (["abc\x1b[2DX\n"], ["aXc"]),
        (["ab\x1b[3CX\x1b[2GY\n"], ["aY   X"]),
        (["\x1b[1000Cx\n"], ["␛[1000Cx"]),
        (["one\ntwo\n\x1b[2A\x1b[2KONE\n\x1b[KTWO\nend"], ["ONE", "TWO", "end"]),
        (["one\ntwo\nthree\x1b[2F1\x1b[E2\x1b[B3\n"], ["1ne", "2wo", "t3ree"]),
        (["one\n\x1b[9AX"], ["Xne"]),
        (["one\ntwo", "\x1b[A", "!\n", "!"], ["one!", "!wo"]),
        (["one\ntwo\nthree\x1b[2A\r\x1b[Jdone\n"], ["done"]),
        (["a b c", "\r\x1b[1C-\x1b[0J"], ["a-"]),
        ([f"bar {done}\r" for done in range(300)], ["bar 299"]),
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


def test_bars_of_one_stream_are_rewritten_among_lines_of_the_other() -> None:
    buffer = OutputBuffer()
    buffer.write("stderr", "bar 1\nbar 2\n")
    buffer.write("stdout", "text\n")
    buffer.write("stderr", "\x1b[2Adone 1\n\x1b[2Kdone 2\n")
    buffer.write("stdout", "more\n")
    assert all_lines(buffer) == ["done 1", "done 2", "text", "more"]
    buffer.write("stderr", "\x1b[2A\x1b[Jall done\n")
    assert all_lines(buffer) == ["text", "more", "all done"]


def test_a_line_out_of_reach_stays_as_it_is() -> None:
    lines = [f"line {number}\n" for number in range(500)]
    buffer = OutputBuffer()
    buffer.write("stdout", "".join(lines))
    buffer.write("stdout", "\x1b[499AX")
    changed = [number for number, line in enumerate(lines) if buffer.plain(number) != line.rstrip()]
    assert changed == [500 - REACH_LINES]
    assert changed[0] >= buffer.settled


@pytest.mark.parametrize("most_bytes", [1, 100_000_000])
def test_all_lines_are_there_however_little_memory_there_is(most_bytes: int) -> None:
    buffer = OutputBuffer(most_bytes=most_bytes)
    expected: list[tuple[str, str]] = []
    for number in range(0, 3_000, 3):
        buffer.write("stdout", f"\x1b[3{number % 8}mline {number}\nbar\x1b")
        buffer.write("stderr", f"é {number}".encode()[:2])
        buffer.write("stdout", f"[2K\rbar {number}\n\x1b[A\x1b[2KBAR\n")
        buffer.write("stderr", f"é {number}\n".encode()[2:])
        expected += [(f"line {number}", "stdout"), ("BAR", "stdout"), (f"é {number}", "stderr")]
    assert len(buffer.pages) > 1
    assert buffer.is_loaded(0) == (most_bytes > 1)
    for number in (*range(0, 3_000, 700), *range(2_990, 3_000), *range(0, 3_000, 490)):
        line = buffer.line(number)
        assert (line.text, line.stream) == expected[number]
        if line.text.startswith("line"):
            assert str(line.runs[0].style) == f"color({number % 8})"
    assert buffer.newlines == buffer.line_count == 3_000
    with pytest.raises(IndexError):
        buffer.line(3_000)
    with pytest.raises(IndexError):
        buffer.line(-1)


def test_what_does_not_come_back_says_so() -> None:
    class Broken(PrivateSource):
        def read(self, number: int) -> tuple[Stream, str | bytes]:
            raise OSError(5, "Input/output \x1berror")

    buffer = OutputBuffer(Broken(), most_bytes=1)
    buffer.write("stdout", "".join(f"line {number}\n" for number in range(5_000)))
    buffer.write("stdout", "".join(f"line {number}\n" for number in range(5_000, 9_000)))
    assert buffer.plain(10) == "[this part of the output cannot be read: Input/output ␛error]"
    assert buffer.plain(8_999) == "line 8999"


def test_memory_stays_bounded_over_many_lines() -> None:
    chunk = "".join(f"\x1b[32m{number:06}\x1b[0m {'x' * 80}\n" for number in range(1_000))
    buffer = OutputBuffer(most_bytes=500_000)
    tracemalloc.start()
    for _ in range(15):
        buffer.write("stdout", chunk)
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert buffer.line_count == 15_000
    assert size < 2_000_000


@pytest.mark.parametrize(
    ("character", "size", "chunk"),
    [("y", 5_000_000, 65_536), ("y", 5_000_000, 5_000_000), ("漢", 100_000, 65_536), ("é", 100_000, 999)],
)
def test_a_very_long_line_is_all_there(character: str, size: int, chunk: int) -> None:
    buffer = OutputBuffer()
    whole = character * size + "\nnext\n"
    for start in range(0, len(whole), chunk):
        buffer.write("stdout", whole[start : start + chunk])
    assert max(map(cell_len, all_lines(buffer))) <= COLUMNS
    assert buffer.newlines == 2
    assert buffer.text_between((0, 0), (buffer.line_count, 0)) == whole
    last = buffer.line_count - 1
    assert buffer.text_between((last - 1, 5), (last, 3)) == buffer.plain(last - 1)[5:] + "\nnex"


def test_bytes_may_be_cut_inside_a_character_and_invalid_ones_are_seen() -> None:
    buffer = OutputBuffer()
    for byte in "é漢\x00".encode() + b"\xff\xc3(" + "🦀".encode()[:2]:
        buffer.write("stdout", bytes([byte]))
    buffer.close()
    assert all_lines(buffer) == ["é漢␀��(�"]


def test_a_plain_line_costs_little_more_than_its_text() -> None:
    buffer = OutputBuffer()
    tracemalloc.start()
    buffer.write("stdout", "".join(f"{number:080d}\n" for number in range(20_000)))
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert size / 20_000 < 400


def test_a_coloured_line_costs_little_more_than_its_text() -> None:
    buffer = OutputBuffer()
    text = "".join(f"\x1b[32mPASS\x1b[0m \x1b[1m{number:06}\x1b[0m {'x' * 60}\n" for number in range(10_000))
    tracemalloc.start()
    buffer.write("stdout", text)
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert size / 10_000 < 400


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_output_is_safe(name: str) -> None:
    for line in written(HOSTILE[name]):
        assert raw_characters(line.replace("\t", "")) == []


PARTS = ["a", "漢", "\u0301", "\r", "\b", "\n", "\t", "\r\n"]
MOVES = ["\x1b[K", "\x1b[2K", "\x1b[31m", "\x1b[A", "\x1b[2B", "\x1b[J", "\x1b[3G"]


@given(st.lists(st.sampled_from(PARTS + MOVES), max_size=25), st.data())
def test_chunks_may_be_cut_anywhere(parts: list[str], data: st.DataObject) -> None:
    whole = "".join(parts)
    cut = data.draw(st.integers(0, len(whole)))
    assert written(whole[:cut], whole[cut:]) == written(whole)
