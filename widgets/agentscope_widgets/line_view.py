"""The base of the panes: a scrollable view that draws only the lines in sight, and how it follows its end."""

from __future__ import annotations

from typing import Any, ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.binding import Binding, BindingType
from textual.css.styles import RenderStyles
from textual.events import Click, Resize
from textual.geometry import Region, Size
from textual.reactive import reactive, var
from textual.scroll_view import ScrollView
from textual.strip import Strip

from .look import LOOK_CLASSES, LOOK_PROBE, PLAIN, Look, resolve_look
from .safe_text import safe_line
from .text_rows import Row, fit, fit_end


class LineView(ScrollView, can_focus=True, inherit_bindings=False):
    """A view of lines. A subclass sets `virtual_size` and draws one line at a time in `row_at`."""

    COMPONENT_CLASSES: ClassVar[set[str]] = LOOK_CLASSES
    ALLOW_SELECT = False
    DEFAULT_CSS = """
    LineView {
        overflow-x: hidden;
        overflow-y: scroll;
        scrollbar-size-vertical: 1;
        scrollbar-size-horizontal: 1;
        scrollbar-background: $surface;
        scrollbar-background-hover: $surface;
        scrollbar-background-active: $surface;
        background: $surface;
        color: $foreground;
        &:ansi { scrollbar-background: ansi_default; background: ansi_default; color: ansi_default; }
        & > .look--normal { color: $foreground; }
        & > .look--muted { color: $text-muted; }
        &:ansi > .look--muted { text-style: dim; }
        & > .look--primary { color: $text-primary; }
        & > .look--accent { color: $text-accent; }
        & > .look--success { color: $text-success; }
        & > .look--warning { color: $text-warning; }
        & > .look--error { color: $text-error; }
        & > .look--strong { text-style: bold; }
        & > .look--cursor { background: $block-cursor-blurred-background; color: $foreground; }
        &:focus > .look--cursor { background: $block-cursor-background; color: $block-cursor-foreground; }
        & > .look--header { color: $text-muted; text-style: bold; }
        & > .look--badge { background: $primary; color: $text; text-style: bold; }
        & > .look--selection { background: $primary; color: $text; }
        & > .look--match { background: $secondary; color: $text; }
        & > .look--match-current { background: $warning; color: $text; text-style: bold; }
        & > .look--caret { text-style: reverse; }
        &:ansi > .look--selection { background: ansi_default; color: ansi_default; text-style: reverse; }
        &:ansi > .look--match { background: ansi_default; color: ansi_default; text-style: underline bold; }
        &:ansi > .look--match-current {
            background: ansi_default; color: ansi_default; text-style: reverse bold underline;
        }
        & > .look--heading { color: $text-primary; text-style: bold; }
        & > .look--link { color: $text-accent; text-style: underline; }
        & > .look--quote { color: $text-muted; text-style: italic; }
        & > .look--code { color: $text-accent; }
        & > .look--code-block { background: $panel; }
        & > .look--code-keyword { color: $text-primary; text-style: bold; }
        & > .look--code-name { color: $text-secondary; }
        & > .look--code-string { color: $text-success; }
        & > .look--code-number { color: $text-warning; }
        & > .look--code-comment { color: $text-muted; text-style: italic; }
    }
    """

    placeholder: reactive[str] = reactive("")
    """What an empty view says."""

    def __init__(self, *, placeholder: str = "", id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._look: Look | None = None
        self._look_rules: RenderStyles | None = None
        self._base = Style.null()
        self.set_reactive(LineView.placeholder, placeholder)

    @property
    def look(self) -> Look:
        """The styles to draw with."""
        # Textual makes new component styles whenever it applies the style sheet, and tells nobody: that
        # they are other objects is the only sign, and asking for all of them at each paint is slow.
        rules = self._component_styles.get(LOOK_PROBE)
        if rules is None:
            # A view that was removed loses its styles, and may be painted once more before it is gone.
            return self._look or PLAIN
        if self._look is None or rules is not self._look_rules:
            old, self._look, self._look_rules = self._look, resolve_look(self), rules
            if old is not None and old != self._look:
                self.look_changed()
        return self._look

    @property
    def text_width(self) -> int:
        """Cells from edge to edge of the text, without the scroll bar."""
        return self.scrollable_content_region.width

    @property
    def view_height(self) -> int:
        """Lines in sight."""
        return self.scrollable_content_region.height

    def row_at(self, y: int) -> Row:
        """The line on row `y` of the view, counted from its top; it may be shorter than the view."""
        return []

    def shows_placeholder(self) -> bool:
        """Whether there is nothing but the placeholder to show."""
        return self.virtual_size.height == 0

    def render_lines(self, crop: Region) -> list[Strip]:
        self._base = self.rich_style
        # Asked for before any line is drawn, because a new look drops what is cached.
        _ = self.look
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        return self.marked(self.strip_at(y), y)

    def marked(self, strip: Strip, y: int) -> Strip:
        """Row `y` of the view as it was drawn, with what is marked in it at the moment."""
        return strip

    def strip_at(self, y: int) -> Strip:
        """Row `y` of the view as it is drawn, as wide as the text; a subclass may keep it."""
        width = self.text_width
        row = self._placeholder_row(y, width) if self.shows_placeholder() else self.row_at(y)
        return Strip(row).adjust_cell_length(width).apply_style(self._base)

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._look_rules = None

    def look_changed(self) -> None:
        """A colour changed: what was drawn with the old ones is of no use."""

    def scroll_to(
        self, x: float | None = None, y: float | None = None, *, animate: bool = False, **options: Any
    ) -> None:
        """Scroll there, always at once: on the way sizes change, which Textual's gliding does not survive."""
        super().scroll_to(x, y, animate=False, **options)

    def scroll_lines(self, lines: int) -> None:
        """Scroll down by `lines` (up if negative), at once."""
        self.scroll_to(y=self.scroll_offset.y + lines, animate=False, force=True)

    def show_line(self, line: int, height: int) -> None:
        """Scroll, if need be, so that a line of the content is among the first `height` in sight."""
        top, height = self.scroll_offset.y, max(1, height)
        if not top <= line < top + height:
            self.scroll_to(y=line if line < top else line - height + 1, animate=False, force=True)

    def on_click(self, event: Click) -> None:
        at = event.get_content_offset(self)
        if at is not None and at.x < self.text_width:
            if event.chain > 1:
                self.clicked_again(at.x, at.y, event.chain)
            else:
                self.clicked(at.x, at.y)

    def clicked(self, x: int, y: int) -> None:
        """The user clicked on a cell of the view."""
        self.line_clicked(y)

    def clicked_again(self, x: int, y: int, times: int) -> None:
        """The second or a later of several clicks in a row on the same cell."""
        self.clicked(x, y)

    def line_clicked(self, y: int) -> None:
        """The user clicked on row `y` of the view."""

    def _placeholder_row(self, y: int, width: int) -> Row:
        lines = self.placeholder.splitlines()
        line = y - max(0, (self.size.height - len(lines)) // 3)
        if not 0 <= line < len(lines):
            return []
        text = safe_line(lines[line])
        left = max(0, (width - len(text)) // 2)
        return [Segment(" " * left + fit(text, min(width, len(text))), self.look.muted)]


class ScrollingView(LineView, inherit_bindings=False):
    """A view whose keys scroll and which can follow its end.

    While it follows, the end stays in sight whatever arrives. Once the user scrolls up it holds still;
    `unseen` counts what came since and is shown as a badge. `End`, or scrolling to the end, follows again.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "scroll_by(-1)", "Up", show=False, id="view.up", tooltip="Scroll up a line"),
        Binding("down", "scroll_by(1)", "Down", show=False, id="view.down", tooltip="Scroll down a line"),
        Binding("pageup", "scroll_page(-1)", "Page up", show=False, id="view.page_up", tooltip="Scroll up"),
        Binding(
            "pagedown", "scroll_page(1)", "Page down", show=False, id="view.page_down", tooltip="Scroll down"
        ),
        Binding("home", "go_start", "Start", show=False, id="view.start", tooltip="Go to the start"),
        Binding("end", "go_end", "End", show=False, id="view.end", tooltip="Go to the end and follow it"),
    ]
    FOLLOWS: ClassVar[bool] = True
    """Whether being at the end means to stay there."""

    following: var[bool] = var(True)
    unseen: reactive[int] = reactive(0)

    def __init__(self, *, placeholder: str = "", id: str | None = None, classes: str | None = None) -> None:
        super().__init__(placeholder=placeholder, id=id, classes=classes)
        self._placing = False
        self.set_reactive(ScrollingView.following, self.FOLLOWS)

    def place(self, top: int, height: int, width: int = 0, *, changed: range | None = None) -> None:
        """Make the content `height` lines long and show it from line `top`, or the end while following.

        `width` is that of the content, if it can be scrolled sideways. With `changed` only those lines are
        drawn anew, if all others stay where they are.
        """
        before = self.scroll_offset, self.virtual_size
        self._placing = True
        try:
            self._set_content_size(Size(width, height))
            if self.following:
                top = self.max_scroll_y
            self.scroll_to(y=top, animate=False, force=True)
        finally:
            self._placing = False
        if changed is None or before != (self.scroll_offset, self.virtual_size):
            self.refresh()
        else:
            first, last = max(changed.start, top), min(changed.stop, top + self.view_height)
            if first < last:
                self.refresh_lines(first, last - first)

    def _set_content_size(self, size: Size) -> None:
        if size.width != self.virtual_size.width or self.styles.auto_dimensions or not self.is_attached:
            self.virtual_size = size
        elif size != self.virtual_size:
            # The scroll bar is always there, so that nothing has to be arranged anew for it.
            self.set_reactive(LineView.virtual_size, size)
            self.vertical_scrollbar.window_virtual_size = size.height

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if not self._placing and round(old_value) != round(new_value):
            self.following = self.FOLLOWS and new_value >= self.max_scroll_y
            self.view_moved()

    def watch_following(self, following: bool) -> None:
        if following:
            self.seen_all()

    def view_moved(self) -> None:
        """The user scrolled."""

    def seen_all(self) -> None:
        """The end is in sight again."""
        self.unseen = 0

    def notes(self) -> list[str]:
        """What is said at the left of the last row, over the text: words of our own, or safe ones."""
        return []

    def render_line(self, y: int) -> Strip:
        strip = super().render_line(y)
        if y != self.view_height - 1:
            return strip
        style = self._base + self.look.badge
        if notes := self.notes():
            note = fit_end(f" {' · '.join(notes)} ", self.text_width)
            strip = Strip([Segment(note, style), *strip.crop(cell_len(note))])
        if self.unseen:
            badge = self._badge()
            left = max(0, self.text_width - len(badge) - 1)
            strip = Strip([*strip.crop(0, left), Segment(badge, style), Segment(" ", self._base)])
        return strip

    def clicked(self, x: int, y: int) -> None:
        if self.unseen and y == self.view_height - 1 and x >= self.text_width - len(self._badge()) - 1:
            self.go_end()
        else:
            super().clicked(x, y)

    def on_resize(self, event: Resize) -> None:
        self.resized()

    def resized(self) -> None:
        """The view has a new size."""
        self.place(self.scroll_offset.y, self.virtual_size.height)

    def action_scroll_by(self, lines: int) -> None:
        self.scroll_lines(lines)

    def action_scroll_page(self, pages: int) -> None:
        self.scroll_lines(pages * max(1, self.view_height - 1))

    def action_go_start(self) -> None:
        self.scroll_to(y=0, animate=False, force=True)

    def action_go_end(self) -> None:
        self.go_end()

    def go_end(self) -> None:
        """Show the end, and follow it."""
        if self.FOLLOWS:
            self.following = True
        self.scroll_to(y=self.max_scroll_y, animate=False, force=True)
        self.view_moved()

    def _badge(self) -> str:
        return f" ↓ {self.unseen} new "
