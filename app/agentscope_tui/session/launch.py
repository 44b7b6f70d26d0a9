"""Putting a session together for a row: folder, recorder, model, tools, grader, runner.

The app and `agentscope run` open rows through the same `Launcher`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from agentscope_tui import __version__
from agentscope_tui.clock import Clock
from agentscope_tui.config import DEFAULT, Config
from agentscope_tui.confining import agree_unconfined, sandbox_of, unconfined_reason
from agentscope_tui.datasets.dataset import Dataset
from agentscope_tui.datasets.source import STANDARD_INPUT, open_dataset
from agentscope_tui.datasets.task import Task
from agentscope_tui.errors import UsageError
from agentscope_tui.folders import open_state_dir, sessions_dir
from agentscope_tui.grading.row_grader import RowGrader
from agentscope_tui.model_choice import check_model, guarded, model_of, model_settings
from agentscope_tui.models.asked import AGENT
from agentscope_tui.models.chat import Model
from agentscope_tui.models.wire_log import WireFolder
from agentscope_tui.options import Options
from agentscope_tui.replay_source import pinned
from agentscope_tui.resources import demo_dataset, demo_script, runner_profiles
from agentscope_tui.runners.profile import load_profiles
from agentscope_tui.runners.source import RunnerSource, choice_of, read_files
from agentscope_tui.session.continuing import Continuation
from agentscope_tui.session.earlier import EarlierMessages
from agentscope_tui.session.forking import Fork
from agentscope_tui.session.graders import check_grader, named_grader, scorer_of
from agentscope_tui.session.kept_files import KeptFiles
from agentscope_tui.session.limits import Limits
from agentscope_tui.session.meta import kept_facts, kept_tree
from agentscope_tui.session.offering import check_tools, local_tools, offered_tools
from agentscope_tui.session.open_session import OpenSession
from agentscope_tui.session.replaying import Replay
from agentscope_tui.session.rerun import Rerun
from agentscope_tui.session.reward import AnswerGrader
from agentscope_tui.session.runner_log import RunnerLog
from agentscope_tui.session.session import Session
from agentscope_tui.session.settings import SessionSettings
from agentscope_tui.store.folders import SessionFolder, make_folder, new_session_id
from agentscope_tui.store.recorded_bus import recorded_bus
from agentscope_tui.store.scratch import seed_of
from agentscope_tui.store.together import off_the_loop
from agentscope_tui.tools.sandbox import Sandbox, SandboxError
from agentscope_tui.tools.skills import load_skills, skill_index
from agentscope_tui.tools.spec import Toolset
from agentscope_tui.trust import UntrustedFile

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Parts:
    """What a session calls."""

    model: Model
    tools: Toolset
    grader: AnswerGrader | None

    def behind(self, front: Replay | Rerun) -> _Parts:
        """The same, asked only for what the one in front of it does not answer."""
        grader = front.grader(self.grader) if self.grader else None
        return _Parts(front.model(self.model), front.tools(self.tools), grader)


class Launcher:
    """Opens rows of one dataset with one set of settings."""

    def __init__(
        self,
        config: Config,
        dataset: Path,
        *,
        model: str,
        identity: str = "",
        sessions: Path | None = None,
        clock: Clock | None = None,
    ) -> None:
        """`dataset` is the file that the rows come from, `model` the model's name.

        `identity` is the dataset's, which recordings keep; they go into the folder `sessions`, by default
        that of the state folder.

        Raises:
            UserError: the state folder cannot be written, or a runner or skills cannot be had as set.
        """
        self._config = guarded(config)
        self._settings = config.settings
        self._dataset = dataset
        self._identity = identity
        self._model_name = model
        state = open_state_dir(config.environ)
        self._sessions = sessions_dir(state) if sessions is None else sessions
        self._clock = clock or Clock()
        self._unconfined = False
        # Each of thousands of sessions has them.
        self._model_settings = model_settings(config)
        self._limits = Limits(**self._settings.limits.model_dump())
        self._kept = kept_tree(config)
        self._source = RunnerSource(choice_of(config))
        self._profiles = load_profiles(
            runner_profiles(), named=self._settings.runner.profile, patience=self._settings.runner.patience
        )
        self._files = read_files(_folder(files)) if (files := self._settings.runner.files) else {}
        self._skills = load_skills(_folder(skills)) if (skills := self._settings.tools.skills) else []

    @property
    def dataset(self) -> Path:
        """The file that the rows come from."""
        return self._dataset

    @property
    def sessions(self) -> Path:
        """The folder of the sessions' folders."""
        return self._sessions

    @property
    def runner(self) -> str:
        """The agent's name, as recordings keep it."""
        return self._source.name

    @property
    def identity(self) -> str:
        """The dataset's, as recordings keep it."""
        return self._identity

    @property
    def model_name(self) -> str:
        return self._model_name

    @property
    def chosen(self) -> dict[str, object]:
        """The settings that somebody chose, as a run keeps them."""
        return self._config.chosen()

    @property
    def untrusted(self) -> UntrustedFile | None:
        """What does not count of the settings that a recording keeps, as it may be a stranger's."""
        kept, file = self._config.kept, self._config.untrusted
        return file if kept is not None and file is not None and file.digest == kept.digest else None

    @property
    def state(self) -> Path:
        """The state folder."""
        return self._config.state

    def open_dataset(self) -> Dataset:
        """The dataset as it is on disk now.

        Raises:
            UserError: it cannot be read, or has no row in range any more.
        """
        dataset = _open_dataset(self._config, self._dataset)
        self._identity = dataset.identity()
        return dataset

    async def aclose(self) -> None:
        """Let no more runners dial in. Sessions close themselves."""
        await self._source.aclose()

    @property
    def starts_alone(self) -> bool:
        """Whether its sessions start without waiting for a program of the user's."""
        return self._source.is_builtin and not (self._settings.tools.python or self._settings.tools.mcp)

    def check(self) -> None:
        """Find out at the start what no row could do without: the model's key, the grader's name.

        Raises:
            UserError: says what is missing.
        """
        check_model(self._config, self._model_name)
        check_tools(self._config)
        check_grader(self._config, self._sessions, self._clock)

    async def unconfined_reason(self) -> str:
        """Why tools would run unconfined though the user did not agree to that; empty: they would not, or
        the agent is a program that has its own.

        Raises:
            UserError: the sandbox that is required does not work.
        """
        if self._source.runs_program or self._unconfined:
            return ""
        return await unconfined_reason(self._config, self._dataset)

    def agree_unconfined(self) -> None:
        """Run this dataset's tools unconfined from now on; rows of standard input only with this launcher.

        Raises:
            UserError: that cannot be written down.
        """
        agree_unconfined(self._config, self._dataset)
        self._unconfined = True

    async def open(
        self,
        task: Task,
        *,
        mode: Literal["step", "run"] | None = None,
        patient: bool = True,
        fork: Fork | None = None,
        labels: Mapping[str, object] | None = None,
        rerun: Rerun | None = None,
    ) -> OpenSession:
        """Everything for one row, not yet started. `labels` are kept in its `meta.json`; `rerun` stands
        between the session and what it calls.

        `fork` is where it goes on from a past session: a new runner is brought there by replaying what was
        recorded, with the files that were there.

        Raises:
            UserError: the model or grader cannot be had, the state folder cannot be written, or the fork is
                from where nothing is.
        """
        settings = self._settings
        grader = named_grader(self._config, task.grader, self._sessions, self._clock)
        sandbox = await sandbox_of(settings.sandbox)
        confines = settings.sandbox.confine_agent and self._source.starts_process
        if confines and sandbox.name == "none":
            raise SandboxError(f"--confine-agent: nothing can confine it here: {sandbox.reason}")
        await self._source.start()
        scratch = seed_of(task, settings.dataset.row_file)
        goes_on = None
        if fork is not None:
            own_results = not self._source.uses_endpoint
            goes_on = await asyncio.to_thread(Continuation.of, fork, task, scratch, own_results=own_results)
        name = goes_on.plan.model if goes_on and goes_on.plan.model else self._model_name
        model = self.model(name)
        now = self._clock.now()
        session_id = new_session_id(task.index, now, self._clock.new_id())
        where = self._dataset if self._dataset == STANDARD_INPUT else self._dataset.absolute()
        meta = {
            "session_id": session_id,
            "version": __version__,
            "created": now.isoformat(),
            "dataset": str(where),
            "dataset_identity": self._identity,
            "row": task.index,
            "runner": self._source.name,
            "model": name,
            **kept_facts(task, self._config, self._kept),
            **(labels or {}),
            **(goes_on.lineage if goes_on else {}),
        }
        # A row's files may be many: copying them must not hold up the other sessions.
        small = goes_on is None and not (task.files or task.folder)
        fill = goes_on.files if goes_on else scratch
        folder = await off_the_loop(make_folder, self._sessions, session_id, meta, fill, small=small)
        tools = local_tools(self._config, sandbox, folder.files)
        bus, recorder = recorded_bus(folder.path, session_id, self._clock)
        runner_log = RunnerLog(bus.publish)
        try:
            offered = await offered_tools(
                self._config, self._source, tools, self._skills, folder.files, runner_log
            )
        except BaseException:
            await model.aclose()
            await recorder.aclose()
            raise
        parts = _Parts(
            model,
            offered,
            RowGrader(grader, task, tools, folder) if grader else None,
        )
        replay = goes_on.replay() if goes_on else None
        for front in (replay, rerun):
            parts = parts.behind(front) if front else parts
        session_settings = self._session_settings(task, folder, sandbox, "run" if replay else mode, patient)
        kept_files = KeptFiles(
            folder, bus.publish, wanted=goes_on.wants_files if goes_on else lambda call: True
        )
        session = Session(
            goes_on.applied_to(session_settings, task) if goes_on else session_settings,
            channel=self._source.channel(
                runner_log, self._source.confined(sandbox, folder.files) if confines else None
            ),
            model=parts.model,
            tools=parts.tools,
            bus=bus,
            grader=parts.grader,
            scorer=scorer_of(grader, task, folder, partial(local_tools, self._config, sandbox)),
            runner_log=runner_log,
            wire=WireFolder(folder.wire),
            caught_up=recorder.caught_up,
            keep_files=kept_files.keep,
            clock=self._clock,
        )
        return OpenSession(task, folder, session, recorder, kept_files, replay)

    def check_model(self, name: str) -> None:
        """Find out whether there is a model of this name, and its key.

        Raises:
            UserError: there is none.
        """
        check_model(self._config, name)

    def model(self, name: str) -> Model:
        """The model of this name, for one session.

        Raises:
            UserError: there is none, or it needs a key.
        """
        return model_of(self._config, name)

    @property
    def _standard_system(self) -> str:
        """The system prompt of rows that have none. A program has its own, and a Python agent too, unless the
        user set one: the default speaks of our loop and tools."""
        is_default = self._config.origin("session.system") == DEFAULT
        has_own = self._source.runs_program or (self._settings.runner.agent is not None and is_default)
        return "" if has_own else self._settings.session.system

    def _agent_confinement(self, sandbox: Sandbox) -> str:
        """What holds the agent's own program in; empty: it has none that we start."""
        if not self._source.starts_process:
            return ""
        return sandbox.name if self._settings.sandbox.confine_agent else "none"

    def _session_settings(
        self,
        task: Task,
        folder: SessionFolder,
        sandbox: Sandbox,
        mode: Literal["step", "run"] | None,
        patient: bool,
    ) -> SessionSettings:
        settings = self._settings
        system = self._standard_system if task.system is None else task.system
        return SessionSettings(
            system="\n\n".join([system, skill_index(self._skills)]) if self._skills else system,
            earlier=EarlierMessages(task.history),
            dataset=str(self._dataset),
            row=task.index,
            row_data=task.row,
            runner=self._source.name,
            agent_confinement=self._agent_confinement(sandbox),
            profiles=self._profiles,
            files=self._files,
            start_timeout=settings.runner.start_timeout,
            ping_every=None if self._source.is_builtin else settings.runner.ping_every,
            ping_timeout=settings.runner.ping_timeout,
            model=self._model_settings,
            limits=self._limits,
            conversation_scope=settings.session.conversation_scope,
            context_window=settings.model.context_window,
            undelivered_steers=settings.session.undelivered_steers,
            mode=mode or settings.session.mode,
            patient=patient,
            folder=folder.path,
        )


def open_rows(config: Config, options: Options, *, sessions: Path | None = None) -> tuple[Launcher, Dataset]:
    """The dataset that the command line names (or the demo), and what opens its rows; `sessions` as for it.

    Raises:
        UserError: no such dataset or row, no model is named, or the state folder cannot be written.
    """
    settings = config.settings
    demo = options.dataset is None
    path = demo_dataset() if options.dataset is None else options.dataset
    model = settings.model.name or (f"scripted:{demo_script()}" if demo else None)
    if model is None and settings.runner.program is not None:
        model = AGENT
    dataset = _open_dataset(config, path)
    for index in options.rows:
        dataset.row(index)
    if model is None:
        raise UsageError("which model? name one with --model, for example --model openai:gpt-5-mini")
    launcher = Launcher(
        config, path, model=pinned(config, model), identity=dataset.identity(), sessions=sessions
    )
    launcher.check()
    return launcher, dataset


def _open_dataset(config: Config, path: Path) -> Dataset:
    dataset = config.settings.dataset
    return open_dataset(path, offset=dataset.offset, limit=dataset.limit, columns=config.columns)


def _folder(name: str) -> Path:
    return Path(name).expanduser()
