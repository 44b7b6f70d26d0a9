"""The output of one command, live: colours, progress bars, stderr marked, following the end."""

from __future__ import annotations

from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from textual.binding import Binding, BindingType
from textual.cache import LRUCache
from textual.content import Content
from textual.reactive import reactive
from textual.strip import Strip

from .heights import Heights
from .line_view import ScrollingView
from .output_buffer import OutputBuffer, OutputLine
from .safe_text import safe_line
from .text_rows import Row, break_offsets, wrap_runs

_GUTTER = 2
_MARK = "! "
"""The gutter of a line that came from stderr."""


class OutputView(ScrollingView):
    """Shows an `OutputBuffer` and follows its end; `refresh_output` is called after writes to it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("w", "toggle_wrap", "Wrap", show=False, id="output.wrap", tooltip="Wrap long lines, or not"),
        Binding("left", "scroll_sideways(-8)", "Left", show=False, id="output.left", tooltip="Scroll left"),
        Binding(
            "right", "scroll_sideways(8)", "Right", show=False, id="output.right", tooltip="Scroll right"
        ),
    ]

    wrap: reactive[bool] = reactive(True)
    """Whether a line wider than the view continues on the next row."""
    facts: reactive[str] = reactive("")
    """What there is to know beside the text, for a border: lines, the mark of stderr, no wrapping."""

    def __init__(self, *, placeholder: str = "", id: str | None = None, classes: str | None = None) -> None:
        super().__init__(placeholder=placeholder, id=id, classes=classes)
        self._buffer: OutputBuffer | None = None
        self._version = -1
        self._width = 0
        self._first = self._end = self._seen_end = 0
        self._widest = 0
        self._heights = Heights()
        self._unfinished: list[OutputLine] = []
        self._rows: LRUCache[int, list[Row]] = LRUCache(256)

    def show(self, buffer: OutputBuffer | None, title: str = "") -> None:
        """Show another buffer from its end, or none; `title` goes into the border.

        The buffer that is shown already is only refreshed, and stays where it is.
        """
        self.border_title = Content(safe_line(title)) if title else None
        if buffer is not None and buffer is self._buffer:
            self.refresh_output()
            return
        self._buffer = buffer
        self.following = True
        self._start_over()

    def refresh_output(self) -> None:
        """Take in what was written to the buffer since the last time; nothing is done if that is nothing."""
        buffer = self._buffer
        if buffer is None or buffer.version == self._version or not self._width:
            return
        self._version = buffer.version
        top = self.scroll_offset.y
        if buffer.first > self._first:
            note = 0 if self._first else 1
            top -= self._heights.drop_first(min(buffer.first, self._end) - self._first) - note
            self._first = buffer.first
            self._end = max(self._end, buffer.first)
            self._rows.clear()
        self._heights.truncate(self._end - self._first)
        for number in range(self._end, self._end + len(self._unfinished)):
            self._rows.discard(number)
        texts = buffer.texts(self._end)
        self._unfinished = buffer.unfinished()
        self._end = buffer.end
        texts = [*texts, *("".join(run.text for run in line.runs) for line in self._unfinished)]
        self._add_heights(texts)
        if self.following:
            self._seen_end = self._end
        self.unseen = self._end - self._seen_end
        self.facts = self._known_facts(buffer)
        self._place(top)

    def shows_placeholder(self) -> bool:
        return not len(self._heights)

    def row_at(self, y: int) -> Row:
        line = self.scroll_offset.y + y - self._note_lines
        if line < 0:
            return [Segment(f"  … {self._first:,} earlier lines were dropped", self.look.muted)]
        if line >= self._heights.total:
            return []
        index, inside = self._heights.find(line)
        number = self._first + index
        if self._buffer is None or number < self._buffer.first:
            # Dropped by a write that this view was not told of yet.
            return []
        output = self._unfinished[number - self._end] if number >= self._end else self._buffer.line(number)
        gutter = Segment(_MARK if output.stream == "stderr" else "  ", self.look.warning)
        return [gutter, *self._row(number, output, inside)]

    def look_changed(self) -> None:
        self._rows.clear()

    def resized(self) -> None:
        if self.text_width != self._width:
            self._width = self.text_width
            self._start_over(keep=True)
        else:
            self._place(self.scroll_offset.y)

    def seen_all(self) -> None:
        super().seen_all()
        self._seen_end = self._end

    def watch_facts(self, facts: str) -> None:
        self.border_subtitle = Content(facts) if facts else None

    def watch_wrap(self, wrap: bool) -> None:
        self.styles.overflow_x = "hidden" if wrap else "auto"
        self._start_over(keep=True)

    def action_toggle_wrap(self) -> None:
        self.wrap = not self.wrap

    def action_scroll_sideways(self, cells: int) -> None:
        self.scroll_to(x=self.scroll_offset.x + cells, animate=False, force=True)

    @property
    def _note_lines(self) -> int:
        """The line at the top that says how much was dropped."""
        return 1 if self._first else 0

    @property
    def _room(self) -> int:
        return max(1, self._width - _GUTTER)

    def _start_over(self, *, keep: bool = False) -> None:
        """Compute everything anew; with `keep` the line at the top stays there."""
        place = (0, 0)
        if keep and self._heights.total:
            index, inside = self._heights.find(self.scroll_offset.y - self._note_lines)
            place = (self._first + index, inside)
        self._heights = Heights()
        self._unfinished = []
        self._rows.clear()
        self._widest = 0
        self._version = -1
        self._first = self._end = self._buffer.first if self._buffer else 0
        if not keep:
            self._seen_end = self._buffer.end if self._buffer else 0
            self.unseen = 0
            self.facts = ""
        self.refresh_output()
        if keep and not self.following and len(self._heights):
            index = max(0, min(place[0] - self._first, len(self._heights) - 1))
            inside = min(place[1], self._heights[index] - 1)
            self._place(self._heights.start(index) + inside + self._note_lines)
        else:
            self._place(0)

    def _add_heights(self, texts: list[str]) -> None:
        room = self._room
        if not self.wrap:
            self._widest = max(self._widest, max(map(cell_len, texts), default=0))
            self._heights.extend([1] * len(texts))
        else:
            self._heights.extend(
                (len(text) - 1) // room + 1 or 1
                if text.isascii()
                else len(break_offsets(text, room, words=False))
                for text in texts
            )

    def _row(self, number: int, output: OutputLine, inside: int) -> Row:
        rows = self._rows.get(number)
        if rows is None:
            width = self._room if self.wrap else max(self._widest, self._room) + 1
            rows = self._rows[number] = wrap_runs(output.runs, width, words=False)
        row = rows[inside] if inside < len(rows) else []
        if self.wrap:
            return row
        left = self.scroll_offset.x
        return list(Strip(row).crop(left, left + self._room))

    def _place(self, top: int) -> None:
        width = 0 if self.wrap else self._widest + _GUTTER
        self.place(top, self._heights.total + self._note_lines if len(self._heights) else 0, width)

    def _known_facts(self, buffer: OutputBuffer) -> str:
        count = buffer.end + len(self._unfinished)
        facts = [f"{count:,} line{'s' * (count != 1)}"]
        facts += ["! stderr"] if buffer.has_stderr else []
        facts += [] if self.wrap else ["no wrap"]
        return " · ".join(facts)
