"""A call's output from its events and its file: taken in bit by bit, and read again when scrolled to."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentscope_tui.session.views import CallView, OutputPiece
from agentscope_tui.tools.spec import Stream
from agentscope_tui.tui import recorded_output
from agentscope_tui.tui.recorded_output import RecordedOutput


class Recording:
    """A call whose output goes to a file, as the engine writes it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.call = CallView("c1", 1, "bash")
        self.output = RecordedOutput(self.call, folder)
        self._size = 0

    def says(self, text: str, stream: Stream = "stdout") -> None:
        self.call.output.append(OutputPiece(stream, text))

    def prints(self, data: bytes, stream: Stream = "stdout") -> None:
        with (self.folder / "c1.out").open("ab") as file:
            file.write(data)
        piece = OutputPiece(stream, file="c1.out", offset=self._size, length=len(data))
        self.call.output.append(piece)
        self._size += len(data)

    def lines(self) -> list[str]:
        while self.output.is_behind:
            self.output.take_in()
        self.output.take_in()
        buffer = self.output.buffer
        return [buffer.plain(number) for number in range(buffer.line_count)]


@pytest.fixture
def recording(tmp_path: Path) -> Recording:
    return Recording(tmp_path)


def test_text_and_pieces_of_the_file_are_one_output(recording: Recording) -> None:
    recording.says("first\n")
    recording.prints("é".encode()[:1])
    recording.prints("漢".encode()[:2], "stderr")
    recording.prints("é".encode()[1:] + b"\x00\n")
    recording.prints("漢".encode()[2:] + b" \xff\n", "stderr")
    assert recording.lines() == ["first", "é␀", "漢 �"]


def test_half_a_character_at_the_end_is_seen_once_the_call_ended(recording: Recording) -> None:
    recording.prints(b"a\xc3")
    assert recording.lines() == ["a"]
    recording.call.duration = 1.0
    assert recording.lines() == ["a�"]


def test_old_lines_come_back_from_the_recording(recording: Recording) -> None:
    chunk = 1_000
    for start in range(0, 120_000, chunk):
        text = "".join(f"line {number} é {'x' * 50}\n" for number in range(start, start + chunk))
        recording.prints(text.encode() if start else b"")
        if not start:
            recording.says(text)
    lines = recording.lines()
    buffer = recording.output.buffer
    assert [line.split()[1] for line in lines] == [str(number) for number in range(120_000)]
    assert not all(buffer.is_loaded(page) for page in range(len(buffer.pages)))
    (recording.folder / "c1.out").write_bytes(b"")
    gone = next(page.first for page in buffer.pages[1:] if not buffer.is_loaded(buffer.page_of(page.first)))
    assert buffer.plain(gone) == (
        "[this part of the output cannot be read: the file is shorter than what was recorded]"
    )


def test_much_output_is_taken_in_a_little_at_a_time(
    recording: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorded_output, "SLICE_SECONDS", 0)
    recording.says("a\n")
    recording.output.take_in()
    assert recording.output.is_behind
    monkeypatch.undo()
    recording.says("b\n")
    assert recording.lines() == ["a", "b"]


def test_a_file_that_is_gone_is_said_in_its_place(recording: Recording) -> None:
    recording.prints(b"lost\n")
    (recording.folder / "c1.out").unlink()
    recording.says("kept\n")
    assert recording.lines() == [
        "[this part of the output cannot be read: No such file or directory]",
        "kept",
    ]


def test_what_a_silent_call_said_stands_for_its_output(recording: Recording) -> None:
    assert recording.lines() == []
    recording.call.duration, recording.call.content = 0.1, "wrote 3 lines"
    assert recording.lines() == ["wrote 3 lines"]
    recording.call.content = "edited"
    assert recording.lines() == ["edited"]
