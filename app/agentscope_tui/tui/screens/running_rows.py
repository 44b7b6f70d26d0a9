"""Rows that are run in the background: started from the rows pane, looked at, and told of when they end."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from textual import on, work
from textual.worker import WorkerCancelled, WorkerFailed

from agentscope_tui.errors import UserError
from agentscope_tui.folders import sessions_dir
from agentscope_tui.session.blame import blamed_entry
from agentscope_tui.store.run_index import Wanted
from agentscope_tui.tui.batches import RowRollouts, Run
from agentscope_tui.tui.panes.rows_pane import RowsPane
from agentscope_tui.tui.present.runs import counts_of
from agentscope_tui.tui.screens.panes import PaneScreen
from agentscope_tui.tui.screens.run_start import RunStartScreen
from agentscope_tui.tui.screens.runs import RunsScreen
from agentscope_widgets.transcript import Transcript


class RunningRows(PaneScreen):
    """A screen with a rows pane whose rows can be run many at a time."""

    _run: Run | None = None
    """The run whose rows are shown."""

    @property
    def _rows_pane(self) -> RowsPane:
        return self.query_one(RowsPane)

    # Starting

    @on(RowsPane.RunRequested)
    def _run_requested(self) -> None:
        if self._workspace.batches.running is not None:
            self.action_runs()
        else:
            self._run_rows()

    @work(group="ask")
    async def _run_rows(self) -> None:
        """Ask how, and run the marked rows, else those that are shown."""
        rows, which = self._rows_pane.for_run()
        if not rows:
            self.notify("No row is shown: take the filter away, or mark some.", severity="warning")
            return
        batches = self._workspace.batches
        screen = RunStartScreen(rows, which, concurrency=batches.concurrency, cost=self._cost_of_one())
        plan = await self.app.push_screen_wait(screen)
        if plan is None:
            return
        try:
            await self.agree_unconfined()
            await batches.start(
                self._workspace.dataset, plan.rows, rollouts=plan.rollouts, concurrency=plan.concurrency
            )
        except UserError as error:
            self.notify(str(error), severity="error", markup=False)

    async def agree_unconfined(self) -> None:
        """Ask, where that is to be asked, whether tools may run unconfined.

        Raises:
            UserError: they may not.
        """

    def _cost_of_one(self) -> float | None:
        """What a session has cost so far: of the run that is shown, else of the rows; None: not known."""
        run = self._workspace.batches.run
        if run is not None and run.progress.cost is not None and (ended := run.progress.done):
            return run.progress.cost / ended
        kept = self._workspace.kept.of_rows.values()
        costs = [one.newest.cost for one in kept if one.newest.cost is not None]
        return sum(costs) / len(costs) if costs else None

    def action_runs(self) -> None:
        """The page of all runs."""
        self.app.push_screen(RunsScreen(self._workspace))

    # While rows run

    def pump_runs(self) -> None:
        """Show what is new of the rows that run, and tell of a run that ended."""
        batches = self._workspace.batches
        if batches.run is not self._run and batches.run is not None:
            self._rows_pane.run_began(several=batches.run.info.rollouts > 1)
        self._run = batches.run
        self._rows_pane.rows_of_run_changed(batches.take_changed())
        for run in batches.take_ended():
            self.run_ended(run)

    def run_ended(self, run: Run) -> None:
        """Tell of it."""
        broke = run.problem or (run.batch is not None and run.batch.fatal)
        text = f"{run.state} · {' · '.join(counts_of(run.progress))}"
        self.notify(
            text,
            title=f"Run {run.info.name}",
            severity="error" if broke else "information",
            markup=False,
            timeout=10,
        )
        self._rows_pane.refresh_notes()

    # Looking at a row

    def open_row_of_run(self, index: int) -> bool:
        """Show what a run makes of a row: its session, or its sessions side by side. False: nothing new."""
        found = self._workspace.rollouts_of(index)
        if found is None:
            return False
        if not found.newest:
            reasons = [result.error for result in found.ended]
            self.put_on_screen(None, index, reasons[0] if reasons else "it begins in a moment")
        elif found.total > 1:
            self._choose_rollout(index, found)
        else:
            self.show_session(found.newest)
        return True

    def show_session(self, session_id: str, folder: Path | None = None) -> None:
        """Show a session: where it runs here, that, and it can be acted on; else its recording."""
        row = self._workspace.live(session_id)
        if row is not None:
            self.put_on_screen(row, row.index)
        else:
            self._show_recording_of(folder or sessions_dir(self._workspace.launcher.state) / session_id)

    @work(group="rollouts", exclusive=True)
    async def _choose_rollout(self, index: int, found: RowRollouts) -> None:
        from agentscope_tui.tui.screens.rollouts import RolloutsScreen

        ids = {account.session for account in found.running} | {result.session for result in found.ended}
        kept, dataset = self._workspace.kept, self._workspace.dataset
        try:
            await kept.sync()
            of_row = Wanted(rows_of=(str(dataset.path.absolute()), dataset.identity()), row=index)
            sessions = [session for session in await kept.find(of_row) if session.id in ids]
        except UserError as error:
            self.notify(str(error), severity="error", markup=False)
            return
        chosen = await self.app.push_screen_wait(RolloutsScreen(self._workspace, sessions))
        if chosen is not None:
            self.show_session(chosen.id)

    @work(group="show run", exclusive=True)
    async def _show_recording_of(self, folder: Path) -> None:
        """Show a recording; the cursor is where it went wrong, if it did: there it is forked."""
        with suppress(WorkerCancelled, WorkerFailed):
            await self.show_recording(folder).wait()
        row = self.recorded
        if row is not None and row.session_id == folder.name:
            place = blamed_entry(row.state)
            if place is not None:
                self.query_one(Transcript).go_to(place)
