"""The keys of the rows pane that are about the dataset, beside those of its list."""

from __future__ import annotations

from textual.binding import Binding, BindingType


def _key(key: str, act: str, word: str, tooltip: str, *, action: str = "", show: bool = True) -> Binding:
    return Binding(key, action or act, word, show=show, id=f"rows.{act}", tooltip=tooltip)


ROWS_PANE_KEYS: list[BindingType] = [
    _key("/", "search", "search", "Search all text of the rows; capitals make it exact"),
    _key("f", "filter", "filter", 'Show only rows for which this is true: reward < 0.5, "tax" in question'),
    _key("v", "view", "view", "The whole row as JSON beside the rows, or close it"),
    _key("n", "next_match", "next match", "To the next row that the search found"),
    _key("N", "previous_match", "previous match", "To the row before that the search found", show=False),
    _key("ctrl+l", "reload", "reload", "Open the dataset again, as it is on disk now"),
    _key("escape", "clear", "close", "Close what lies on top: whole row, search, filter, order"),
    _key("g,:", "jump", "jump", "Go to the row with an index", show=False),
    _key("C", "columns", "columns", "Choose the columns, and their order", show=False),
    _key("y", "copy", "copy", "Copy the row as JSON", show=False),
    _key("R", "run", "run", "Run the marked rows in the background, or all that are shown"),
    _key("E", "next_worst", "next failed", "To the next row that failed, or the worst", show=False),
]
