"""The keys of a list of rows."""

from __future__ import annotations

from textual.binding import Binding, BindingType


def _key(key: str, action: str, id: str, word: str, tooltip: str, *, show: bool = False) -> Binding:
    return Binding(key, action, word, show=show, id=f"rows.{id}", tooltip=tooltip)


ROW_KEYS: list[BindingType] = [
    _key("enter", "open", "open", "open", "Open the row", show=True),
    _key("space", "mark", "mark", "mark", "Mark the row for a run, or take it out", show=True),
    _key("up", "move(-1)", "up", "Up", "Previous row"),
    _key("down", "move(1)", "down", "Down", "Next row"),
    _key("pageup", "move_page(-1)", "page_up", "Page up", "A page up"),
    _key("pagedown", "move_page(1)", "page_down", "Page down", "A page down"),
    _key("home", "move_to_end(False)", "first", "First", "First row"),
    _key("end", "move_to_end(True)", "last", "Last", "Last row"),
    _key("shift+up", "mark_move(-1)", "mark_up", "Mark up", "Mark this row and the one above"),
    _key("shift+down", "mark_move(1)", "mark_down", "Mark down", "Mark this row and the one below"),
    _key("V", "mark_range", "mark_range", "Mark range", "Mark from the last marked row to this one"),
    _key("a", "mark_all(True)", "mark_all", "Mark all", "Mark all rows shown"),
    _key("A", "mark_all(False)", "mark_none", "Unmark all", "Take the marks of all rows shown"),
    _key("left", "choose_column(-1)", "column_previous", "Column", "Choose the column to the left"),
    _key("right", "choose_column(1)", "column_next", "Column", "Choose the column to the right"),
    _key("<", "resize_column(-1)", "narrower", "Narrower", "Make the chosen column narrower"),
    _key(">", "resize_column(1)", "wider", "Wider", "Make the chosen column wider"),
    _key("{", "shift_column(-1)", "column_left", "Move", "Move the chosen column left"),
    _key("}", "shift_column(1)", "column_right", "Move", "Move the chosen column right"),
    _key("S", "sort", "sort", "Sort", "Sort by the chosen column: up, down, off"),
]
