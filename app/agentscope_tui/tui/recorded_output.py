"""One call's output for the screen: taken in from its events a little at a time, read again from there."""

from __future__ import annotations

import time
from pathlib import Path

from agentscope_tui.session.views import CallView, OutputPiece
from agentscope_tui.tools.spec import Stream
from agentscope_widgets.output_buffer import OutputBuffer

SLICE_SECONDS = 0.012
"""How long output is taken in at a time, about; the screen goes on in between."""


class RecordedOutput:
    """The output of a call in a buffer whose old lines come back from the recording.

    What a call said that printed nothing stands for its output.
    """

    def __init__(self, call: CallView, outputs: Path | None) -> None:
        """`outputs` is the folder that the events of the call point into, if there is one."""
        self.buffer = OutputBuffer(self)
        self._call = call
        self._outputs = outputs
        self._taken = 0
        self._written = 0
        self._places: list[tuple[int, int, int]] = []
        self._said = ""
        self._closed = False

    @property
    def is_behind(self) -> bool:
        """Whether there is output that was not taken in yet."""
        return self._taken < len(self._call.output)

    def take_in(self) -> None:
        """Take in what has come, for `SLICE_SECONDS` at most."""
        call = self._call
        deadline = time.perf_counter() + SLICE_SECONDS
        while self.is_behind and time.perf_counter() < deadline:
            piece = call.output[self._taken]
            self._written = 0
            try:
                data = self._data(piece)
            except OSError as error:
                data = f"[this part of the output cannot be read: {error.strerror or error}]\n"
            self.buffer.write(piece.stream, data)
            self._taken += 1
        if call.duration is None or self.is_behind:
            return
        said = call.content or call.reason
        if not call.output and said != self._said:
            self.buffer, self._said = OutputBuffer(), said
            self.buffer.write("stdout", said)
        if call.output and not self._closed:
            self._closed = True
            self.buffer.close()

    def keep(self, stream: Stream, data: str | bytes) -> None:
        """The recording has it: only where it is must be known."""
        self._places.append((self._taken, self._written, len(data)))
        self._written += len(data)

    def read(self, number: int) -> tuple[Stream, str | bytes]:
        """See `OutputSource`."""
        index, start, size = self._places[number]
        piece = self._call.output[index]
        return piece.stream, self._data(piece)[start : start + size]

    def _data(self, piece: OutputPiece) -> str | bytes:
        """What a piece says, or the bytes that it points to."""
        if piece.file is None or piece.offset is None or piece.length is None:
            return piece.text
        if self._outputs is None:
            raise FileNotFoundError("the session has no files")
        with (self._outputs / piece.file).open("rb") as file:
            file.seek(piece.offset)
            data = file.read(piece.length)
        if len(data) < piece.length:
            raise OSError("the file is shorter than what was recorded")
        return data
