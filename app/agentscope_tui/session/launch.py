"""Putting a session together for a row: folder, recorder, model, tools, grader, runner.

The app and `agentscope run` open rows through the same `Launcher`.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from agentscope_tui import __version__
from agentscope_tui.clock import Clock
from agentscope_tui.config import DEFAULT, Config
from agentscope_tui.confining import agree_unconfined, command_limits, sandbox_of, unconfined_reason
from agentscope_tui.datasets.dataset import Dataset
from agentscope_tui.datasets.source import open_dataset
from agentscope_tui.datasets.task import Task
from agentscope_tui.errors import UsageError
from agentscope_tui.folders import open_state_dir, sessions_dir
from agentscope_tui.grading.factory import parse_grader
from agentscope_tui.grading.grader import Grader
from agentscope_tui.grading.row_grader import RowGrader
from agentscope_tui.grading.spec import parse_spec
from agentscope_tui.model_choice import check_model, guarded, model_of
from agentscope_tui.models.asked import AGENT
from agentscope_tui.models.chat import Model
from agentscope_tui.models.wire_log import WireFolder
from agentscope_tui.options import Options
from agentscope_tui.resources import demo_dataset, demo_script, runner_profiles
from agentscope_tui.runners.profile import load_profiles
from agentscope_tui.runners.source import RunnerSource, choice_of, read_files
from agentscope_tui.session.earlier import EarlierMessages
from agentscope_tui.session.limits import Limits
from agentscope_tui.session.offering import check_tools, offered_tools
from agentscope_tui.session.open_session import OpenSession
from agentscope_tui.session.recorded_turns import recorded_turns
from agentscope_tui.session.replaying import Replay
from agentscope_tui.session.reward import AnswerGrader
from agentscope_tui.session.runner_log import RunnerLog
from agentscope_tui.session.session import Session
from agentscope_tui.session.settings import ModelSettings, Price, SessionSettings
from agentscope_tui.store.folders import SessionFolder, make_folder, new_session_id
from agentscope_tui.store.past import PastSession
from agentscope_tui.store.recorded_bus import recorded_bus
from agentscope_tui.store.scratch import copy_of, seed_of
from agentscope_tui.tools.local import LocalTools
from agentscope_tui.tools.sandbox import Sandbox, SandboxError
from agentscope_tui.tools.skills import load_skills, skill_index
from agentscope_tui.tools.spec import Toolset

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Parts:
    """What a session calls."""

    model: Model
    tools: Toolset
    grader: AnswerGrader | None

    def behind(self, replay: Replay) -> _Parts:
        """The same, asked only for what is not recorded."""
        grader = replay.grader(self.grader) if self.grader else None
        return _Parts(replay.model(self.model), replay.tools(self.tools), grader)


class Launcher:
    """Opens rows of one dataset with one set of settings."""

    def __init__(
        self, config: Config, dataset: Path, *, model: str, identity: str = "", clock: Clock | None = None
    ) -> None:
        """`dataset` is the file that the rows come from, `model` the model's name.

        `identity` is the dataset's, which recordings keep.

        Raises:
            UserError: the state folder cannot be written, or a runner or skills cannot be had as set.
        """
        self._config = guarded(config)
        self._settings = config.settings
        self._dataset = dataset
        self._identity = identity
        self._model_name = model
        self._sessions = sessions_dir(open_state_dir(config.environ))
        self._clock = clock or Clock()
        self._source = RunnerSource(choice_of(config))
        self._profiles = load_profiles(
            runner_profiles(), named=self._settings.runner.profile, patience=self._settings.runner.patience
        )
        self._files = read_files(_folder(files)) if (files := self._settings.runner.files) else {}
        self._skills = load_skills(_folder(skills)) if (skills := self._settings.tools.skills) else []

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

    def check(self) -> None:
        """Find out at the start what no row could do without: the model's key, the grader's name.

        Raises:
            UserError: says what is missing.
        """
        check_model(self._config, self._model_name)
        check_tools(self._config)
        if self._settings.grading.grader is not None:
            parse_spec(self._settings.grading.grader)

    async def unconfined_reason(self) -> str:
        """Why tools would run unconfined though the user did not agree to that; empty: they would not, or
        the agent is a program that has its own.

        Raises:
            UserError: the sandbox that is required does not work.
        """
        if self._source.runs_program:
            return ""
        return await unconfined_reason(self._config, self._dataset)

    def agree_unconfined(self) -> None:
        """Run this dataset's tools unconfined from now on.

        Raises:
            UserError: that cannot be written down.
        """
        agree_unconfined(self._config, self._dataset)

    async def open(
        self,
        task: Task,
        *,
        mode: Literal["step", "run"] | None = None,
        patient: bool = True,
        restarted: OpenSession | PastSession | None = None,
    ) -> OpenSession:
        """Everything for one row, not yet started.

        `restarted` is a session that has ended, in this process or another: a new runner is brought to
        where it was, in a copy of its files, by replaying what it recorded.

        Raises:
            UserError: the model or grader cannot be had, or the state folder cannot be written.
        """
        settings = self._settings
        grader = self._grader(task)
        sandbox = await sandbox_of(settings.sandbox)
        confines = settings.sandbox.confine_agent and self._source.starts_process
        if confines and sandbox.name == "none":
            raise SandboxError(f"--confine-agent: nothing can confine it here: {sandbox.reason}")
        await self._source.start()
        model = self.model(self._model_name)
        past = restarted.recovered() if isinstance(restarted, OpenSession) else restarted
        replay = Replay(recorded_turns(past.events)) if past else None
        now = self._clock.now()
        session_id = new_session_id(task.index, now, self._clock.new_id())
        meta = {
            "session_id": session_id,
            "version": __version__,
            "created": now.isoformat(),
            "dataset": str(self._dataset),
            "dataset_identity": self._identity,
            "row": task.index,
            "runner": self._source.name,
            "model": self._model_name,
            **({"restarted": past.session_id} if past else {}),
        }
        scratch = (
            copy_of(past.folder.files) if past and past.folder else seed_of(task, settings.dataset.row_file)
        )
        # A row's files may be many: copying them must not hold up the other sessions.
        folder = await asyncio.to_thread(make_folder, self._sessions, session_id, meta, scratch)
        tools = LocalTools(
            folder.files,
            sandbox=sandbox,
            bash_timeout=settings.tools.bash_timeout,
            result_cap=settings.tools.result_cap,
            limits=command_limits(settings.tools.limits),
            offered=settings.tools.builtin,
        )
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
        parts = parts.behind(replay) if replay else parts
        session = Session(
            self._session_settings(task, folder, sandbox, "run" if replay else mode, patient),
            channel=self._source.channel(
                runner_log, self._source.confined(sandbox, folder.files) if confines else None
            ),
            model=parts.model,
            tools=parts.tools,
            bus=bus,
            grader=parts.grader,
            runner_log=runner_log,
            wire=WireFolder(folder.wire),
            caught_up=recorder.caught_up,
            clock=self._clock,
        )
        return OpenSession(task, folder, session, recorder, replay)

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

    def _grader(self, task: Task) -> Grader | None:
        grading = self._settings.grading
        spec = self._config.grader_of(task.grader)
        if spec is None:
            return None
        python = grading.python or self._settings.runner.python
        return parse_grader(spec, python=python, timeout=grading.timeout, cwd=self._config.cwd)

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
            ping_every=settings.runner.ping_every,
            ping_timeout=settings.runner.ping_timeout,
            model=ModelSettings(
                max_output_tokens=settings.model.max_output_tokens,
                temperature=settings.model.temperature,
                prices={name: Price(**price.model_dump()) for name, price in settings.model.prices.items()},
                set_by_user=frozenset(
                    name
                    for name in ("temperature", "max_output_tokens")
                    if self._config.origin(f"model.{name}") != DEFAULT
                ),
            ),
            limits=Limits(**settings.limits.model_dump()),
            conversation_scope=settings.session.conversation_scope,
            context_window=settings.model.context_window,
            undelivered_steers=settings.session.undelivered_steers,
            mode=mode or settings.session.mode,
            patient=patient,
            folder=folder.path,
        )


def open_rows(config: Config, options: Options) -> tuple[Launcher, Dataset]:
    """The dataset that the command line names (or the demo), and what opens its rows.

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
    launcher = Launcher(config, path, model=model, identity=dataset.identity())
    launcher.check()
    return launcher, dataset


def _open_dataset(config: Config, path: Path) -> Dataset:
    dataset = config.settings.dataset
    return open_dataset(path, offset=dataset.offset, limit=dataset.limit, columns=config.columns)


def _folder(name: str) -> Path:
    return Path(name).expanduser()
