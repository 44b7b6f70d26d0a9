"""What a session that goes on from a past one takes from it: files, replay, prompt, and its descent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from agentscope_tui.datasets.task import Task
from agentscope_tui.secrets import MASKER
from agentscope_tui.session.earlier import EarlierMessages
from agentscope_tui.session.fork_files import ForkFiles
from agentscope_tui.session.forking import Fork, Plan, plan_of
from agentscope_tui.session.recorded_turns import SentMessage
from agentscope_tui.session.replaying import Replay
from agentscope_tui.session.settings import SessionSettings

_OF_ROW = ("dataset", "dataset_identity", "row")


@dataclass(frozen=True)
class Continuation:
    """A fork that is about to be opened. `files` fills its scratch folder."""

    fork: Fork
    plan: Plan
    files: ForkFiles

    @classmethod
    def of(cls, fork: Fork, task: Task, seed: Callable[[Path], None], *, own_results: bool) -> Continuation:
        """For a thread: a recording may be long. `seed` fills a folder with what the row brings,
        `own_results` is as in `recorded_turns`.

        Raises:
            UserError: the recording has not got what is edited.
        """
        plan = plan_of(fork, own_results=own_results)
        files = ForkFiles(fork.past, plan.call, plan.files_at, seed)
        return cls(fork, _with_prompt(plan, task), files)

    @property
    def lineage(self) -> dict[str, object]:
        """Where the session comes from, for `meta.json`; the row too, since its dataset may be gone."""
        meta = self.fork.past.meta
        return {
            **{name: meta[name] for name in _OF_ROW if name in meta},
            "parent": self.fork.past.session_id,
            "parent_call": self.plan.call,
            "change": self.plan.change,
        }

    def replay(self) -> Replay | None:
        """What brings the runner to where it was; None: nothing was said there."""
        if not self.plan.turns:
            return None
        notes = {"files": self.files.note} if self.files.note else {}
        if self.plan.runs_again:
            names = ", ".join(self.plan.runs_again)
            notes["tools that run again"] = (
                f"the agent runs these itself, so they run once more in the replay: {names}"
            )
        return Replay(self.plan.turns, same_system=self._same_system, notes=notes)

    def wants_files(self, call: int) -> bool:
        """Whether the files are to be kept at this call: before it they are not what they were then."""
        return call >= self.plan.call

    def applied_to(self, settings: SessionSettings, task: Task) -> SessionSettings:
        """The settings with the conversation of the session before, and with what the fork changes."""
        fork, plan, started = self.fork, self.plan, self.fork.past.started
        model = settings.model
        if fork.temperature is not None:
            model = replace(
                model, temperature=fork.temperature, set_by_user=model.set_by_user | {"temperature"}
            )
        system = settings.system if MASKER.mask(settings.system) == started.system else started.system
        earlier = EarlierMessages(task.history)
        if MASKER.masked(earlier.messages) != started.history:
            earlier = EarlierMessages(started.history)
        of_row: dict[str, Any] = {"dataset": started.dataset, "row": started.row} if fork.past.meta else {}
        return replace(
            settings,
            **of_row,
            system=system if plan.system is None else plan.system,
            earlier=earlier,
            model=model,
            amendments=plan.amendments,
            parent=fork.past.session_id,
            parent_call=plan.call,
            change=plan.change,
        )

    @property
    def _same_system(self) -> bool:
        return self.plan.system is None and self.plan.amendments.system is None


def _with_prompt(plan: Plan, task: Task) -> Plan:
    """The first message as the task has it, where the recording has it with secrets masked."""
    if not plan.turns or MASKER.mask(task.prompt) != plan.turns[0].message.text:
        return plan
    first, *others = plan.turns
    message = SentMessage(first.message.msg_id, task.prompt)
    return replace(plan, turns=[replace(first, message=message), *others])
