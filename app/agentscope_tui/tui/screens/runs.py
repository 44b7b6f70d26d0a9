"""The runs of the dataset: the one that is under way, in figures and histograms, and those before it."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from typing import Any, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Horizontal
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from agentscope_tui.errors import UserError
from agentscope_tui.figures import seconds
from agentscope_tui.tui.batches import Run
from agentscope_tui.tui.present.runs import COLUMNS, ended_bins, reward_bins, run_cells, run_lines
from agentscope_tui.tui.screens.confirm import Choice, ConfirmScreen
from agentscope_tui.tui.workspace import Workspace
from agentscope_widgets.histogram import Histogram
from agentscope_widgets.key_bar import KeyBar
from agentscope_widgets.row_list import RowCells, RowList
from agentscope_widgets.safe_text import safe_line

_LOOK_SECONDS = 0.5
"""Between two looks at the run that is under way."""
_TIMES = 30
"""Bars of the histogram of when rollouts ended."""


class RunRows:
    """The list's source: the newest run first."""

    def __init__(self) -> None:
        self.runs: Sequence[Run] = ()
        self.shown: Run | None = None

    def __len__(self) -> int:
        return len(self.runs)

    def cells(self, position: int) -> RowCells:
        """What the list shows there."""
        run = self.runs[position]
        return run_cells(position, run, marked=run is self.shown)


class RunsScreen(ModalScreen[None]):
    """The run under the cursor is the one that is shown in figures; keys act on it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", "back", id="runs.leave", tooltip="Back to the rows; what runs goes on"),
        Binding("x", "finish", "no more rows", id="runs.finish", tooltip="Take no more rows; what runs ends"),
        Binding("i", "interrupt", "interrupt all", id="runs.interrupt", tooltip="End all sessions of it now"),
        Binding("R", "resume(False)", "go on", id="runs.resume", tooltip="Run what it did not come to"),
        Binding("F", "resume(True)", "retry failed", id="runs.retry", tooltip="Also run what failed again"),
    ]

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self._workspace = workspace
        self._source = RunRows()
        self._acts: Sequence[bool | None] = ()

    def compose(self) -> ComposeResult:
        with Container(id="runs-pane", classes="pane"):
            yield Static(id="facts")
            with Horizontal(id="charts"):
                yield Histogram(id="rewards", placeholder="no reward yet")
                yield Histogram(id="ended", placeholder="nothing has ended yet", tone="accent")
            yield RowList(id="runs", placeholder="reading the runs …", marks=False)
        yield KeyBar()

    def on_mount(self) -> None:
        name = safe_line(self._workspace.dataset.path.name, 60)
        self.query_one("#runs-pane").border_title = Content(f"Runs · {name}")
        self.query_one("#rewards").border_title = "rewards"
        self.query_one("#ended").border_title = "rollouts that ended, over time"
        self._list.set_source(self._source, COLUMNS)
        self._list.focus()
        self._draw()
        self._read()
        self.set_interval(_LOOK_SECONDS, self._look)

    @property
    def _list(self) -> RowList:
        return self.query_one(RowList)

    @property
    def chosen(self) -> Run | None:
        """The run under the cursor; None: there is none."""
        return self._source.runs[self._list.cursor] if len(self._source) else None

    # What is shown

    @work(group="read", exclusive=True)
    async def _read(self) -> None:
        """Have the runs as they are on disk, but for the one that this process runs or ran."""
        batches, before = self._workspace.batches, self.chosen
        try:
            known = await batches.known(self._workspace.dataset)
        except UserError as error:
            self._list.placeholder = str(error)
            return
        ours = batches.run
        runs = [ours if ours is not None and run.path == ours.path else run for run in known]
        self._source.runs, self._source.shown = runs, ours
        paths = [run.path for run in runs]
        wanted = before or ours
        place = paths.index(wanted.path) if wanted is not None and wanted.path in paths else 0
        self._list.placeholder = "no run yet: R in the rows runs those that are marked, or all that are shown"
        self._list.rearranged(place)
        self._draw()

    def _look(self) -> None:
        run = self._workspace.batches.run
        if run is not None and run.running:
            self._list.refresh_rows()
            if run is self.chosen:
                self._draw()
        elif self._acts != self._can():
            self._draw()

    def _draw(self) -> None:
        """Show the run under the cursor in figures."""
        run = self.chosen
        charts = self.query_one("#charts")
        charts.display = run is not None
        self._acts = self._can()
        self.refresh_bindings()
        lines = [] if run is None else run_lines(run, self._workspace.batches.concurrency)
        shown = [Content.styled(safe_line(line), "bold" if at == 0 else "") for at, line in enumerate(lines)]
        self.query_one("#facts", Static).update(Content("\n").join(shown))
        if run is None:
            return
        rewards = reward_bins(run.progress.rewards)
        self.query_one("#rewards", Histogram).show(rewards.counts, f"{rewards.low:g}", f"{rewards.high:g}")
        ended = ended_bins(list(run.results.values()), _TIMES)
        self.query_one("#ended", Histogram).show(ended.counts, "0", seconds(ended.high))

    # The list

    @on(RowList.RowHighlighted)
    def _highlighted(self) -> None:
        self._draw()

    @on(RowList.RowOpened)
    def _opened(self) -> None:
        """Back to the rows, which show what came of this run."""
        run, batches = self.chosen, self._workspace.batches
        if run is None:
            return
        if run is batches.run:
            self.dismiss(None)
        else:
            self._change(lambda: batches.show(self._workspace.dataset, run.path), leave=True)

    # Keys

    def _can(self) -> Sequence[bool | None]:
        return [self.check_action(act, (flag,)) for act, flag in _ACTS]

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action not in ("finish", "interrupt", "resume"):
            return True
        run, running = self.chosen, self._workspace.batches.running
        if action == "resume":
            if run is None or running is not None:
                return False
            return bool(run.progress.failed) if parameters == (True,) else not run.complete
        stopped = run is not None and run.batch is not None and bool(run.batch.stopped_by)
        return run is not None and run is running and not (action == "finish" and stopped)

    def action_leave(self) -> None:
        self.dismiss(None)

    def action_finish(self) -> None:
        if (run := self._workspace.batches.running) is not None and run.batch is not None:
            run.batch.finish("you stopped it")
            self._draw()

    @work(group="ask")
    async def action_interrupt(self) -> None:
        run = self._workspace.batches.running
        if run is None or run.batch is None:
            return
        many = len(run.progress.running)
        question = f"End the {many:,} session{'s' * (many != 1)} that run{'s' * (many == 1)} now?"
        choices = (Choice("y", "yes", "interrupt all"),)
        if await self.app.push_screen_wait(ConfirmScreen(question, choices)) == "yes":
            run.batch.interrupt("you interrupted it")

    def action_resume(self, failed: bool) -> None:
        if (run := self.chosen) is not None:
            workspace = self._workspace
            self._change(
                lambda: workspace.batches.resume(workspace.dataset, run.path, retry_failed=failed),
                leave=False,
            )

    @work(group="change", exclusive=True)
    async def _change(self, change: Callable[[], Coroutine[Any, Any, Run]], *, leave: bool) -> None:
        """Start or show a run."""
        try:
            await change()
        except UserError as error:
            self.notify(str(error), severity="error", markup=False)
            return
        if leave:
            self.dismiss(None)
        else:
            self._read()


_ACTS = (("finish", False), ("interrupt", False), ("resume", False), ("resume", True))
"""The acts that do not always work, with what tells them apart."""
