"""Rows that are found by the user: jump, search, filter and sort, over a list and its prompt line."""

from __future__ import annotations

import re

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from agentscope_tui.datasets.expression import Expression, ExpressionError, parse_expression
from agentscope_tui.datasets.needle import Needle
from agentscope_tui.datasets.query import Order
from agentscope_tui.errors import UserError
from agentscope_tui.tui.dataset_rows import DatasetRows
from agentscope_tui.tui.row_queries import RowQueries
from agentscope_widgets.prompt_line import PromptLine
from agentscope_widgets.row_list import RowList
from agentscope_widgets.safe_text import safe_line


class RowsFinding(Vertical):
    """A list of rows, what is looked for in it, and how that is said. `take` gives it the rows."""

    rows: DatasetRows
    queries: RowQueries

    def __init__(self, *, id: str, classes: str) -> None:
        super().__init__(id=id, classes=classes)
        self._wanted: int | None = None
        self._origin = 0
        self._noted = 0
        # Held, not looked for: what is found in the background may come when they are being removed.
        self.row_list = RowList(id="rows")
        self._notes = Static(id="rows-notes", markup=False)

    def compose(self) -> ComposeResult:
        yield self.row_list
        yield self._notes
        yield PromptLine()

    def take(self, rows: DatasetRows) -> None:
        """Look in these rows from now on."""
        self.rows = rows
        self.queries = RowQueries(rows, on_rows=self._rows_changed, on_hits=self._hits_changed)

    def refresh_count(self) -> None:
        """Say how many rows there are."""

    def notes(self) -> list[str]:
        """What is to be said below the rows, a line each."""
        notes = []
        if self.queries.arranging:
            done = 100 * self.queries.arranged // max(1, len(self.rows.dataset))
            notes.append(f"{self.queries.arranging} {done}%")
        if (expression := self.rows.arrangement.expression) is not None:
            notes.append(f"filter  {expression.text}")
        if self.queries.needle and self._prompt.question != "search":
            notes.append(f"/{self.queries.needle}  {self._hits()}")
        return notes

    def refresh_notes(self) -> None:
        """Say it."""
        notes = self.notes()
        line = self._notes
        # Only other lines move what is around them: all else is said many times a second.
        line.update(Content("\n".join(safe_line(note) for note in notes)), layout=len(notes) != self._noted)
        line.display = bool(notes)
        self._noted = len(notes)
        self.refresh_bindings()

    def go_to(self, index: int) -> str:
        """Put the cursor on the row with this index; gives what hinders it."""
        dataset = self.rows.dataset
        first, last = dataset.offset, dataset.offset + len(dataset) - 1
        if not first <= index <= last:
            return f"rows are {first:,} to {last:,}{'' if dataset.complete else ' so far'}"
        place = self.rows.place(index)
        if place is None:
            return f"the filter hides row {index}"
        self.row_list.cursor = place
        return ""

    def tell(self, error: UserError) -> None:
        """Show an error."""
        self.notify(str(error), severity="error", markup=False)

    # Filter and order

    def show_rows(self, expression: Expression | None, order: Order | None) -> None:
        """Show only rows that pass, in an order; the cursor stays with its row."""
        self._keep_cursor()
        self.row_list.set_order(order.by if order else "", descending=bool(order and order.descending))
        self._arrange(expression, order)

    def session_changed(self, index: int) -> bool:
        """A row's session stands otherwise; whether other rows are shown now, the cursor still on its row."""
        if not self.queries.arranging:
            self._keep_cursor()
        return self.queries.session_changed(index)

    def arrange_again(self) -> None:
        """Filter and sort anew: many sessions stand otherwise."""
        arrangement = self.rows.arrangement
        expression = arrangement.expression
        if expression is not None or arrangement.order is not None:
            # One that was parsed again is another one.
            self.show_rows(parse_expression(expression.text) if expression else None, arrangement.order)

    def _keep_cursor(self) -> None:
        """The row under the cursor is the one it stays with when other rows are shown."""
        if len(self.rows):
            self._wanted = self.rows.index(self.row_list.cursor)

    @work(group="arrange", exclusive=True)
    async def _arrange(self, expression: Expression | None, order: Order | None) -> None:
        try:
            await self.queries.arrange(expression, order)
        except UserError as error:
            self.tell(error)

    def _rows_changed(self, others: bool) -> None:
        place = None if self._wanted is None else self.rows.place(self._wanted)
        if others or (place is not None and self.row_list.cursor == 0 < place):
            self.row_list.rearranged(place or 0)
        else:
            self.row_list.source_grew()
        self.refresh_count()

    @on(RowList.SortRequested)
    def _sort_requested(self, event: RowList.SortRequested) -> None:
        if not self.rows.dataset.complete:
            self.notify("Rows can be sorted once all of them are counted.", severity="warning")
            return
        order = self.rows.arrangement.order
        if order is None or order.by != event.key:
            order = Order(event.key)
        else:
            order = None if order.descending else Order(event.key, descending=True)
        self.show_rows(self.rows.arrangement.expression, order)

    # Search

    @work(group="search", exclusive=True)
    async def search(self, needle: str, start: int = 0) -> None:
        """Find all rows with this text, those from position `start` on first; empty: search no more."""
        pattern = re.compile(re.escape(needle), re.IGNORECASE if Needle(needle).fold else 0)
        self.row_list.set_sought(pattern if needle else None)
        try:
            await self.queries.search(needle, start)
        except UserError as error:
            self.tell(error)

    def go_to_match(self, *, backwards: bool = False) -> None:
        """Put the cursor on the next row that the search found."""
        place = self.queries.next_hit(self.row_list.cursor, backwards=backwards)
        if place is not None:
            self._origin = self.row_list.cursor = place

    def _hits_changed(self) -> None:
        if self._prompt.question == "search":
            found = self.queries.next_hit(self._origin - 1)
            self.row_list.cursor = self._origin if found is None else found
        self.tell_hits()

    def tell_hits(self) -> None:
        """Say how many rows the search has found, where it can be seen."""
        if self._prompt.question == "search":
            self._prompt.note = self._hits() if self.queries.needle else ""
        self.refresh_notes()

    def _hits(self) -> str:
        """How many rows were found, and on which of them the cursor is: `3/17`, `17, searching`."""
        hits = self.queries.hits
        number = self.queries.hit_number(self.row_list.cursor)
        said = f"{number:,}/{hits:,}" if number else f"{hits:,}"
        if self.queries.searching:
            return f"{said}, searching"
        return said if number else f"{said} row{'' if hits == 1 else 's'}"

    # The prompt line

    @property
    def _prompt(self) -> PromptLine:
        return self.query_one(PromptLine)

    def action_jump(self) -> None:
        self._prompt.open(self.row_list, "jump", "row")

    def action_search(self) -> None:
        self._origin = self.row_list.cursor
        self._prompt.open(self.row_list, "search", "/")
        self.refresh_notes()

    def action_filter(self) -> None:
        expression = self.rows.arrangement.expression
        self._prompt.open(self.row_list, "filter", "filter", expression.text if expression else "")
        self._prompt.note = self._check_filter(self._prompt.value)

    @on(PromptLine.Changed)
    def _answer_changed(self, event: PromptLine.Changed) -> None:
        event.stop()
        match event.question:
            case "search":
                start = self.rows.arrangement.position(self._origin) if len(self.rows) else 0
                self.search(event.value, start)
            case "filter":
                event.prompt.note = self._check_filter(event.value)
            case _:
                event.prompt.note = ""

    @on(PromptLine.Submitted)
    def _answered(self, event: PromptLine.Submitted) -> None:
        event.stop()
        match event.question:
            case "search":
                event.prompt.close()
                self.refresh_notes()
            case "filter":
                self._filter(event.prompt)
            case _:
                text = event.value.strip().replace(",", "").replace("_", "")
                note = self.go_to(int(text)) if text.isdecimal() else "the index of a row, as in 42"
                event.prompt.note = note
                if not note:
                    event.prompt.close()

    @on(PromptLine.Cancelled)
    def _cancelled(self, event: PromptLine.Cancelled) -> None:
        event.stop()
        if event.question == "search":
            self.search("")
            self.row_list.cursor = self._origin

    @on(PromptLine.NextRequested)
    def _next_requested(self, event: PromptLine.NextRequested) -> None:
        event.stop()
        if event.question == "search":
            self.go_to_match()

    @on(PromptLine.PreviousRequested)
    def _previous_requested(self, event: PromptLine.PreviousRequested) -> None:
        event.stop()
        if event.question == "search":
            self.go_to_match(backwards=True)

    def _filter(self, prompt: PromptLine) -> None:
        try:
            expression = parse_expression(prompt.value) if prompt.value.strip() else None
        except ExpressionError as error:
            prompt.note = str(error)
            return
        prompt.close()
        self.show_rows(expression, self.rows.arrangement.order)

    def _check_filter(self, text: str) -> str:
        """What is wrong with a filter, or what may be; empty: nothing."""
        fields = self.rows.dataset.fields
        if not text.strip():
            return f"columns: {', '.join(fields)}"
        try:
            columns = parse_expression(text).columns
        except ExpressionError as error:
            return str(error)
        unknown = [
            name for name in columns if not any(f"{field}.".startswith(f"{name}.") for field in fields)
        ]
        return f"no column is called {unknown[0]}" if unknown else ""

    # Keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        match action:
            case "next_match" | "previous_match":
                return bool(self.queries.needle)
            case "clear":
                arrangement = self.rows.arrangement
                return bool(self.queries.needle or arrangement.expression or arrangement.order)
            case _:
                return True

    def action_next_match(self) -> None:
        self.go_to_match()

    def action_previous_match(self) -> None:
        self.go_to_match(backwards=True)

    def action_clear(self) -> None:
        """The search goes first, then the filter, then the order."""
        arrangement = self.rows.arrangement
        if self.queries.needle:
            self.search("")
        elif arrangement.expression is not None:
            self.show_rows(None, arrangement.order)
        else:
            self.show_rows(None, None)
